"""The figures that people ask for, each computed on one lineage, with its variance over cells where it has one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dunno.biology.lineage import Lineage
from dunno.types import Floats, Ints

Estimate = tuple[float, float]
"""A value, and its variance if other cells of the same kind had been seen; NaN where that is not known."""

NO_ESTIMATE = float("nan")
FEWEST_CYCLES = 3
"""Cells, or pairs of them, below which a spread or a correlation means nothing."""


@dataclass(frozen=True)
class QuantityKind:
    """A figure."""

    name: str  # As a column of a table
    words: str  # As a person reads it
    unit: str  # `{time}` stands for minutes or frames, `{length}` for µm or pixels
    compute: Callable[[Lineage], Estimate]  # From a lineage
    log: bool = False  # Whether its interval over other cells is symmetric on a logarithmic scale


def _divisions(lineage: Lineage) -> Estimate:
    return float((lineage.ended_by == 0).sum()), NO_ESTIMATE


def _complete(lineage: Lineage) -> Estimate:
    return float(lineage.complete.sum()), NO_ESTIMATE


def _median_cycle(lineage: Lineage) -> Estimate:
    found = lineage.duration[lineage.complete]
    return (float(np.median(found)) if len(found) else NO_ESTIMATE), NO_ESTIMATE


def _mean_cycle(lineage: Lineage) -> Estimate:
    return _mean(lineage.duration[lineage.complete])


def _division_rate(lineage: Lineage) -> Estimate:
    """Divisions per cell and unit of time; its variance is that of its logarithm, 1 / divisions."""
    divisions, seen = float((lineage.ended_by == 0).sum()), float(lineage.duration.sum())
    return (divisions / seen if seen else NO_ESTIMATE), (1 / divisions if divisions else NO_ESTIMATE)


def _loss_rate(lineage: Lineage) -> Estimate:
    losses, seen = float((lineage.ended_by == 3).sum()), float(lineage.duration.sum())
    return (losses / seen if seen else NO_ESTIMATE), (1 / losses if losses else NO_ESTIMATE)


def _speed(lineage: Lineage) -> Estimate:
    speed, track = step_speeds(lineage)
    count = np.bincount(track, minlength=len(lineage.first))
    sums = np.bincount(track, speed, minlength=len(lineage.first))
    return _mean(sums[count > 0] / count[count > 0])


def _growth(lineage: Lineage) -> Estimate:
    found = growth_rates(lineage)
    return _mean(found[np.isfinite(found)])


def _sisters(lineage: Lineage) -> Estimate:
    first = np.flatnonzero(lineage.sister > np.arange(len(lineage.first)))
    return _correlation(lineage, first, lineage.sister[first])


def _mother_daughter(lineage: Lineage) -> Estimate:
    daughter = np.flatnonzero(lineage.came_from >= 0)
    return _correlation(lineage, daughter, lineage.came_from[daughter])


def _clone(lineage: Lineage) -> Estimate:
    """Cells in the last frame per cell of the first one."""
    t = lineage.rows.t[lineage.alive]
    family = lineage.family[lineage.track[lineage.alive]]
    founders = np.unique(family[t == 0])
    at_end = family[t == len(lineage.rows.frames) - 1]
    sizes = np.array([float((at_end == founder).sum()) for founder in founders.tolist()])
    return _mean(sizes)


def _correlation(lineage: Lineage, one: Ints, other: Ints) -> Estimate:
    both = lineage.complete[one] & lineage.complete[other]
    x, y = lineage.duration[one[both]], lineage.duration[other[both]]
    if len(x) < FEWEST_CYCLES or x.std() == 0 or y.std() == 0:
        return NO_ESTIMATE, NO_ESTIMATE
    return float(np.corrcoef(x, y)[0, 1]), NO_ESTIMATE


def _mean(values: Floats) -> Estimate:
    if len(values) == 0:
        return NO_ESTIMATE, NO_ESTIMATE
    return float(values.mean()), float(values.var(ddof=1) / len(values)) if len(
        values
    ) >= FEWEST_CYCLES else NO_ESTIMATE


def step_speeds(lineage: Lineage) -> tuple[Floats, Ints]:
    """(S,) speed of every step of a cell from one look to the next, and (S,) its track."""
    rows, step = lineage.rows, lineage.steps
    before = lineage.mother[step]
    length = np.linalg.norm(rows.place[step] - rows.place[before], axis=1)
    return length / (rows.times[rows.t[step]] - rows.times[rows.t[before]]), lineage.track[step]


def growth_rates(lineage: Lineage) -> Floats:
    """(R,) slope of log area over time of each track; NaN for those with fewer than three masks."""
    own = np.flatnonzero(lineage.alive)
    track, n = lineage.track[own], len(lineage.first)
    time, size = lineage.rows.times[lineage.rows.t[own]], np.log(lineage.rows.area[own])
    count = np.bincount(track, minlength=n)
    mean_time, mean_size = (np.bincount(track, each, minlength=n) / np.maximum(count, 1) for each in (time, size))
    apart = time - mean_time[track]
    spread = np.bincount(track, apart**2, minlength=n)
    slope = np.bincount(track, apart * (size - mean_size[track]), minlength=n)
    return np.where(count >= FEWEST_CYCLES, slope / np.where(spread > 0, spread, np.nan), np.nan)


QUANTITIES = (
    QuantityKind("divisions", "divisions", "", _divisions),
    QuantityKind("complete_cycles", "cycles seen from birth to division", "", _complete),
    QuantityKind("median_cycle", "median of these cycles", "{time}", _median_cycle),
    QuantityKind("mean_cycle", "mean of these cycles", "{time}", _mean_cycle),
    QuantityKind("division_rate", "divisions per cell", "per {time}", _division_rate, log=True),
    QuantityKind("loss_rate", "losses per cell, away from the border", "per {time}", _loss_rate, log=True),
    QuantityKind("growth_rate", "growth of a cell's area (share)", "per {time}", _growth),
    QuantityKind("speed", "mean speed of a cell", "{length} per {time}", _speed),
    QuantityKind("sister_correlation", "correlation of sisters' cycles", "", _sisters),
    QuantityKind("mother_daughter_correlation", "correlation of mothers' and daughters' cycles", "", _mother_daughter),
    QuantityKind("clone_size", "descendants at the end, per cell of the first frame", "", _clone),
)
"""One list: tables, the page and the docs read it."""
