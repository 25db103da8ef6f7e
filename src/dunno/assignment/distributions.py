"""Daughters' distributions over their mothers and ⊥, kept as logs and stored edge by edge."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Distributions(NamedTuple):
    """For E edges and n daughters: (E,) log probabilities, (n,) log P(⊥), (n,) entropies in nats."""

    log_probability: Floats
    log_no_mother: Floats
    entropy: Floats


def normalise(log_edge: Floats, log_none: Floats, daughter: Ints) -> Distributions:
    """Make each daughter's options sum to one.

    A daughter without any weight has no distribution: its probabilities are 0 and its entropy is NaN.
    """
    n = len(log_none)
    total = log_sum(log_edge, log_none, daughter)
    possible = np.isfinite(total)
    shift = np.where(possible, total, 0.0)
    log_probability, log_no_mother = log_edge - shift[daughter], log_none - shift
    surprise = _surprise(log_no_mother) + np.bincount(daughter, _surprise(log_probability), minlength=n)
    return Distributions(log_probability, log_no_mother, np.where(possible, surprise, np.nan))


def log_sum(log_edge: Floats, log_none: Floats, daughter: Ints) -> Floats:
    """(n,) log of the sum over each daughter's options; -inf where it has none."""
    largest = log_none.copy()
    np.maximum.at(largest, daughter, log_edge)
    shift = np.where(np.isfinite(largest), largest, 0.0)
    total = np.exp(log_none - shift) + np.bincount(
        daughter, np.exp(log_edge - shift[daughter]), minlength=len(log_none)
    )
    with np.errstate(divide="ignore"):
        return np.asarray(shift + np.log(total))


def _surprise(log_probability: Floats) -> Floats:
    """−p log p, 0 where p is 0."""
    possible = np.isfinite(log_probability)
    finite = np.where(possible, log_probability, 0.0)
    return np.asarray(np.where(possible, -np.exp(finite) * finite, 0.0))
