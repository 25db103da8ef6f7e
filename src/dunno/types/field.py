"""The box in which cells are seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dunno.errors import InputError
from dunno.types.detections import Detections, typical_diameter


@dataclass(frozen=True)
class Field:
    """The box in which cells are seen; annotators and segmentations often leave out a margin of the image."""

    low: tuple[float, ...]
    high: tuple[float, ...]

    def __post_init__(self) -> None:
        widths = np.subtract(self.high, self.low) if len(self.low) == len(self.high) in (2, 3) else np.zeros(1)
        if not (np.isfinite(widths).all() and (widths > 0).all()):
            raise InputError(f"the field is from {self.low} to {self.high}; expected two or three sides, each above 0")

    @classmethod
    def around(cls, cells: list[Detections]) -> Field:
        """The box of all centres, at least eight cell diameters wide: a few cells do not tell where the field ends."""
        places = np.concatenate([each.centroid for each in cells]) if cells else np.zeros((1, 2))
        if len(places) == 0:
            places = np.zeros((1, cells[0].centroid.shape[1]))
        low, high = places.min(axis=0), places.max(axis=0)
        size = typical_diameter(cells)
        margin = np.maximum(0.02 * size, (8 * size - (high - low)) / 2)
        return cls(tuple((low - margin).tolist()), tuple((high + margin).tolist()))

    @property
    def n_dimensions(self) -> int:
        """2 or 3."""
        return len(self.low)

    @property
    def size(self) -> float:
        """Area or volume."""
        return float(np.prod(np.subtract(self.high, self.low)))
