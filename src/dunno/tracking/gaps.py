"""Blocks with gaps: edges between frames that are no neighbours, solved together with those between neighbours.

A block is computed with a halo of frames on either side, which makes it independent of the others: what is farther away than the
halo hardly matters. First every pair is solved alone; only mothers that may be lost there, and daughters that may have appeared,
have edges across gaps. All of it is then one assignment problem, every cell as a mother against every cell as a daughter.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dunno.assignment import Marginals, Problem, Triples, marginals
from dunno.assignment.decide import most_right
from dunno.assignment.distributions import normalise
from dunno.calibration.kinds.model import ModelCalibration, transition_of
from dunno.models.model import Model
from dunno.tracking.blocks import Block
from dunno.tracking.candidates import candidates_of
from dunno.tracking.plan import Plan
from dunno.types import Bools, Floats, GapEdges, Ints, PairPosterior
from dunno.types.stretch import Stretch

UNLIKELY = 1e-3
"""A mother less likely to be lost than this, or a daughter less likely to have appeared, has no edges across gaps."""


@dataclass(frozen=True, eq=False)
class Solved:
    """A stretch with gaps, and what is believed of it.

    Attributes:
        stretch: As the model sees it.
        problem: The assignment problem, every row as a mother against every row as a daughter.
        found: Its marginals.
        link: (E,) whether an edge is a link.
    """

    stretch: Stretch
    problem: Problem
    found: Marginals
    link: Bools


def track_with_gaps(plan: Plan, block: Block) -> list[PairPosterior]:
    """A block's pairs, with edges across gaps."""
    calibration = plan.calibration
    assert isinstance(calibration, ModelCalibration)
    pairs = list(replace(block, first=0, n_pairs=len(block.movie) - 1).pairs(plan.window, plan.max_distance))
    parts = [transition_of(pair, candidates_of(plan, pair), plan.cost) for pair in pairs]
    model, stretch = calibration.posed(Stretch.of(parts))
    solved = solve_with_gaps(model, stretch, plan.gate, calibration.softening.tempering)
    own = range(block.first, block.first + block.n_pairs)
    return [calibration.apply(pair_of(solved, r)) for r in own]


def solve_with_gaps(model: Model, stretch: Stretch, gate: float, tempering: float = 1.0) -> Solved:
    """Solve the pairs, then all of it once more with the edges across gaps that are worth looking at."""
    problem = model.problem(stretch).tempered(tempering)
    found = marginals(problem)
    mother, daughter, lag = gap_candidates(model, stretch, found, gate)
    if len(mother):
        stretch = stretch.with_gaps(mother, daughter, lag)
        problem = model.problem(stretch).tempered(tempering)
        found = marginals(problem)
    chosen = most_right(problem, found)
    link = np.zeros(len(problem.cost), np.bool_)
    link[chosen[chosen >= 0]] = True
    return Solved(stretch, problem, found, link)


def gap_candidates(model: Model, stretch: Stretch, found: Marginals, gate: float) -> tuple[Ints, Ints, Ints]:
    """(G,) mothers, daughters and lags of edges across gaps: between cells that the pairs alone leave loose."""
    none = np.empty(0, np.int64)
    if not model.has("missed"):
        return none, none, none
    motion, missed = model.term("motion"), model.term("missed")
    loose = stretch.is_mother & (found.disappear > UNLIKELY), stretch.is_daughter & (found.appear > UNLIKELY)
    mothers, daughters, lags = [none], [none], [none]
    bounds = np.searchsorted(stretch.row_frame, np.arange(len(stretch.frames) + 1))
    drift = np.zeros_like(stretch.place) if stretch.drift is None else stretch.drift
    for lag in range(2, missed.max_gap + 2):
        reach = gate * lag ** (0.5 * motion.lag_power)
        for t in range(len(stretch.frames) - lag):
            if not stretch.linked[t : t + lag].all():
                continue
            early = np.flatnonzero(loose[0][bounds[t] : bounds[t + 1]]) + bounds[t]
            late = np.flatnonzero(loose[1][bounds[t + lag] : bounds[t + lag + 1]]) + bounds[t + lag]
            if len(early) and len(late):
                apart = stretch.place[late][None] - (stretch.place[early] + drift[early])[:, None]
                i, j = np.nonzero(np.einsum("abd,abd->ab", apart, apart) <= reach**2)
                mothers.append(early[i])
                daughters.append(late[j])
                lags.append(np.full(len(i), lag))
    return np.concatenate(mothers), np.concatenate(daughters), np.concatenate(lags)


