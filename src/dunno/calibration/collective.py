"""Collective motion: a cell is carried along with its neighbours."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dunno.assignment import marginals
from dunno.calibration.motion_model import MotionModel, MotionPair
from dunno.types import Floats

NEIGHBOURS = 8
BANDWIDTH = 2.0
"""How far neighbours count, in median distances to the nearest one."""

SHRINK = 1.0
"""Weight of no drift at all, in neighbours."""


def carried(model: MotionModel, pair: MotionPair) -> MotionPair:
    """Predict each mother's place from the posterior mean displacements of her neighbours, herself left out."""
    found = marginals(model.problem(pair))
    weight = np.clip(found.edge - found.edge_dividing, 0.0, 1.0)
    return replace(pair, drift=_drift(pair, weight))


def _drift(pair: MotionPair, weight: Floats) -> Floats:
    """(m, d) the weighted mean displacement of each mother's nearest neighbours, drawn to zero."""
    from scipy.spatial import cKDTree

    m, d = pair.mother_place.shape
    if m < 3:
        return np.zeros((m, d))
    sure = np.bincount(pair.mother, weight, minlength=m)
    moved = np.stack([np.bincount(pair.mother, weight * pair.step[:, axis], minlength=m) for axis in range(d)], axis=1)
    mean = moved / np.maximum(sure, 1e-9)[:, None]
    distance, index = cKDTree(pair.mother_place).query(pair.mother_place, min(NEIGHBOURS + 1, m))
    distance, index = distance[:, 1:], index[:, 1:]  # the nearest is herself
    reach = BANDWIDTH * max(float(np.median(distance[:, 0])), 1e-9)
    share = np.exp(-0.5 * (distance / reach) ** 2) * sure[index]
    return np.asarray((share[:, :, None] * mean[index]).sum(axis=1) / (share.sum(axis=1) + SHRINK)[:, None])
