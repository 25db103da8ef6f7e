r"""Who is who after two cells came apart of a mask that held both.

Two tracks run into one mask, and two tracks come out of it. What went on inside nobody saw, and the posterior of links does not
say it: a merged mask is one row. Two things speak for one order or the other: that the cells lie as they did, and that sizes are
kept. With $r_0$ from one cell to the other before, $r_1$ after, $a_0$ and $a_1$ the differences of their log sizes, and g steps in
between, free motion of variance σ² a step and a spread s of changing sizes give the log odds

$$w_1 \, r_0 \cdot r_1 / (g σ^2) + w_2 \, a_0 a_1 / s^2$$

with both weights 1. Cells that touch do not move freely, and masks change their size, so the weights are fitted: to pairs of
neighbours that never shared a mask, over as many steps as merged ones are away, of which the tracks say who is who.

What it does not know: whether the masks merged at all (`p_two` says that), how cells look, and whether a cell that shares a mask
swaps places more often than one that has its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dunno.lineage.tracks import NumberedBlock, TrackRow
from dunno.types import Block, Floats, Ints

NEAR = 1.5
"""Neighbours are those whose centres are no farther apart than so many times the sum of their radii."""

MOST_NEIGHBOURS = 20_000
LEAST_SIZE_CHANGE = 0.02
"""Of log sizes, so that masks which never change do not decide everything."""


@dataclass(frozen=True, eq=False)
class IdentityTable:
    """One row per merged mask that two tracks ran into and two came out of; the probable order is the one that is told.

    Attributes:
        merged: (M,) the merged mask's track.
        before: (M, 2) the tracks that ran into it.
        after: (M, 2) the tracks that came out: probably the first one of `before` goes on as the first one here.
        probability: (M,) that it is so, and not the other way round; at least 0.5.
    """

    merged: Ints
    before: Ints
    after: Ints
    probability: Floats

    def __len__(self) -> int:
        return len(self.merged)


@dataclass(frozen=True, eq=False)
class _Twos:
    """Two cells before, and two after: rows of the table of cells, and the steps between them."""

    before: Ints
    after: Ints
    steps: Ints


def identities(cells: NumberedBlock, edges: Block, tracks: Sequence[TrackRow]) -> IdentityTable:
    """Who is who after cells came apart."""
    merged, before, after = _events(cells, edges, tracks)
    step = np.unique(cells.frame, return_inverse=True)[1].ravel()
    ends = _ends(cells.track, step)
    twos = _Twos(ends[before - 1, 1], ends[after - 1, 0], np.empty(0, np.int64))
    twos = _Twos(twos.before, twos.after, step[twos.after[:, 0]] - step[twos.before[:, 0]])
    if not len(merged):
        return IdentityTable(merged, before, after, np.empty(0))
    known = _neighbours(cells, step, np.unique(twos.steps))
    scales = _scales(cells, known)
    odds = _evidence(cells, twos, *scales) @ _weights(_evidence(cells, known, *scales))
    crossed = odds < 0
    after = np.where(crossed[:, None], after[:, ::-1], after)
    return IdentityTable(merged, before, after, 1 / (1 + np.exp(-np.abs(odds))))


def _events(cells: NumberedBlock, edges: Block, tracks: Sequence[TrackRow]) -> tuple[Ints, Ints, Ints]:
    """Merged tracks, the two before and the two after each."""
    endings = np.array(["", *(row.ending for row in tracks)])
    link = edges.selected & (edges.gap == 0)
    early, late = cells.track[edges.mother[link]], cells.track[edges.daughter[link]]
    into = _listed(late, early, (endings[early] == "merged") & (early != late))
    out = _listed(early, late, (endings[early] == "apart") & (early != late))
    both = [track for track in sorted(into) if len(into[track]) == 2 == len(out.get(track, ()))]
    before = np.array([into[track] for track in both], np.int64).reshape(-1, 2)
    after = np.array([out[track] for track in both], np.int64).reshape(-1, 2)
    return np.array(both, np.int64), before, after


def _listed(key: Ints, value: Ints, chosen: np.ndarray) -> Mapping[int, list[int]]:
    found: dict[int, list[int]] = {}
    for k, v in zip(key[chosen].tolist(), value[chosen].tolist(), strict=True):
        found.setdefault(k, []).append(v)
    return found


def _ends(track: Ints, step: Ints) -> Ints:
    """(T, 2) rows of each track's first and last cell."""
    order = np.lexsort((step, track))
    first = np.searchsorted(track[order], np.arange(1, track.max(initial=0) + 2))
    return np.stack([order[first[:-1]], order[first[1:] - 1]], axis=1)


