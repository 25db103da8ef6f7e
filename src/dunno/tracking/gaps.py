"""Edges between frames that are no neighbours, where masks are missing, and the posterior with them.

A rough look at the pairs of frames tells which mothers may be lost and which daughters may have appeared: only these have edges
across gaps. All of it is then one assignment problem, every cell as a mother against every cell as a daughter.
"""

from __future__ import annotations

import numpy as np

from dunno.assignment import Marginals, Problem, Rounds, marginals
from dunno.assignment.marginals import marginals_of_likely
from dunno.models.model import Model
from dunno.types import Floats, Ints
from dunno.types.neighbours import within
from dunno.types.stretch import Stretch

Edges = tuple[Ints, Ints, Ints]

GAP_EDGES_FROM = 1e-3  # probability; benchmarks.gaps
"""A mother less likely to be lost than this, or a daughter less likely to have appeared, has no edges across gaps."""

BOTH_UNLIKELY = 2e-5  # probability; benchmarks.gaps
"""Nor do edges across gaps join two cells of which both are loose with a lower probability than this."""

MOST_ACROSS = 6  # daughters; benchmarks.bounds
"""Edges across a gap lead to the nearest so many loose daughters: what a mother may divide into grows with their square."""

PERHAPS_MISSING = 0.05  # probability; benchmarks.gaps
"""A daughter that is more likely than this to have been born by a division may have been missed before instead."""


def _merged(one: Edges, other: Edges, n: int) -> Edges:
    """Both, each edge once."""
    mother, daughter, lag = (np.concatenate(each) for each in zip(one, other, strict=True))
    first = np.sort(np.unique(mother * n + daughter, return_index=True)[1])
    return mother[first], daughter[first], lag[first]


def posterior_with_gaps(
    model: Model,
    stretch: Stretch,
    gate: float,
    tempering: float = 1.0,
    given: Edges | None = None,
    rounds: Rounds | None = None,
) -> tuple[Stretch, Problem, Marginals]:
    """The stretch with the edges across gaps that are worth looking at, or given; its problem, and what is believed of it."""
    problem = model.problem(stretch).tempered(tempering)
    if model.max_gap == 0:  # pairs are independent, and each is solved as if alone
        return stretch, problem, marginals(problem)
    find = marginals if rounds is None else rounds.marginals
    rough = find(problem, "rough")
    mother, daughter, lag = gap_candidates(model, stretch, rough, gate)
    if given is not None and len(given[0]):
        mother, daughter, lag = _merged((mother, daughter, lag), given, stretch.n_rows)
    if len(mother):
        stretch = stretch.with_gaps(mother, daughter, lag)
        problem = model.problem(stretch).tempered(tempering)
        rough = marginals(problem, "rough")
    return stretch, problem, marginals_of_likely(problem, rough)


def gap_candidates(model: Model, stretch: Stretch, found: Marginals, gate: float) -> tuple[Ints, Ints, Ints]:
    """(G,) mothers, daughters and lags of edges across gaps: between cells that the pairs alone leave loose."""
    none = np.empty(0, np.int64)
    if model.max_gap == 0:
        return none, none, none
    born = np.bincount(stretch.daughter, found.edge_dividing, minlength=stretch.n_rows)
    alone = (found.appear > GAP_EDGES_FROM) | (born > PERHAPS_MISSING)
    begun = np.maximum(found.appear, np.where(born > PERHAPS_MISSING, born, 0.0))
    loose = stretch.is_mother & (found.disappear > GAP_EDGES_FROM), stretch.is_daughter & alone
    mothers, daughters, lags = [none], [none], [none]
    bounds = np.searchsorted(stretch.row_frame, np.arange(len(stretch.frames) + 1))
    drift = np.zeros_like(stretch.place) if stretch.drift is None else stretch.drift
    for lag in range(2, model.max_gap + 2):
        for t in range(len(stretch.frames) - lag):
            if not stretch.linked[t : t + lag].all():
                continue
            elapsed = lag if stretch.clock is None else float(stretch.clock[t + lag] - stretch.clock[t])
            reach = gate * elapsed ** (0.5 * model.mean("lag_power"))
            early = np.flatnonzero(loose[0][bounds[t] : bounds[t + 1]]) + bounds[t]
            late = np.flatnonzero(loose[1][bounds[t + lag] : bounds[t + lag + 1]]) + bounds[t + lag]
            if len(early) and len(late):
                jumped = stretch.stage_travel[t + lag] - stretch.stage_travel[t]
                start = stretch.place[early] + drift[early] + jumped
                i, j = within(start, stretch.place[late], reach, MOST_ACROSS)
                likely = found.disappear[early[i]] * begun[late[j]] > BOTH_UNLIKELY
                i, j = i[likely], j[likely]
                mothers.append(early[i])
                daughters.append(late[j])
                lags.append(np.full(len(i), lag))
    return np.concatenate(mothers), np.concatenate(daughters), np.concatenate(lags)


def expected_gaps(lags: Ints, probability: Floats, most: int) -> Floats:
    """(most,) how many links skip 1, 2, … frames."""
    return np.asarray(np.bincount(lags - 1, probability, minlength=most + 1)[1 : most + 1], np.float64)
