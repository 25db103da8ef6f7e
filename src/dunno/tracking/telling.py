"""What is believed of a solved stretch, told pair by pair.

Everything is first worked out for all pairs at once, as if they were one pair in which every row is a mother and every row a
daughter, and then cut: calls cost more than cells do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from dunno.assignment import Marginals, Problem, Triples
from dunno.assignment.distributions import normalise
from dunno.types import Bools, Detections, Floats, GapEdges, GapWeights, Held, Ints, PairPosterior
from dunno.types.stretch import Stretch

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
        state: (N, 3) how probably each mask holds no cell, one or two; `None` where each is taken for one.
        together: (N,) by row, how much likelier a link is given the one before it in its track; `None` where nobody asked.
    """

    stretch: Stretch
    problem: Problem
    found: Marginals
    link: Bools
    state: Floats | None = None
    together: Floats | None = None

    @cached_property
    def begin(self) -> Ints:
        """(T + 1,) the first row of each frame, and the end."""
        return np.searchsorted(self.stretch.row_frame, np.arange(len(self.stretch.frames) + 1))

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


def tell_pairs(
    solved: Solved,
    transitions: Sequence[int],
    calibrated: Callable[[PairPosterior], PairPosterior] = lambda whole: whole,
) -> list[PairPosterior]:
    """What is believed of some transitions, each with the edges that lead to its daughters across gaps.

    Args:
        solved: The stretch.
        transitions: Which of its transitions, in ascending order.
        calibrated: What a calibration makes of the probabilities.
    """
    stretch = solved.stretch
    early, late = stretch.transitions[list(transitions)].reshape(-1, 2).T
    told = np.zeros(len(stretch.frames), np.bool_)
    told[late] = True
    edges = np.flatnonzero(told[stretch.row_frame[stretch.daughter]])
    is_near = stretch.lags[edges] == 1
    near, far = edges[is_near], edges[~is_near]
    near = near[np.lexsort((stretch.mother[near], stretch.daughter[near]))]
    far = far[np.argsort(stretch.row_frame[stretch.daughter[far]], kind="stable")]
    return _cut(calibrated(_as_one(solved, near, far)), solved, far, early.tolist(), late.tolist())


def _as_one(solved: Solved, near: Ints, far: Ints) -> PairPosterior:
    """All of it as one pair; mothers of edges across gaps are numbered within their frames."""
    stretch, found, cells = solved.stretch, solved.found, _joined(solved.stretch.cells)
    mother, daughter = stretch.mother[near], stretch.daughter[near]
    earlier = np.bincount(stretch.daughter[far], found.edge[far], minlength=stretch.n_rows)
    with np.errstate(divide="ignore"):
        logs = np.log(found.edge[near])
        none = np.log(np.clip(found.appear + earlier, 0.0, 1.0))
        spread = normalise(logs, none, daughter)
        lost, divides = np.log(found.disappear), np.log(found.divide)
        as_believed = None if solved.state is None else np.log(np.minimum(found.edge[near], 1.0))
    held = None if solved.state is None else Held(solved.state[:, 0], solved.state[:, 2])
    return PairPosterior(
        mothers=cells,
        daughters=cells,
        mother=mother,
        daughter=daughter,
        cost=solved.problem.cost[near],
        log_probability=spread.log_probability if as_believed is None else as_believed,
        log_no_mother=spread.log_no_mother,
        entropy=spread.entropy,
        selected=solved.link[near],
        log_disappear=lost,
        log_divide=divides,
        problem=_near_problem(solved, near),
        gaps=_gap_edges(solved, far, cells.label),
        log_together=solved.together,
        daughters_held=held,
        mothers_held=held,
    )


def _joined(cells: Sequence[Detections]) -> Detections:
    label, place, area, bbox = (
        np.concatenate([getattr(each, name) for each in cells]) for name in ("label", "centroid", "area", "bbox")
    )
    return Detections(label, place, area, bbox)


