"""Brightness: a cell keeps its brightness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dunno.terms._feature import Feature
from dunno.types import Floats
from dunno.types.stretch import Stretch

DIMMEST = 0.1  # share; judged
"""Contrasts below this share of the usual one count as linear, above as logarithmic."""


@dataclass(frozen=True)
class Brightness(Feature):
    """The logarithm of a cell's mean intensity over the background; its sum over the cell is this plus its size."""

    name: ClassVar[str] = "brightness"
    rank: ClassVar[int] = 3

    def values(self, stretch: Stretch) -> Floats:
        """(N,) log contrast; darker than the background counts as negative."""
        return np.asarray(np.arcsinh(_contrast(stretch) / self.scale))

    @classmethod
    def can_see(cls, stretch: Stretch) -> bool:
        """Whether there are images."""
        return bool(np.isfinite(_contrast(stretch)).any())

    @classmethod
    def scale_of(cls, stretch: Stretch) -> float:
        """A tenth of the usual contrast."""
        contrast = np.abs(_contrast(stretch))
        contrast = contrast[np.isfinite(contrast)]
        usual = float(np.median(contrast)) if len(contrast) else 1.0
        return DIMMEST * (usual or 1.0)


def _contrast(stretch: Stretch) -> Floats:
    return stretch.column("brightness") - stretch.background
