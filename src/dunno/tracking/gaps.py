"""Blocks with gaps: edges between frames that are no neighbours, solved together with those between neighbours.

A block is computed with a halo of frames on either side, which makes it independent of the others: what is farther away than the
halo hardly matters. First every pair is solved alone; only mothers that may be lost there, and daughters that may have appeared,
have edges across gaps. All of it is then one assignment problem, every cell as a mother against every cell as a daughter.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dunno.assignment import Marginals, Problem, Triples, marginals
from dunno.assignment.decide import most_right
from dunno.assignment.distributions import normalise
from dunno.calibration.kinds.model import ModelCalibration, transition_of
from dunno.io.links import Links
from dunno.models.model import Model
from dunno.tracking.blocks import Block
from dunno.tracking.candidates import candidates_of
from dunno.tracking.plan import Plan
from dunno.tracking.together import log_together
from dunno.types import Bools, Floats, GapEdges, GapWeights, Ints, PairPosterior
from dunno.types.stretch import Stretch

Edges = tuple[Ints, Ints, Ints]

UNLIKELY = 1e-3
"""A mother less likely to be lost than this, or a daughter less likely to have appeared, has no edges across gaps."""

PERHAPS = 0.05
"""A daughter that is more likely than this to have been born by a division may have been missed before instead."""

LEAST = 1e-15
"""Probability of what cannot be."""


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

    @cached_property
    def divisions_across(self) -> tuple[Ints, Ints, Floats]:
        """(K,) edges to the later daughter, across a gap, and to the other one, and the extra cost, of divisions."""
        triples, lags = self.problem.triples, self.stretch.lags
        if triples is None:
            return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
        swap = lags[triples.first_edge] < lags[triples.second_edge]
        later = np.where(swap, triples.second_edge, triples.first_edge)
        other = np.where(swap, triples.first_edge, triples.second_edge)
        across = lags[later] > 1
        return later[across], other[across], triples.cost[across]


def track_with_gaps(plan: Plan, block: Block) -> list[PairPosterior]:
    """A block's pairs, with edges across gaps."""
    calibration = plan.calibration
    assert isinstance(calibration, ModelCalibration)
    pairs = list(replace(block, first=0, n_pairs=len(block.movie) - 1).pairs(plan.window, plan.max_distance))
    parts = [transition_of(pair, candidates_of(plan, pair), plan.cost) for pair in pairs]
    model, stretch = calibration.posed(Stretch.of(parts))
    given = None if plan.links is None else given_edges(plan.links, stretch)
    solved = solve_with_gaps(model, stretch, plan.gate, calibration.softening.tempering, given)
    first, end = stretch.frames[[block.first, block.first + block.n_pairs]].tolist()
    seed = int(np.random.SeedSequence([plan.seed, first, end]).generate_state(1, np.uint32)[0])
    together = log_together(solved.problem, solved.found, solved.link, seed)
    own = range(block.first, block.first + block.n_pairs)
    return [calibration.apply(pair_of(solved, r, together)) for r in own]


def given_edges(links: Links, stretch: Stretch) -> Edges:
    """(G,) mothers, daughters and lags of somebody's links that skip frames."""
    begin = dict(
        zip(stretch.frames.tolist(), np.searchsorted(stretch.row_frame, np.arange(len(stretch.frames))), strict=True)
    )
    cells = {each.frame: each for each in stretch.cells}
    rows = []
    for frame in stretch.frames.tolist():
        for early, mother, daughter, gap in zip(*links.across(frame), strict=True):
            if (start := begin.get(int(early))) is not None:
                above = start + np.searchsorted(cells[int(early)].label, mother)
                rows.append((above, begin[frame] + np.searchsorted(cells[frame].label, daughter), gap + 1))
    mother, daughter, lag = np.array(rows, np.int64).reshape(-1, 3).T
    return mother, daughter, lag


def _merged(one: Edges, other: Edges, n: int) -> Edges:
    """Both, each edge once."""
    mother, daughter, lag = (np.concatenate(each) for each in zip(one, other, strict=True))
    first = np.sort(np.unique(mother * n + daughter, return_index=True)[1])
    return mother[first], daughter[first], lag[first]