def _gap_edges(solved: Solved, far: Ints, label: Ints) -> GapEdges:
    stretch = solved.stretch
    mother = stretch.mother[far]
    t = stretch.row_frame[mother]
    with np.errstate(divide="ignore"):
        logs = np.log(solved.found.edge[far])
    return GapEdges(
        mother_frame=stretch.frames[t],
        mother=mother - solved.begin[t],
        mother_label=label[mother],
        daughter=stretch.daughter[far],
        gap=stretch.lags[far] - 1,
        cost=solved.problem.cost[far],
        log_probability=logs,
        selected=solved.link[far],
        weights=_gap_weights(solved, far),
    )


def _gap_weights(solved: Solved, far: Ints) -> GapWeights:
    """What else a problem of all frames needs to know of some edges across gaps; divisions in the order of their edges' frames."""
    stretch, whole = solved.stretch, solved.problem
    assert whole.dividing_cost is not None
    number = _numbers(far, len(whole.cost))
    later, other, cost = solved.divisions_across
    own = np.flatnonzero(number[later] >= 0)
    own = own[np.argsort(stretch.row_frame[stretch.daughter[later[own]]], kind="stable")]
    sister = stretch.daughter[other[own]]
    t = stretch.row_frame[sister]
    return GapWeights(
        dividing_cost=whole.dividing_cost[far],
        lost=whole.disappear[stretch.mother[far]],
        appear=whole.appear[stretch.daughter[far]],
        sister_edge=number[later[own]],
        sister_frame=stretch.frames[t],
        sister=sister - solved.begin[t],
        sister_cost=cost[own],
    )


def _near_problem(solved: Solved, near: Ints) -> Problem:
    """The problem of neighbouring frames, in which what gaps explain counts as appearing and disappearing.

    The weight of appearing grows as much as having no mother here is more probable than appearing, and the other way round for
    mothers: where the problem is a tree, a pair's own posterior is then that of all frames. Divisions are in the order of frames.
    """
    stretch, whole, found = solved.stretch, solved.problem, solved.found
    far = stretch.lags > 1
    n, share = stretch.n_rows, found.edge[far]
    into = np.bincount(stretch.daughter[far], share, minlength=n)
    out = np.bincount(
        stretch.mother[far], share - 0.5 * found.edge_dividing[far], minlength=n
    )  # two lead to one division
    triples = None if whole.triples is None else whole.triples.renumbered(_numbers(near, len(whole.cost)))
    if triples is not None:
        order = np.argsort(stretch.row_frame[stretch.daughter[near[triples.first_edge]]], kind="stable")
        triples = Triples(triples.first_edge[order], triples.second_edge[order], triples.cost[order])
    return Problem.of_parts(
        stretch.mother[near],
        stretch.daughter[near],
        whole.cost[near],
        n,
        n,
        appear=whole.appear - np.log1p(into / np.maximum(found.appear, LEAST)),
        disappear=whole.disappear - np.log1p(out / np.maximum(found.disappear, LEAST)),
        divide=whole.divide,
        dividing_cost=None if whole.dividing_cost is None else whole.dividing_cost[near],
        triples=triples,
    )


def _numbers(edges: Ints, n_edges: int) -> Ints:
    """(E,) the place of each edge in a list of some; -1 for the others."""
    number = np.full(n_edges, -1, np.int64)
    number[edges] = np.arange(len(edges))
    return number


def _cut(
    whole: PairPosterior, solved: Solved, far: Ints, early: Sequence[int], late: Sequence[int]
) -> list[PairPosterior]:
    """The pairs between the earlier and the later frames."""
    stretch, begin = solved.stretch, solved.begin.tolist()
    light = {t: stretch.cells[t].without_pixels() for t in {*early, *late}}
    near_ends = np.searchsorted(whole.daughter, solved.begin)
    far_ends = np.searchsorted(stretch.row_frame[stretch.daughter[far]], np.arange(len(begin)))
    triples, gaps = _triples_by_frame(whole, near_ends), _gaps_by_frame(whole, far_ends, begin)
    pairs = []
    for t, u in zip(early, late, strict=True):
        mothers, daughters = slice(begin[t], begin[t + 1]), slice(begin[u], begin[u + 1])
        rows = _Rows(mothers, daughters, slice(*near_ends[u : u + 2].tolist()))
        pairs.append(_part(whole, light[t], light[u], rows, triples[u], gaps[u]))
    return pairs


