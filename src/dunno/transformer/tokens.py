"""What the network sees of a cell: where it is, how large and bright it is, its shape, and whether it is at the border."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dunno.errors import MovieError
from dunno.types import Detections, Floats
from dunno.types.measurements import PIXEL_VARIANCE, measure_cells

Singles = NDArray[np.float32]

BORDER_PIXELS = 5
"""Pixels from the image's border within which a cell is close to it."""

DARK, BRIGHT = 1.0, 99.8
"""Percentiles of a frame between which intensities are taken."""


@dataclass(frozen=True, eq=False)
class Tokens:
    """One frame's cells."""

    place: Singles  # (n, d) centres, in pixels
    features: Singles  # (n, q) diameter, mean intensity, the inertia tensor row by row, closeness to the border

    def __len__(self) -> int:
        return len(self.place)


def tokens_of(cells: Detections, scale: Sequence[float], n_dimensions: int, uses_images: bool) -> Tokens:
    """A frame's tokens: Trackastra's own, from what was measured of the cells.

    A 2D movie is one slice to a model for 3D; without images intensities are 0.
    """
    own = cells.centroid.shape[1]
    if own > n_dimensions:
        raise MovieError(f"frame {cells.frame}: a 3D movie, but the model is for 2D; train or choose one for 3D")
    unit, more = np.asarray(scale), n_dimensions - own
    area, covariance, brightness = _measured(cells, unit, uses_images)
    covariance = np.pad(covariance, ((0, 0), (more, 0), (more, 0)))
    inertia = np.trace(covariance, axis1=1, axis2=2)[:, None, None] * np.eye(n_dimensions) - covariance
    diameter = 2 * np.sqrt(area / np.pi) if n_dimensions == 2 else np.cbrt(6 * area / np.pi)
    light = _light(cells, brightness) if uses_images else np.zeros(len(cells))
    columns = (diameter, light, inertia.reshape(len(cells), n_dimensions**2), _closeness(cells))
    place = np.pad(cells.centroid / unit, ((0, 0), (more, 0)))
    return Tokens(place.astype(np.float32), np.column_stack(columns).astype(np.float32))


def _measured(cells: Detections, unit: Floats, uses_images: bool) -> tuple[Floats, Floats, Floats | None]:
    """Areas, covariances of pixels' centres and mean intensities, in pixels; measured anew under other masks."""
    if cells.covariance is not None and (cells.brightness is not None or not uses_images):
        square = PIXEL_VARIANCE * np.eye(len(unit))
        return cells.area / unit.prod(), cells.covariance / np.multiply.outer(unit, unit) - square, cells.brightness
    found = measure_cells(cells.masks, cells.images if uses_images else None, f"frame {cells.frame}")
    light = None if found.light is None else found.light.brightness
    return found.place.area.astype(np.float64), found.covariance - PIXEL_VARIANCE * np.eye(len(unit)), light


def _light(cells: Detections, brightness: Floats | None) -> Floats:
    """(n,) mean intensities between the frame's own percentiles, as in Trackastra's training."""
    dark, bright = cells.once("percentiles", lambda: _percentiles(cells.images))
    return np.asarray((brightness - dark) / (bright - dark + 1e-8))


def _percentiles(image: NDArray[Any]) -> tuple[float, float]:
    """Of every fourth row and column of a large image, as Trackastra takes them."""
    thinned = image[..., ::4, ::4] if min(image.shape[-2:]) > 256 else image
    dark, bright = np.percentile(thinned.astype(np.float32), (DARK, BRIGHT))
    return float(dark), float(bright)


def _closeness(cells: Detections) -> Floats:
    """(n,) 1 at the image's border (of its last two axes), 0 from five pixels on."""
    box, shape = cells.bbox[:, :, -2:], np.asarray(cells.masks.shape[-2:])
    distance = np.minimum(box[:, 0], shape - box[:, 1]).min(axis=1)
    return np.asarray(1 - np.minimum(distance / BORDER_PIXELS, 1))
