"""Label images: which arrays are labels, and where their cells are."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dunno import _core
from dunno.errors import MovieError

LabelImage = NDArray[np.integer[Any]]
Ints = NDArray[np.int64]


class Measurements(NamedTuple):
    """What one pass over a label image finds; lengths in pixels, labels ascending."""

    label: NDArray[np.int64]  # (n,) the labels
    area: NDArray[np.int64]  # (n,) numbers of pixels
    centroid: NDArray[np.float64]  # (n, d) mean pixel coordinates
    bbox: NDArray[np.int64]  # (n, 2, d) first pixel, and one past the last


def as_labels(image: Any, where: str) -> LabelImage:
    """Return the image as whole numbers, or say why it holds no labels.

    Any integer type is taken as it is; floats are taken where every pixel is a whole number. Negative labels
    are found by `measure`, which sees every pixel anyway.
    """
    pixels = np.asarray(image)
    if pixels.dtype == np.bool_:
        raise MovieError(
            f"{where}: the masks are true/false, so touching cells cannot be told apart; "
            "give every cell its own number, or let --label-components number connected pieces"
        )
    if np.issubdtype(pixels.dtype, np.integer):
        return pixels
    if not np.issubdtype(pixels.dtype, np.floating):
        raise MovieError(f"{where}: masks of type {pixels.dtype} are no labels; expected whole numbers, 0 = background")
    with np.errstate(invalid="ignore"):
        whole = pixels.astype(np.int64)
    if not np.array_equal(whole, pixels):
        odd = pixels[whole != pixels].flat[0]
        raise MovieError(
            f"{where}: {odd:g} is not a whole number, so these are no labels; "
            "expected a mask image in which every cell has its own number and the background is 0"
        )
    return whole


def measure(labels: LabelImage, where: str) -> Measurements:
    """Find every cell's area, centroid and bounding box in one pass over the pixels; `measuring.measure_cells` finds more."""
    try:
        return to_measurements(_core.measure(as_volume(labels)), labels.ndim)
    except ValueError as error:
        raise MovieError(f"{where}: {error}; labels are positive and the background is 0") from None


def as_volume(image: NDArray[Any]) -> NDArray[Any]:
    """A frame as the core takes it: (Z, Y, X), contiguous, in this machine's byte order."""
    volume = np.ascontiguousarray(image.reshape((1, *image.shape) if image.ndim == 2 else image.shape))
    return volume if volume.dtype.isnative else volume.astype(volume.dtype.newbyteorder("="))


def to_measurements(columns: Any, n_dimensions: int) -> Measurements:
    """The core's columns: label, area, sums of coordinates, and the box's two corners, each flat with three axes."""
    label, area, total, low, high = _as_ints(columns)
    axes = slice(3 - n_dimensions, 3)
    centroid = total.reshape(-1, 3)[:, axes] / area[:, None]
    bbox = np.stack([low.reshape(-1, 3)[:, axes], high.reshape(-1, 3)[:, axes]], axis=1)
    return Measurements(label, area, centroid, bbox)


def count_overlaps(first: LabelImage, second: LabelImage) -> tuple[Ints, Ints, Ints]:
    """Find the pairs of labels that share pixels: (P,) in the first image, (P,) in the second, (P,) how many pixels."""
    one, other = (np.ascontiguousarray(image).reshape(-1) for image in (first, second))
    if one.dtype == other.dtype == np.uint16:
        return _three(_core.count_overlaps(one.astype(np.uint16, copy=False), other.astype(np.uint16, copy=False)))
    (one_key, one_name), (other_key, other_name) = _as_keys(one), _as_keys(other)
    mine, theirs, pixels = _three(_core.count_overlaps(one_key, other_key))
    return mine if one_name is None else one_name[mine], theirs if other_name is None else other_name[theirs], pixels


def _as_keys(labels: LabelImage) -> tuple[NDArray[np.uint32], Ints | None]:
    """The labels in 32 bits; those that are too large are numbered, and the names of the numbers returned."""
    if labels.size == 0 or labels.max() < 1 << 32:
        return labels.astype(np.uint32), None
    names, numbers = np.unique(np.append(labels, 0), return_inverse=True)
    return numbers[:-1].astype(np.uint32), names.astype(np.int64)


def _three(columns: Any) -> tuple[Ints, Ints, Ints]:
    first, second, third = _as_ints(columns)
    return first, second, third


def mean_over(labels: LabelImage, label: Ints, values: Callable[[Ints], NDArray[np.float64]]) -> NDArray[np.float64]:
    """(n,) mean of some values over the pixels of each label; every label must be in the image.

    `values` is given the flat indices of P pixels, inside cells only, and returns (P,).
    """
    flat = labels.reshape(-1)
    inside = np.flatnonzero(flat)
    place = np.searchsorted(label, flat[inside])
    counts = np.bincount(place, minlength=len(label))
    return np.asarray(np.bincount(place, values(inside), minlength=len(label)) / counts)


def _as_ints(columns: Any) -> Any:
    return tuple(np.asarray(column, np.int64) for column in columns)


def relabelled(masks: LabelImage, own: NDArray[np.int64], labels: NDArray[Any]) -> NDArray[Any]:
    """A frame's masks with other labels in place of its own (ascending); masks of other labels are left out."""
    if len(labels) == 0:
        return np.zeros(masks.shape, labels.dtype)
    place = np.searchsorted(own, masks)
    place[place == len(own)] = 0
    return np.where(own[place] == masks, labels[place], labels.dtype.type(0))