@dataclass(frozen=True)
class _Rows:
    """Which rows and edges are a pair's."""

    mothers: slice
    daughters: slice
    edges: slice


def _part(
    whole: PairPosterior,
    mothers: Detections,
    daughters: Detections,
    rows: _Rows,
    triples: Triples | None,
    gaps: GapEdges | None,
) -> PairPosterior:
    problem, edges = whole.problem, rows.edges
    assert problem is not None and whole.log_disappear is not None and whole.log_divide is not None
    mother, daughter = whole.mother[edges] - rows.mothers.start, whole.daughter[edges] - rows.daughters.start
    together = None if whole.log_together is None else whole.log_together[rows.daughters]
    return PairPosterior(
        mothers=mothers,
        daughters=daughters,
        mother=mother,
        daughter=daughter,
        cost=whole.cost[edges],
        log_probability=whole.log_probability[edges],
        log_no_mother=whole.log_no_mother[rows.daughters],
        entropy=whole.entropy[rows.daughters],
        selected=whole.selected[edges],
        log_disappear=whole.log_disappear[rows.mothers],
        log_divide=whole.log_divide[rows.mothers],
        problem=Problem.of_parts(
            mother,
            daughter,
            problem.cost[edges],
            len(mothers),
            len(daughters),
            appear=problem.appear[rows.daughters],
            disappear=problem.disappear[rows.mothers],
            divide=problem.divide[rows.mothers],
            dividing_cost=None if problem.dividing_cost is None else problem.dividing_cost[edges],
            triples=triples,
        ),
        gaps=gaps,
        log_together=together if together is not None and together.any() else None,
        mothers_held=_held(whole.mothers_held, rows.mothers),
        daughters_held=_held(whole.daughters_held, rows.daughters),
    )


def _held(held: Held | None, rows: slice) -> Held | None:
    return None if held is None else Held(held.p_false[rows], held.p_two[rows])


def _triples_by_frame(whole: PairPosterior, ends: Ints) -> list[Triples | None]:
    """The divisions into each frame, numbered by the edges that lead there."""
    assert whole.problem is not None
    triples = whole.problem.triples
    if triples is None:
        return [None] * (len(ends) - 1)
    first, second = triples.first_edge, triples.second_edge
    return [
        Triples(first[own] - begin, second[own] - begin, triples.cost[own])
        for begin, own in zip(ends.tolist(), _slices(first, ends), strict=False)
    ]


def _gaps_by_frame(whole: PairPosterior, ends: Ints, begin: Sequence[int]) -> list[GapEdges | None]:
    """The edges across gaps into each frame; `None` where there are none."""
    gaps = whole.gaps
    assert gaps is not None and gaps.weights is not None
    sisters = _slices(gaps.weights.sister_edge, ends)
    edges = [slice(*each) for each in pairwise(ends.tolist())]
    return [
        None if own.start == own.stop else _part_of_gaps(gaps, own, those, first)
        for own, those, first in zip(edges, sisters, begin, strict=False)
    ]


def _slices(edge: Ints, ends: Ints) -> list[slice]:
    """Which of some edges, in the order of frames, lead into each frame; `ends` has the first edge of each frame, and the end."""
    frame = np.searchsorted(ends, edge, side="right") - 1
    return [slice(*each) for each in pairwise(np.searchsorted(frame, np.arange(len(ends))).tolist())]


def _part_of_gaps(gaps: GapEdges, own: slice, sisters: slice, first: int) -> GapEdges:
    weights = gaps.weights
    assert weights is not None
    return GapEdges(
        mother_frame=gaps.mother_frame[own],
        mother=gaps.mother[own],
        mother_label=gaps.mother_label[own],
        daughter=gaps.daughter[own] - first,
        gap=gaps.gap[own],
        cost=gaps.cost[own],
        log_probability=gaps.log_probability[own],
        selected=gaps.selected[own],
        weights=GapWeights(
            dividing_cost=weights.dividing_cost[own],
            lost=weights.lost[own],
            appear=weights.appear[own],
            sister_edge=weights.sister_edge[sisters] - own.start,
            sister_frame=weights.sister_frame[sisters],
            sister=weights.sister[sisters],
            sister_cost=weights.sister_cost[sisters],
        ),
    )
