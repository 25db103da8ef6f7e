"""Overlap: long cells move along their axis, so that mother and daughter cover each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dunno.terms._ratio import Ratio
from dunno.types import Floats
from dunno.types.stretch import Stretch


@dataclass(frozen=True)
class Overlap(Ratio):
    r"""How far apart two cells are in units of their own outlines, $δ^T (Σ_i + Σ_j)^{-1} δ$, with Σ the spread of a cell's pixels.

    It is read from the table of cells, without pixels. Among edges of the same distance it says what distance does not: whether
    the cells lie on each other.
    """

    name: ClassVar[str] = "overlap"
    rank: ClassVar[int] = 6

    @classmethod
    def costs(cls, stretch: Stretch) -> Floats:
        """(E,) of each edge between neighbouring frames; NaN where shapes were not measured."""
        return np.asarray(stretch.latest("overlap", None, lambda: _costs(stretch)))


def _costs(stretch: Stretch) -> Floats:
    spread = stretch.covariance[stretch.mother] + stretch.covariance[stretch.daughter]
    if stretch.n_dimensions == 2:  # many times as fast as solving as many small systems
        y, x = stretch.moved.T
        yy, yx, xx = spread[:, 0, 0], spread[:, 0, 1], spread[:, 1, 1]
        costs = (xx * y**2 - 2 * yx * y * x + yy * x**2) / (yy * xx - yx**2)
        return np.where(stretch.lags == 1, costs, np.nan)
    known = np.isfinite(spread).all(axis=(1, 2)) & (stretch.lags == 1)
    costs = np.full(len(stretch.mother), np.nan)
    costs[known] = np.einsum(
        "ed,ed->e", stretch.moved[known], np.linalg.solve(spread[known], stretch.moved[known][:, :, None])[:, :, 0]
    )
    return costs
