"""Whole lineage forests drawn from the posterior: pair by pair where pairs are independent, together where gaps tie them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from statistics import NormalDist
from typing import cast

import numpy as np

from dunno.assignment import Problem, Triples, sample
from dunno.lineage.resting import rest_of, rested
from dunno.types import Bools, Floats, GapEdges, GapWeights, Ints, PairPosterior

NEGLIGIBLE = 1e-6
"""Edges across gaps that are less probable than this are never drawn."""

STRATA, FAR_SEED = 8, 1_000_003
"""How many odds of division stand for all, and how far apart their seeds are."""


@dataclass(frozen=True, eq=False)
class Run:
    """Consecutive pairs as one assignment problem: every cell as a mother against every cell as a daughter.

    Attributes:
        problem: The problem; the pairs' own edges come first, pair by pair, then those across gaps.
        first_edge: Number of each pair's first edge.
        gap_edge: For each pair, the number of each edge across a gap; -1 for those that are left out.
    """

    problem: Problem
    first_edge: list[int]
    gap_edge: list[Ints]


def draw_forests(pairs: Sequence[PairPosterior], n: int, seed: int, doubt: float = 0.0) -> list[list[PairPosterior]]:
    """Draw the links of all pairs n times; every pair has its problem. Cells rest between divisions.

    Args:
        pairs: Of the whole movie.
        n: How many forests.
        seed: Of the draws.
        doubt: How well the odds of divisions are known: the standard deviation of their common logarithm. Each forest has odds of
            its own, a few of which stand for all.
    """
    parts = min(STRATA, n) if doubt > 0 else 1
    drawn = [
        draw_links(_with_odds(pairs, doubt * shift), len(range(part, n, parts)), seed + part * FAR_SEED)
        for part, shift in enumerate(_spread(parts))
    ]
    rest = rest_of(pairs)
    return [rested(drawn[k % parts][k // parts], rest) for k in range(n)]


def _spread(parts: int) -> list[float]:
    """So many numbers that lie as those of a normal law do, with a mean of 0 and a deviation of 1."""
    places = np.array([NormalDist().inv_cdf((part + 0.5) / parts) for part in range(parts)])
    return [0.0] if parts == 1 else (places / places.std()).tolist()


def _with_odds(pairs: Sequence[PairPosterior], shift: float) -> Sequence[PairPosterior]:
    """The pairs with other log odds of all divisions."""
    if shift == 0:
        return pairs
    problems = [cast(Problem, pair.problem) for pair in pairs]
    return [
        replace(pair, problem=replace(problem, divide=problem.divide - shift))
        for pair, problem in zip(pairs, problems, strict=True)
    ]


def draw_links(pairs: Sequence[PairPosterior], n: int, seed: int) -> list[list[PairPosterior]]:
    """Draw from the posterior as it is, in which nothing keeps a cell from dividing twice in a row."""
    forests: list[list[PairPosterior]] = [[] for _ in range(n)]
    for run in tied(pairs):
        frames = [run[0].mother_frame, run[-1].daughter_frame]
        own = int(np.random.SeedSequence([seed, *frames]).generate_state(1, np.uint32)[0])
        if len(run) == 1:
            drawn = sample(cast(Problem, run[0].problem), n, own)
            chosen = [[_alone(run[0], edges)] for edges in drawn]
        else:
            joined = join(run)
            drawn = sample(joined.problem, n, own)
            chosen = [_together(run, joined, edges) for edges in drawn]
        for forest, part in zip(forests, chosen, strict=True):
            forest.extend(part)
    return forests


def tied(pairs: Sequence[PairPosterior]) -> list[list[PairPosterior]]:
    """The pairs in runs that no edge across a gap leads out of."""
    position = {pair.mother_frame: t for t, pair in enumerate(pairs)}
    begin = list(range(len(pairs)))
    for t, pair in enumerate(pairs):
        if pair.gaps is not None and (likely := pair.gaps.probability > NEGLIGIBLE).any():
            begin[t] = min(t, position[int(pair.gaps.mother_frame[likely].min())])
    runs: list[list[PairPosterior]] = []
    earliest = list(accumulate(reversed(begin), min))[::-1]  # where edges from here on reach back to
    for t, pair in enumerate(pairs):
        if t == earliest[t]:
            runs.append([])
        runs[-1].append(pair)
    return runs


def join(pairs: Sequence[PairPosterior]) -> Run:
    """One problem of several pairs."""
    table = _Table(pairs)
    near = [table.add_pair(pair) for pair in pairs]
    gaps = [table.add_gaps(pair) for pair in pairs]
    table.number_edges()
    for pair, own in zip(pairs, gaps, strict=True):
        table.add_divisions(pair, own)
    return Run(table.problem(), near, gaps)


class _Table:
    """Columns of a problem that grows pair by pair."""

    def __init__(self, pairs: Sequence[PairPosterior]) -> None:
        frames = [pairs[0].mothers, *(pair.daughters for pair in pairs)]
        begin = accumulate((len(cells) for cells in frames), initial=0)
        self.row = {cells.frame: first for cells, first in zip(frames, begin, strict=False)}
        self.n_rows = sum(len(cells) for cells in frames)
        self.n_edges = 0
        self._appear, self._lost, self._divide = (np.zeros(self.n_rows) for _ in range(3))
        self._edges: list[tuple[np.ndarray, ...]] = []
        self._triples: list[tuple[np.ndarray, ...]] = []
        self._keys, self._order = np.empty(0, np.int64), np.empty(0, np.int64)

    def add_pair(self, pair: PairPosterior) -> int:
        """A pair's own problem; the number of its first edge."""
        own, first = cast(Problem, pair.problem), self.n_edges
        early, late = self.row[pair.mother_frame], self.row[pair.daughter_frame]
        self._appear[late : late + own.n_daughters] = own.appear
        self._lost[early : early + own.n_mothers] = own.disappear
        self._divide[early : early + own.n_mothers] = own.divide
        dividing = own.cost if own.dividing_cost is None else own.dividing_cost
        self._edges.append((own.mother + early, own.daughter + late, own.cost, dividing))
        if (triples := own.triples) is not None:
            self._triples.append((triples.first_edge + first, triples.second_edge + first, triples.cost))
        self.n_edges += len(own.cost)
        return first

    def add_gaps(self, pair: PairPosterior) -> Ints:
        """A pair's edges across gaps; (G,) their numbers, -1 for those that are never drawn."""
        gaps = pair.gaps
        number = np.full(0 if gaps is None else len(gaps), -1, np.int64)
        if gaps is None or gaps.weights is None:
            return number
        kept = np.flatnonzero(gaps.probability > NEGLIGIBLE)
        number[kept] = self.n_edges + np.arange(len(kept))
        mother, daughter = self._mothers(gaps)[kept], self.row[pair.daughter_frame] + gaps.daughter[kept]
        lost, appear, dividing = (each[kept] for each in _events(gaps.weights))
        self._edges.append((mother, daughter, gaps.cost[kept], dividing))
        free, alone = np.isfinite(self._lost[mother]), np.isfinite(self._appear[daughter])  # a person may know better
        self._lost[mother[free]], self._appear[daughter[alone]] = lost[free], appear[alone]
        self.n_edges += len(kept)
        return number

    def number_edges(self) -> None:
        """Know every edge by its ends, once all are there."""
        mother, daughter = (np.concatenate([part[k] for part in self._edges]) for k in (0, 1))
        keys = mother * self.n_rows + daughter
        self._order = np.argsort(keys, kind="stable")
        self._keys = keys[self._order]

    def add_divisions(self, pair: PairPosterior, number: Ints) -> None:
        """Divisions with a daughter across a gap."""
        gaps = pair.gaps
        if gaps is None or gaps.weights is None or not len(gaps.weights.sister):
            return
        weights = gaps.weights
        rows = np.array([self.row.get(frame, -1) for frame in weights.sister_frame.tolist()])
        keys = self._mothers(gaps)[weights.sister_edge] * self.n_rows + rows + weights.sister
        place = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        later, other = number[weights.sister_edge], self._order[place]
        listed = (later >= 0) & (rows >= 0) & (self._keys[place] == keys)
        self._triples.append((later[listed], other[listed], weights.sister_cost[listed]))

    def _mothers(self, gaps: GapEdges) -> Ints:
        first = [self.row.get(frame, 0) for frame in gaps.mother_frame.tolist()]
        return np.asarray(np.array(first, np.int64) + gaps.mother)

    def problem(self) -> Problem:
        """All of it."""
        mother, daughter, cost, dividing = (np.concatenate(each) for each in zip(*self._edges, strict=True))
        columns = [np.concatenate(each) for each in zip(*self._triples, strict=True)]
        triples = Triples(columns[0], columns[1], columns[2]) if columns else None
        events = (self._appear, self._lost, self._divide)
        return Problem(mother, daughter, cost, self.n_rows, self.n_rows, *events, dividing, triples)


