"""Flow: a cell is carried along with its neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from dunno import _core
from dunno.terms import Term
from dunno.types import Floats, Ints
from dunno.types.stretch import Stretch

FLOW_NEIGHBOURS = 12  # cells; judged
BANDWIDTH = 2.0  # distances; judged
"""How far neighbours count, in median distances to the nearest one."""

SHRINK = 1.0  # neighbours; judged
"""Weight of no drift at all, in neighbours."""

SHRINK_SLOPES = 8.0  # neighbours; judged
"""Weight of no dilation and no shear, in neighbours."""


@dataclass(frozen=True)
class Flow(Term):
    """Displacements count from where a mother's neighbours go, itself left out."""

    name: ClassVar[str] = "flow"
    is_place: ClassVar[bool] = True
    is_drift: ClassVar[bool] = True

    # Parameters of the model that first finds the neighbours' displacements, without flow
    finder: Mapping[str, float] = field(default_factory=dict)

    def carried(self, stretch: Stretch, weight: Floats) -> Stretch:
        """The stretch with each mother's drift, from (E,) expected weights of single edges."""
        n, near = stretch.n_rows, stretch.neighbours(FLOW_NEIGHBOURS)
        sure = np.asarray(np.bincount(stretch.mother, weight, minlength=n), np.float64)
        moved = [np.bincount(stretch.mother, weight * along, minlength=n) for along in stretch.step.T]
        mean = np.stack(moved, axis=1) / np.maximum(sure, 1e-9)[:, None]
        drift = np.zeros((n, stretch.n_dimensions))
        begin = np.searchsorted(stretch.row_frame, np.arange(len(stretch.frames) + 1))
        for t in stretch.transitions[:, 0].tolist():
            rows = slice(begin[t], begin[t + 1])
            drift[rows] = local_field(stretch.place[rows], near[rows] - begin[t], sure[rows], mean[rows])
        return stretch.carried(drift)


def local_field(place: Floats, near: Ints, sure: Floats, mean: Floats) -> Floats:
    """(m, d) where an affine field (drift, dilation, shear) through each mother's neighbours carries it, itself left out.

    Of each mother: k neighbours `near`, how probable a single daughter is (`sure`), its mean displacement. Three at the least.
    """
    if len(place) < 3:
        return np.zeros_like(place)
    place, rows = np.ascontiguousarray(place), np.ascontiguousarray(near, np.int32)
    squared = np.asarray(_core.squared_distances(place, rows)).reshape(near.shape)
    nearest = float(np.median(np.sqrt(squared[:, 0])))
    reach = BANDWIDTH * (nearest or float(np.sqrt(squared.max())) or 1.0)
    share = np.exp(-0.5 * squared / reach**2) * sure[near]
    share[near == np.arange(len(place))[:, None]] = 0.0
    each = np.full(len(place), reach)
    found = _core.local_field(place, rows, share, each, np.ascontiguousarray(mean), SHRINK, SHRINK_SLOPES)
    return np.asarray(found).reshape(place.shape)