def solve_with_gaps(
    model: Model, stretch: Stretch, gate: float, tempering: float = 1.0, given: Edges | None = None
) -> Solved:
    """Solve the pairs, then all of it once more with the edges across gaps that are worth looking at, or given."""
    problem = model.problem(stretch).tempered(tempering)
    found = marginals(problem)
    mother, daughter, lag = gap_candidates(model, stretch, found, gate)
    if given is not None and len(given[0]):
        mother, daughter, lag = _merged((mother, daughter, lag), given, stretch.n_rows)
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
    born = np.bincount(stretch.daughter, found.edge_dividing, minlength=stretch.n_rows)
    alone = (found.appear > UNLIKELY) | (born > PERHAPS)
    loose = stretch.is_mother & (found.disappear > UNLIKELY), stretch.is_daughter & alone
    mothers, daughters, lags = [none], [none], [none]
    bounds = np.searchsorted(stretch.row_frame, np.arange(len(stretch.frames) + 1))
    drift = np.zeros_like(stretch.place) if stretch.drift is None else stretch.drift
    for lag in range(2, missed.max_gap + 2):
        for t in range(len(stretch.frames) - lag):
            if not stretch.linked[t : t + lag].all():
                continue
            elapsed = lag if stretch.clock is None else float(stretch.clock[t + lag] - stretch.clock[t])
            reach = gate * elapsed ** (0.5 * motion.lag_power)
            early = np.flatnonzero(loose[0][bounds[t] : bounds[t + 1]]) + bounds[t]
            late = np.flatnonzero(loose[1][bounds[t + lag] : bounds[t + lag + 1]]) + bounds[t + lag]
            if len(early) and len(late):
                jumped = stretch.stage_travel[t + lag] - stretch.stage_travel[t]
                apart = stretch.place[late][None] - (stretch.place[early] + drift[early] + jumped)[:, None]
                i, j = np.nonzero(np.einsum("abd,abd->ab", apart, apart) <= reach**2)
                mothers.append(early[i])
                daughters.append(late[j])
                lags.append(np.full(len(i), lag))
    return np.concatenate(mothers), np.concatenate(daughters), np.concatenate(lags)


def pair_of(solved: Solved, r: int, together: Floats | None = None) -> PairPosterior:
    """What is believed of one transition, with the edges that lead to its daughters across gaps.

    Args:
        solved: The stretch.
        r: Which of its transitions.
        together: (N,) by row, how much likelier a link is given the one before it in its track.
    """
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
        log_together=together[daughters] if together is not None and together[daughters].any() else None,
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
        weights=_gap_weights(solved, far, begin),
    )


def _gap_weights(solved: Solved, far: Ints, begin: Ints) -> GapWeights:
    """What else a problem of all frames needs to know of some edges across gaps."""
    stretch, whole = solved.stretch, solved.problem
    assert whole.dividing_cost is not None
    number = np.full(len(whole.cost), -1, np.int64)
    number[far] = np.arange(len(far))
    later, other, cost = solved.divisions_across
    own = number[later] >= 0
    sister = stretch.daughter[other[own]]
    t = stretch.row_frame[sister]
    return GapWeights(
        dividing_cost=whole.dividing_cost[far],
        lost=whole.disappear[stretch.mother[far]],
        appear=whole.appear[stretch.daughter[far]],
        sister_edge=number[later[own]],
        sister_frame=stretch.frames[t],
        sister=sister - begin[t],
        sister_cost=cost[own],
    )


def _pair_problem(solved: Solved, near: Ints, mothers: slice, daughters: slice) -> Problem:
    """The pair's own problem, in which what gaps explain counts as appearing and disappearing.

    The weight of appearing grows as much as having no mother here is more probable than appearing, and the other way round for
    mothers: where the problem is a tree, the pair's own posterior is then that of all frames.
    """
    stretch, whole, found = solved.stretch, solved.problem, solved.found
    far = stretch.lags > 1
    n, share = stretch.n_rows, found.edge[far]
    into = np.bincount(stretch.daughter[far], share, minlength=n)
    out = np.bincount(
        stretch.mother[far], share - 0.5 * found.edge_dividing[far], minlength=n
    )  # two lead to one division
    appear = whole.appear - np.log1p(into / np.maximum(found.appear, LEAST))
    lost = whole.disappear - np.log1p(out / np.maximum(found.disappear, LEAST))
    return Problem(
        stretch.mother[near] - mothers.start,
        stretch.daughter[near] - daughters.start,
        whole.cost[near],
        mothers.stop - mothers.start,
        daughters.stop - daughters.start,
        appear=appear[daughters],
        disappear=lost[mothers],
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
