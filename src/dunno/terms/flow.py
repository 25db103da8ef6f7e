"""Flow: a cell is carried along with its neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from dunno.terms import Term
from dunno.types import Floats
from dunno.types.stretch import Stretch

NEIGHBOURS = 12
BANDWIDTH = 2.0
"""How far neighbours count, in median distances to the nearest one."""

SHRINK = 1.0
"""Weight of no drift at all, in neighbours."""

SHRINK_SLOPES = 8.0
"""Weight of no dilation and no shear, in neighbours."""


@dataclass(frozen=True)
class Flow(Term):
    """Displacements count from where a mother's neighbours go, herself left out.

    Attributes:
        finder: Parameters of the model that first finds the neighbours' displacements, without flow.
    """

    name: ClassVar[str] = "flow"

    finder: Mapping[str, float] = field(default_factory=dict)

    def carried(self, stretch: Stretch, weight: Floats) -> Stretch:
        """The stretch with each mother's drift, from (E,) expected weights of single edges."""
        drift = np.zeros((stretch.n_rows, stretch.n_dimensions))
        for r, t in enumerate(stretch.transitions[:, 0].tolist()):
            rows = slice(*np.searchsorted(stretch.row_frame, [t, t + 1]).tolist())
            edges = np.flatnonzero(stretch.edge_transition == r)
            mother = stretch.mother[edges] - rows.start
            drift[rows] = local_field(stretch.place[rows], mother, stretch.step[edges], weight[edges])
        return stretch.carried(drift)


def local_field(place: Floats, mother: np.ndarray, step: Floats, weight: Floats) -> Floats:
    """(m, d) where an affine field (drift, dilation, shear) through each mother's neighbours carries her, herself left out.

    Args:
        place: (m, d) the mothers' centres.
        mother: (E,) each edge's mother.
        step: (E, d) its displacement.
        weight: (E,) how probable it is.
    """
    from scipy.spatial import cKDTree

    m, d = place.shape
    if m < 3:
        return np.zeros((m, d))
    sure = np.bincount(mother, weight, minlength=m)
    moved = np.stack([np.bincount(mother, weight * step[:, axis], minlength=m) for axis in range(d)], axis=1)
    mean = moved / np.maximum(sure, 1e-9)[:, None]
    distance, index = cKDTree(place).query(place, min(NEIGHBOURS + 1, m))
    distance, index = distance[:, 1:], index[:, 1:]  # the nearest is herself
    nearest = float(np.median(distance[:, 0]))
    reach = BANDWIDTH * (nearest or float(distance.max()) or 1.0)
    share = np.exp(-0.5 * (distance / reach) ** 2) * sure[index]
    design = np.concatenate([np.ones((*index.shape, 1)), (place[index] - place[:, None]) / reach], axis=2)
    hold = np.diag([SHRINK, *[SHRINK_SLOPES] * d])
    gram = np.einsum("mk,mka,mkb->mab", share, design, design) + hold
    pull = np.einsum("mk,mka,mkd->mad", share, design, mean[index])
    return np.asarray(np.linalg.solve(gram, pull)[:, 0])
