"""What one pass over a frame's labels, and its image, says about its cells."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dunno import _core
from dunno.errors import MovieError
from dunno.types.arrays import Floats, Ints
from dunno.types.labels import LabelImage, Measurements, as_volume, to_measurements

PIXEL_VARIANCE = 1 / 12  # pixels²; exact
"""Of a pixel about its centre: a cell is the area of its pixels, not their centres, so even one pixel has an extent."""


class Intensity(NamedTuple):
    """What an image says about the cells in it."""

    total: Floats  # (n,) intensity summed over each cell's pixels
    brightness: Floats  # (n,) its mean
    texture: Floats  # (n,) its standard deviation over the pixels
    # The median of the pixels outside all cells (those that are no number left out); NaN where there are none
    background: float


def no_intensity(n: int) -> Intensity:
    """What is known of n cells without their image."""
    return Intensity(np.full(n, np.nan), np.full(n, np.nan), np.full(n, np.nan), np.nan)


class CellMeasurements(NamedTuple):
    """One frame's cells; lengths in pixels, labels ascending."""

    place: Measurements  # Label, area, centroid and box
    # (n, d, d) second central moments of each cell's area; each pixel is a square or cube of its own
    covariance: Floats
    # (n,) share of the outline that touches other cells. A pixel is on the outline if one of its 4 neighbours (6 in
    # 3D) is not of the cell, and touches if one is of another cell; there is nothing beyond the image's border. 0 for
    # a cell that fills the image and has no outline.
    touching: Floats
    # (n,) number of connected pieces; pixels that share a face, an edge or a corner are connected (8 or 26
    # neighbours)
    pieces: Ints
    digest: int  # A 64-bit number by which the labels are known again, whatever their integer type
    light: Intensity | None  # What the image says; `None` where there is none

    def scaled(self, scale: Floats) -> dict[str, Any]:
        """Columns of `Detections`: lengths in physical units."""
        return {
            "label": self.place.label,
            "centroid": self.place.centroid * scale,
            "area": self.place.area * np.float64(scale.prod()),
            "bbox": self.place.bbox,
            "covariance": self.covariance * np.multiply.outer(scale, scale),
            "touching": self.touching,
            "pieces": self.pieces,
        }


def measure_cells(labels: LabelImage, image: NDArray[Any] | None, where: str) -> CellMeasurements:
    """Measure every cell of a frame."""
    if image is not None and image.shape != labels.shape:
        raise MovieError(f"{where}: labels of shape {labels.shape}, but an image of {image.shape}")
    try:
        found = _core.measure_cells(as_volume(labels), None if image is None else plain_volume(image))
    except ValueError as error:
        raise MovieError(f"{where}: {error}; labels are positive and the background is 0") from None
    return to_cells(found, labels.ndim, image is not None)


def to_cells(columns: Any, n_dimensions: int, has_image: bool) -> CellMeasurements:
    """The core's columns, flat and with three axes."""
    place, covariance, touching, pieces, digest, light = columns
    axes = slice(3 - n_dimensions, 3)
    return CellMeasurements(
        to_measurements(place, n_dimensions),
        covariance.reshape(-1, 3, 3)[:, axes, axes] + PIXEL_VARIANCE * np.eye(n_dimensions),
        touching,
        pieces,
        digest,
        Intensity(*light) if has_image else None,
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


def plain_volume(image: NDArray[Any]) -> NDArray[Any]:
    """The image as the core takes it, in a number type that it takes."""
    if image.dtype == np.bool_:
        image = image.view(np.uint8)
    elif not (image.dtype.kind in "iu" or (image.dtype.kind == "f" and image.dtype.itemsize in (4, 8))):
        image = image.astype(np.float64)
    return as_volume(image)


def elongation(covariance: Floats) -> Floats:
    """(n,) ratio of the longest to the shortest axis, at least 1.

    Example:
        >>> elongation(np.array([[[1.0, 0.0], [0.0, 9.0]]]))
        array([3.])
    """
    axes = np.linalg.eigvalsh(covariance)
    return np.asarray(np.sqrt(np.maximum(axes[:, -1] / axes[:, 0], 1.0)))


def fullness(area: Floats, covariance: Floats) -> Floats:
    """(n,) area or volume over that of the ellipse or ellipsoid with the same second moments: 1 for one, less for others.

    Example:
        >>> fullness(np.array([4.0]), np.array([np.eye(2) / 3])).round(3)  # a square of side 2
        array([0.955])
    """
    d = covariance.shape[-1]
    ball = np.pi if d == 2 else 4 * np.pi / 3
    return np.asarray(area / (ball * np.sqrt((d + 2) ** d * np.linalg.det(covariance))))


def long_axis(covariance: Floats) -> Floats:
    """(n, d) unit vector along the longest axis; of its two directions the one towards larger x (else y, else z).

    Example:
        >>> long_axis(np.array([[[9.0, 0.0], [0.0, 1.0]]]))
        array([[1., 0.]])
    """
    axis = np.linalg.eigh(covariance)[1][:, :, -1] + 0.0  # no minus zeros
    sign = np.ones(len(axis))
    for component in axis.T:  # the last one that is not zero decides
        sign = np.where(component == 0, sign, np.sign(component))
    return np.asarray(axis * sign[:, None] + 0.0)