def pair_of(solved: Solved, r: int) -> PairPosterior:
    """What is believed of one transition, with the edges that lead to its daughters across gaps."""
    stretch, found = solved.stretch, solved.found
    early, late = stretch.transitions[r].tolist()
    begin = np.searchsorted(stretch.row_frame, np.arange(len(stretch.frames) + 1))
    mothers, daughters = slice(*begin[[early, early + 1]]), slice(*begin[[late, late + 1]])
    here = (stretch.daughter >= daughters.start) & (stretch.daughter < daughters.stop)
    near, far = np.flatnonzero(here & (stretch.lags == 1)), np.flatnonzero(here & (stretch.lags > 1))
    order = np.lexsort((stretch.mother[near], stretch.daughter[near]))
    near = near[order]
    n = daughters.stop - daughters.start
    gaps = _gap_edges(solved, far, daughters.start, begin)
    earlier = np.zeros(n) if gaps is None else np.bincount(gaps.daughter, found.edge[far], minlength=n)
    with np.errstate(divide="ignore"):
        logs = np.log(found.edge[near])
        none = np.log(np.clip(found.appear[daughters] + earlier, 0.0, 1.0))
        spread = normalise(logs, none, stretch.daughter[near] - daughters.start)
        lost, divides = np.log(found.disappear[mothers]), np.log(found.divide[mothers])
    return PairPosterior(
        mothers=stretch.cells[early].without_pixels(),
        daughters=stretch.cells[late].without_pixels(),
        mother=stretch.mother[near] - mothers.start,
        daughter=stretch.daughter[near] - daughters.start,
        cost=solved.problem.cost[near],
        log_probability=spread.log_probability,
        log_no_mother=spread.log_no_mother,
        entropy=spread.entropy,
        selected=solved.link[near],
        log_disappear=lost,
        log_divide=divides,
        problem=_pair_problem(solved, near, mothers, daughters),
        gaps=gaps,
    )


def _gap_edges(solved: Solved, far: Ints, first: int, begin: Ints) -> GapEdges | None:
    if len(far) == 0:
        return None
    stretch = solved.stretch
    mother = stretch.mother[far]
    t = stretch.row_frame[mother]
    label = np.concatenate([each.label for each in stretch.cells])
    with np.errstate(divide="ignore"):
        logs = np.log(solved.found.edge[far])
    return GapEdges(
        mother_frame=stretch.frames[t],
        mother=mother - begin[t],
        mother_label=label[mother],
        daughter=stretch.daughter[far] - first,
        gap=stretch.lags[far] - 1,
        cost=solved.problem.cost[far],
        log_probability=logs,
        selected=solved.link[far],
    )


def _pair_problem(solved: Solved, near: Ints, mothers: slice, daughters: slice) -> Problem:
    """The pair's own problem, in which what gaps explain counts as appearing and disappearing.

    A daughter's edges across gaps add to the weight of her appearing, each with the weight of her mother's being lost taken away,
    and the other way round.
    """
    stretch, whole = solved.stretch, solved.problem
    far = stretch.lags > 1
    weight = np.exp(-whole.cost[far] + whole.disappear[stretch.mother[far]])
    appear = np.exp(-whole.appear) + np.bincount(stretch.daughter[far], weight, minlength=stretch.n_rows)
    weight = np.exp(-whole.cost[far] + whole.appear[stretch.daughter[far]])
    lost = np.exp(-whole.disappear) + np.bincount(stretch.mother[far], weight, minlength=stretch.n_rows)
    return Problem(
        stretch.mother[near] - mothers.start,
        stretch.daughter[near] - daughters.start,
        whole.cost[near],
        mothers.stop - mothers.start,
        daughters.stop - daughters.start,
        appear=-np.log(appear[daughters]),
        disappear=-np.log(lost[mothers]),
        divide=whole.divide[mothers],
        dividing_cost=None if whole.dividing_cost is None else whole.dividing_cost[near],
        triples=_own_triples(whole, near),
    )


def _own_triples(whole: Problem, near: Ints) -> Triples | None:
    if whole.triples is None:
        return None
    number = np.full(len(whole.cost), -1, np.int64)
    number[near] = np.arange(len(near))
    return whole.triples.renumbered(number)


def expected_gaps(lags: Ints, probability: Floats, most: int) -> Floats:
    """(most,) how many links skip 1, 2, … frames."""
    return np.asarray(np.bincount(lags - 1, probability, minlength=most + 1)[1 : most + 1], np.float64)