def _neighbours(cells: NumberedBlock, step: Ints, lags: Ints) -> _Twos:
    """Pairs of cells that lie side by side and have masks of their own, and where their tracks are some steps later."""
    from scipy.spatial import cKDTree

    width = int(step.max() + lags.max()) + 1
    row_of = dict(zip((cells.track * width + step).tolist(), range(len(cells)), strict=True))
    radius = _radius(cells)
    before: list[tuple[int, int]] = []
    for t in range(int(step.max()) + 1):
        rows = np.flatnonzero(step == t)
        if len(rows) > 1:
            found = cKDTree(cells.place[rows]).query_pairs(2 * NEAR * float(radius[rows].max()), output_type="ndarray")
            first, second = rows[found.T]
            apart = np.linalg.norm(cells.place[first] - cells.place[second], axis=1)
            near = apart < NEAR * (radius[first] + radius[second])
            before += zip(first[near].tolist(), second[near].tolist(), strict=True)
    known = []
    for lag in lags.tolist():
        for one, other in before[:: max(len(before) * len(lags) // MOST_NEIGHBOURS, 1)]:
            later = [row_of.get(int(cells.track[row]) * width + int(step[row]) + lag) for row in (one, other)]
            if None not in later:
                known.append((one, other, *later, lag))
    table = np.array(known, np.int64).reshape(-1, 5)
    return _Twos(table[:, :2], table[:, 2:4], table[:, 4])


def _radius(cells: NumberedBlock) -> Floats:
    """(N,) of discs, or balls, as large as the masks."""
    if cells.place.shape[1] == 2:
        return np.asarray(np.sqrt(cells.area / np.pi))
    return np.asarray(np.cbrt(cells.area * 3 / (4 * np.pi)))


def _scales(cells: NumberedBlock, known: _Twos) -> tuple[float, float]:
    """Variance of motion per axis and step, and that of log sizes over the time in between, as neighbours show them."""
    moved = cells.place[known.after] - cells.place[known.before]
    motion = float(np.mean((moved**2).mean(axis=(1, 2)) / known.steps)) if len(known.steps) else 0.0
    usual = float(np.median(_radius(cells))) ** 2
    change = np.log(cells.area[known.after]) - np.log(cells.area[known.before])
    size = float(np.mean(change**2)) if change.size else 0.0
    return max(motion, 1e-4 * usual), max(size, LEAST_SIZE_CHANGE**2)


def _evidence(cells: NumberedBlock, twos: _Twos, motion: float, size: float) -> Floats:
    """(M, 2) log odds of the order as listed, by places and by sizes, as free motion and free sizes give them."""
    apart = [cells.place[rows[:, 1]] - cells.place[rows[:, 0]] for rows in (twos.before, twos.after)]
    area = [np.log(cells.area[rows[:, 1]]) - np.log(cells.area[rows[:, 0]]) for rows in (twos.before, twos.after)]
    places = (apart[0] * apart[1]).sum(axis=1) / (motion * np.maximum(twos.steps, 1))
    return np.stack([places, area[0] * area[1] / size], axis=1)


def _weights(evidence: Floats) -> Floats:
    """(2,) how much both kinds of evidence count, so that neighbours are told apart as often as is said; 1 without any."""
    from scipy.optimize import minimize

    def loss(log_weight: Floats) -> tuple[float, Floats]:
        weight = np.exp(log_weight)
        odds = evidence @ weight
        wrong = 1 / (1 + np.exp(np.clip(odds, -500, 500)))
        slope = -(wrong[:, None] * evidence).sum(axis=0) * weight + log_weight
        return float(np.logaddexp(0, -odds).sum() + 0.5 * (log_weight**2).sum()), slope

    return np.asarray(np.exp(minimize(loss, np.zeros(2), jac=True, bounds=[(-8.0, 3.0)] * 2).x))
