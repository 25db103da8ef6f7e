"""Do masks cover each other? Then their centres are not where the cells are, and no skipped frame tells."""

from __future__ import annotations

import numpy as np

from dunno.models.expectation import Expected

LEAST_LINKS = 50
"""Links along which a mask touches others more or less than before; with fewer, nothing is said."""

CHANGED = 0.02
"""Change in the share of an outline that touches others, from which on it counts."""

LARGEST_CHANGE = 1.0
"""Of log area; what changes more is a mask that was cut, or a division."""


def covering(expected: Expected) -> float:
    """Share of the variance of changes in size that follows from masks touching more, and then being smaller.

    A cell that touches another keeps its size; one whose mask is covered by the other's loses some. Near 0 for masks of cells
    side by side, .3 and more for discs that are drawn over each other.
    """
    stretch = expected.stretch
    touching, area = stretch.column("touching"), stretch.column("log_area")
    edges = np.flatnonzero(expected.single > 0.5)
    mother, daughter, weight = stretch.mother[edges], stretch.daughter[edges], expected.single[edges]
    touched, grown = touching[daughter] - touching[mother], area[daughter] - area[mother]
    known = np.isfinite(touched) & np.isfinite(grown)
    touched, grown, weight = touched[known], grown[known], weight[known]
    if (np.abs(touched) > CHANGED).sum() < LEAST_LINKS:
        return 0.0
    grown = np.clip(grown - np.median(grown), -LARGEST_CHANGE, LARGEST_CHANGE)
    moments = np.cov(touched, grown, aweights=weight)
    if moments[0, 1] >= 0 or moments[1, 1] <= 0:
        return 0.0
    return float(moments[0, 1] ** 2 / (moments[0, 0] * moments[1, 1]))
