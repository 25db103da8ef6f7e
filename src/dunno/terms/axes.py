"""Axes: in a volume, cells may move farther, or be less well seen, along one axis than along the others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dunno.terms import Term
from dunno.types import Floats
from dunno.types.stretch import Stretch

LEAST_LINKS_OF_AN_AXIS = 20.0  # links; judged; before an axis has a motion of its own
WIDEST_AXIS = 100.0  # ratio; judged
"""Squared motion along an axis is at most so many times that along another."""


@dataclass(frozen=True)
class Axes(Term):
    """Squared displacements along each axis count in units of the motion along it."""

    name: ClassVar[str] = "axes"
    is_place: ClassVar[bool] = True
    is_unit: ClassVar[bool] = True

    ratios: tuple[float, ...] = ()  # Squared motion along each axis, relative to the geometric mean of all

    def measured(self, stretch: Stretch) -> Stretch:
        """The stretch in which displacements count in these units."""
        return replace(stretch, axes=self.ratios or None)

    @classmethod
    def of(cls, stretch: Stretch, weight: Floats) -> Axes:
        """From (E,) expected weights of links."""
        if weight.sum() < LEAST_LINKS_OF_AN_AXIS:
            return cls(stretch.axes or ())
        squares = (weight[:, None] * stretch.moved**2).sum(axis=0) / weight.sum()
        squares = np.maximum(squares, max(float(squares.max()), 1e-12) / WIDEST_AXIS)
        return cls(tuple((squares / np.exp(np.log(squares).mean())).tolist()))
