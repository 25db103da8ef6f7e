"""What one pass over a frame's labels, and its image, says about its cells."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dunno import _core
from dunno.errors import MovieError
from dunno.types.arrays import Floats, Ints
from dunno.types.labels import LabelImage, Measurements, as_volume, to_measurements

PIXEL_VARIANCE = 1 / 12
"""Of a pixel about its centre: a cell is the area of its pixels, not their centres, so even one pixel has an extent."""


class Light(NamedTuple):
    """What an image says about the cells in it.

    Attributes:
        total: (n,) intensity summed over each cell's pixels.
        brightness: (n,) its mean.
        texture: (n,) its standard deviation over the pixels.
        background: The median of the pixels outside all cells (those that are no number left out); NaN where there are none.
    """

    total: Floats
    brightness: Floats
    texture: Floats
    background: float


def dark(n: int) -> Light:
    """What is known of n cells without their image."""
    return Light(np.full(n, np.nan), np.full(n, np.nan), np.full(n, np.nan), np.nan)


class CellMeasurements(NamedTuple):
    """One frame's cells; lengths in pixels, labels ascending.

    Attributes:
        place: Label, area, centroid and box.
        covariance: (n, d, d) second central moments of each cell's area; each pixel is a square or cube of its own.
        touching: (n,) share of the outline that touches other cells. A pixel is on the outline if one of its 4 neighbours (6 in
            3D) is not of the cell, and touches if one is of another cell; there is nothing beyond the image's border. 0 for a cell
            that fills the image and has no outline.
        pieces: (n,) number of connected pieces; pixels that share a face, an edge or a corner are connected (8 or 26 neighbours).
        digest: A 64-bit number by which the labels are known again, whatever their integer type.
        light: What the image says; `None` where there is none.
    """

    place: Measurements
    covariance: Floats
    touching: Floats
    pieces: Ints
    digest: int
    light: Light | None


def measure_cells(labels: LabelImage, image: NDArray[Any] | None, where: str) -> CellMeasurements:
    """Measure every cell of a frame.

    Args:
        labels: (Y, X) or (Z, Y, X).
        image: The same shape, of any number type; `None` where there is none.
        where: The file or frame, for the message.
    """
    if image is not None and image.shape != labels.shape:
        raise MovieError(f"{where}: labels of shape {labels.shape}, but an image of {image.shape}")
    try:
        place, covariance, touching, pieces, digest, light = _core.measure_cells(
            as_volume(labels), None if image is None else as_volume(_plain(image))
        )
    except ValueError as error:
        raise MovieError(f"{where}: {error}; labels are positive and the background is 0") from None
    axes = slice(3 - labels.ndim, 3)
    return CellMeasurements(
        to_measurements(place, labels.ndim),
        covariance.reshape(-1, 3, 3)[:, axes, axes] + PIXEL_VARIANCE * np.eye(labels.ndim),
        touching,
        pieces,
        digest,
        None if image is None else Light(*light),
    )


def digest_of(labels: LabelImage, where: str) -> int:
    """The number by which a label image is known again: of its shape and its labels' values.

    Example:
        >>> image = np.array([[0, 1], [2, 2]])
        >>> digest_of(image, "here") == digest_of(image.astype(np.uint8), "here")
        True
        >>> digest_of(image, "here") == digest_of(image.T, "here")
        False
    """
    try:
        return _core.digest(as_volume(labels))
    except ValueError as error:
        raise MovieError(f"{where}: {error}; labels are positive and the background is 0") from None


def _plain(image: NDArray[Any]) -> NDArray[Any]:
    """The image in a number type that the core takes."""
    if image.dtype.kind in "iu" or (image.dtype.kind == "f" and image.dtype.itemsize in (4, 8)):
        return image
    if image.dtype == np.bool_:
        return image.view(np.uint8)
    return image.astype(np.float64)
