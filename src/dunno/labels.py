"""Label images: which arrays are labels, and where their cells are."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dunno import _core
from dunno.errors import MovieError

LabelImage = NDArray[np.integer[Any]]


class Measurements(NamedTuple):
    """What one pass over a label image finds; lengths in pixels, labels ascending.

    Attributes:
        label: (n,) the labels.
        area: (n,) numbers of pixels.
        centroid: (n, d) mean pixel coordinates.
        bbox: (n, 2, d) first pixel, and one past the last.
    """

    label: NDArray[np.int64]
    area: NDArray[np.int64]
    centroid: NDArray[np.float64]
    bbox: NDArray[np.int64]


def as_labels(image: Any, where: str) -> LabelImage:
    """Return the image as whole numbers, or say why it holds no labels.

    Any integer type is taken as it is; floats are taken where every pixel is a whole number. Negative labels
    are found by `measure`, which sees every pixel anyway.

    Args:
        image: The pixels, (Y, X) or (Z, Y, X).
        where: The file or frame, for the message.
    """
    pixels = np.asarray(image)
    if pixels.dtype == np.bool_:
        raise MovieError(
            f"{where}: the masks are true/false, so touching cells cannot be told apart; "
            "give every cell its own number (for instance with scipy.ndimage.label)"
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
    """Find every cell's area, centroid and bounding box in one pass over the pixels.

    Args:
        labels: (Y, X) or (Z, Y, X).
        where: The file or frame, for the message.
    """
    volume = np.ascontiguousarray(labels.reshape((1, *labels.shape) if labels.ndim == 2 else labels.shape))
    if not volume.dtype.isnative:
        volume = volume.astype(volume.dtype.newbyteorder("="))
    try:
        label, area, total, low, high = (np.asarray(column, np.int64) for column in _core.measure(volume))
    except ValueError as error:
        raise MovieError(f"{where}: {error}; labels are positive and the background is 0") from None
    axes = slice(3 - labels.ndim, 3)
    centroid = total.reshape(-1, 3)[:, axes] / area[:, None]
    bbox = np.stack([low.reshape(-1, 3)[:, axes], high.reshape(-1, 3)[:, axes]], axis=1)
    return Measurements(label, area, centroid, bbox)
