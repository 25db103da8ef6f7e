"""Lists of indices and of numbers, checked: wrong types are refused, not rounded."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dunno.errors import ProblemError

LARGEST_COST = 1e12  # cost; exact
"""Sums of larger costs have no room for the digits that probabilities come from: at this size they are off by 1e-4."""


def indices(values: ArrayLike, name: str) -> NDArray[np.int64]:
    """A flat list of whole numbers as int64."""
    array = np.asarray(values)
    if array.dtype == np.int64 and array.ndim == 1:
        return np.ascontiguousarray(array)
    if array.size == 0 and array.ndim == 1:
        array = array.astype(np.int64)
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
        raise ProblemError(
            f"{name} is an array of {array.dtype} and shape {array.shape}; expected a flat list of whole numbers"
        )
    if array.dtype == np.uint64 and array.size and array.max() > np.iinfo(np.int64).max:
        raise ProblemError(f"{name} holds an index above 2^63")
    return np.ascontiguousarray(array, dtype=np.int64)


def _are_usual(array: NDArray[np.float64]) -> bool:
    """Whether all are finite, and small enough to be added up: the two ends say so."""
    return len(array) == 0 or bool(array.min() >= -LARGEST_COST and array.max() <= LARGEST_COST)


def numbers(values: ArrayLike, name: str, length: int, scalar: bool = True) -> NDArray[np.float64]:
    """(length,) numbers as float64, or one number for all of them if `scalar`."""
    array = np.asarray(values)
    if array.dtype == np.float64 and array.shape == (length,) and _are_usual(array):
        return np.ascontiguousarray(array)
    if array.size and array.dtype.kind not in "iuf":
        raise ProblemError(f"{name} is of type {array.dtype}; expected numbers")
    size = np.abs(array.astype(np.float64))
    if (np.isfinite(size) & (size > LARGEST_COST)).any():
        raise ProblemError(
            f"{name} holds {size[np.isfinite(size)].max():g}; expected costs up to {LARGEST_COST:g}, or inf"
        )
    if array.ndim == 0 and scalar:
        return np.full(length, float(array))
    if array.shape != (length,):
        expected = f"({length},)" + (" or a single number" if scalar else "")
        raise ProblemError(f"{name} has shape {array.shape}; expected {expected}")
    return np.ascontiguousarray(array, dtype=np.float64)