def _events(weights: GapWeights) -> tuple[Floats, Floats, Floats]:
    return weights.lost, weights.appear, weights.dividing_cost


def _alone(pair: PairPosterior, edges: Ints) -> PairPosterior:
    """The pair with drawn edges as its links."""
    selected = np.zeros(len(pair.mother), np.bool_)
    selected[edges[edges >= 0]] = True
    gaps = None if pair.gaps is None else replace(pair.gaps, selected=np.zeros(len(pair.gaps), np.bool_))
    return _lineage(pair, selected, gaps)


def _lineage(pair: PairPosterior, selected: Bools, gaps: GapEdges | None) -> PairPosterior:
    """The pair with drawn links. How many cells masks hold is not drawn: two links out of one are a division here."""
    return replace(pair, selected=selected, gaps=gaps, mothers_held=None, daughters_held=None)


def _together(pairs: Sequence[PairPosterior], run: Run, edges: Ints) -> list[PairPosterior]:
    """The pairs with drawn edges of their common problem as links."""
    chosen = np.zeros(len(run.problem.cost), np.bool_)
    chosen[edges[edges >= 0]] = True
    drawn = []
    for pair, first, number in zip(pairs, run.first_edge, run.gap_edge, strict=True):
        selected = chosen[first : first + len(pair.mother)]
        gaps = None if pair.gaps is None else replace(pair.gaps, selected=(number >= 0) & chosen[number])
        drawn.append(_lineage(pair, selected, gaps))
    return drawn
