"""Flow: a cell is carried along with its neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar

import numpy as np

from dunno import _core
from dunno.terms import Term
from dunno.types import Floats, Ints
from dunno.types.stretch import Stretch

NEIGHBOURS = 12
BANDWIDTH = 2.0
"""How far neighbours count, in median distances to the nearest one."""

MOST_TOGETHER = 5000
"""Cells of several frames that are looked at together."""

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
    is_place: ClassVar[bool] = True
    is_drift: ClassVar[bool] = True

    finder: Mapping[str, float] = field(default_factory=dict)

    def carried(self, stretch: Stretch, weight: Floats) -> Stretch:
        """The stretch with each mother's drift, from (E,) expected weights of single edges."""
        n, near = stretch.n_rows, stretch.neighbours(NEIGHBOURS)
        sure = np.asarray(np.bincount(stretch.mother, weight, minlength=n), np.float64)
        moved = [np.bincount(stretch.mother, weight * along, minlength=n) for along in stretch.step.T]
        mean = np.stack(moved, axis=1) / np.maximum(sure, 1e-9)[:, None]
        drift = np.zeros((n, stretch.n_dimensions))
        begin = np.searchsorted(stretch.row_frame, np.arange(len(stretch.frames) + 1))
        for first, last in _together(begin, stretch.transitions[:, 0]):
            rows = slice(begin[first], begin[last])
            frame = stretch.row_frame[rows] - first
            drift[rows] = local_field(stretch.place[rows], near[rows] - begin[first], sure[rows], mean[rows], frame)
        return stretch.carried(drift)


def _together(begin: Ints, frames: Ints) -> list[tuple[int, int]]:
    """Runs of frames that are looked at together: calls cost more than cells do, until those fill the memory."""
    runs: list[tuple[int, int]] = []
    for t in frames.tolist():
        if runs and runs[-1][1] == t and begin[t + 1] - begin[runs[-1][0]] <= MOST_TOGETHER:
            runs[-1] = (runs[-1][0], t + 1)
        else:
            runs.append((t, t + 1))
    return runs


def local_field(place: Floats, near: Ints, sure: Floats, mean: Floats, frame: Ints) -> Floats:
    """(m, d) where an affine field (drift, dilation, shear) through each mother's neighbours carries her, herself left out.

    Args:
        place: (m, d) the mothers' centres.
        near: (m, k) each one's neighbours, nearest first; herself where there are fewer.
        sure: (m,) how probable it is that she has a single daughter.
        mean: (m, d) her mean displacement.
        frame: (m,) number of each one's frame, ascending from 0; those of fewer than three mothers carry nobody.
    """
    if len(place) == 0:
        return np.zeros_like(place)
    place, rows = np.ascontiguousarray(place), np.ascontiguousarray(near, np.int32)
    squared = np.asarray(_core.squared_distances(place, rows)).reshape(near.shape)
    reach = _reach(squared, frame)
    share = np.exp(-0.5 * squared / reach[:, None] ** 2) * sure[near]
    share[near == np.arange(len(place))[:, None]] = 0.0
    share[(np.bincount(frame) < 3)[frame]] = 0.0
    found = _core.local_field(place, rows, share, reach, np.ascontiguousarray(mean), SHRINK, SHRINK_SLOPES)
    return np.asarray(found).reshape(place.shape)


def _reach(squared: Floats, frame: Ints) -> Floats:
    """(m,) how far neighbours count in each one's frame."""
    reach = np.ones(int(frame[-1]) + 1)
    begin = np.searchsorted(frame, np.arange(len(reach) + 1)).tolist()
    for t, (first, last) in enumerate(pairwise(begin)):
        if last > first:
            own = squared[first:last]
            nearest = float(np.median(np.sqrt(own[:, 0])))
            reach[t] = BANDWIDTH * (nearest or float(np.sqrt(own.max())) or 1.0)
    return np.asarray(reach[frame])
