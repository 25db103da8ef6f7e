"""Decisions as hard constraints on a block's problem: edges forced or forbidden, loads fixed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dunno.assignment import Problem, Triples
from dunno.errors import DecisionError
from dunno.lineage.tracks import LONGEST_GAP
from dunno.review.decisions import MOTHER, TWO_CELLS, Decision
from dunno.types import Block, Bools, Detections, Floats, Ints


@dataclass(frozen=True)
class FrameCells:
    """A frame of the output: its place among the frames, and its cells."""

    t: int
    cells: Detections


APPEARS, UNDECIDED = -1, -2
FORBIDDEN = 300.0
"""Natural logarithm of the odds against what was decided against, beyond what any assignment could make up for."""


@dataclass(frozen=True, eq=False)
class Constraints:
    """What was decided about a block's cells: n of them may be daughters, m mothers; both are all rows of the block."""

    mother: Ints  # (n,) each daughter's mother, -1 where it has none, -2 where nothing was decided
    also: Ints  # (n,) the mother of the second cell of a mask that holds two; -2 where none was named
    # (n,) the third daughter of a mother of three: its edge is outside the assignment, in which a mother has two at
    # most
    third: Bools
    false: Bools  # (n,) masks that are no cell
    two: Bools  # (n,) masks that hold two cells
    divides: Bools  # (m,) mothers with exactly two daughters
    single: Bools  # (m,) mothers that do not divide
    disappears: Bools  # (m,) mothers without daughter in the assignment
    three: Bools  # (m,) mothers with three daughters
    goes_on: Bools  # (m,) those of `disappears` whose cell goes on in a mask with another cell
    missed: Bools  # (m,) mothers whose mask is missing in the next frame: they have no daughter there

    @property
    def settled(self) -> Bools:
        """(n,) daughters that were decided on."""
        return np.asarray(self.mother != UNDECIDED)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was decided, or only that nobody can say."""
        said = (self.settled, self.divides, self.single, self.disappears, self.missed, self.two)
        return not any(each.any() for each in said)

    @property
    def confirmed(self) -> Ints:
        """(m,) how many daughters of each mother were decided on."""
        return np.bincount(self.mother[(self.mother >= 0) & ~self.third], minlength=len(self.divides))

    def allowed(self, mother: Ints, daughter: Ints, gap: Ints | int = 0) -> Bools:
        """(E,) edges that no decision forbids by itself: a mother's confirmed daughters may leave no room."""
        own = self.mother[daughter]
        most = np.where(self.disappears, 0, np.where(self.single, 1, 2))
        room = (self.confirmed[mother] < most[mother]) & ~(self.missed[mother] & (np.asarray(gap) == 0))
        return np.asarray(((own == mother) & ~self.third[daughter]) | ((own == UNDECIDED) & room))


def no_constraints(n_mothers: int, n_daughters: int) -> Constraints:
    """No constraint yet; what is decided is written into it."""
    undecided = np.full(n_daughters, UNDECIDED)
    no_mother, no_daughter = np.zeros((6, n_mothers), np.bool_), np.zeros((3, n_daughters), np.bool_)
    return Constraints(undecided, undecided.copy(), *no_daughter, *no_mother)


def index_of(cells: Detections, label: int) -> int:
    """Where a frame has the cell with this label."""
    place = int(np.searchsorted(cells.label, label))
    if place == len(cells) or cells.label[place] != label:
        raise DecisionError(f"frame {cells.frame} has no cell {label}")
    return place


def row_of(block: Block, frame: int, label: int) -> int:
    """The row of a cell of a block; refused where there is none."""
    t = int(np.searchsorted(block.frames, frame))
    if t == len(block.frames) or block.frames[t] != frame:
        raise DecisionError(f"frame {frame} has no cells in this output")
    return int(block.begin[t]) + index_of(block.cells.at(t), label)


def constrained(problem: Problem, said: Constraints, gap: Ints | int = 0) -> Problem:
    """The same problem in which only assignments that agree with the decisions have any weight.

    Edges that were decided against are infinite. An event that was decided against (a settled daughter appears, a mother who
    divides disappears) costs more than all else together could save: its odds are below exp(-300), which no double tells from 0.
    """
    cost = problem.cost.copy()
    dividing = (problem.cost if problem.dividing_cost is None else problem.dividing_cost).copy()
    forbidden = ~said.allowed(problem.mother, problem.daughter, gap)
    cost[forbidden] = dividing[forbidden] = np.inf
    dividing[(said.single | said.disappears)[problem.mother]] = np.inf
    cost[said.divides[problem.mother]] = np.inf
    much = _beyond(problem)
    appear = problem.appear + np.where((said.mother >= 0) & ~said.third, much, 0.0)
    disappear = problem.disappear + np.where(said.divides, much, 0.0)
    ends = (problem.mother, problem.daughter, cost, problem.n_mothers, problem.n_daughters)
    triples = _decided_divisions(problem, said, dividing)
    return Problem(*ends, appear, disappear, problem.divide, dividing, triples)


def _decided_divisions(problem: Problem, said: Constraints, dividing: Floats) -> Triples | None:
    """The problem's triples, where a mother that was decided to divide can do so.

    If every division that the decisions leave it is impossible, each costs as much as the dearest one that is possible.
    """
    triples = problem.triples
    if triples is None or np.isfinite(triples.cost).all():
        return triples
    cost = triples.cost.copy()
    for i in np.flatnonzero(said.divides | (said.confirmed == 2)).tolist():
        edges = np.flatnonzero((problem.mother == i) & np.isfinite(dividing))
        own = edges[said.mother[problem.daughter[edges]] == i]
        listed = np.isin(triples.first_edge, edges) & np.isin(triples.second_edge, edges)
        left = listed & (np.isin(triples.first_edge, own).astype(int) + np.isin(triples.second_edge, own) == len(own))
        n_left = math.comb(len(edges) - len(own), 2 - len(own))
        if left.sum() == n_left and np.isinf(cost[left]).all():
            cost[left] = _dearest(triples.cost)
    return replace(triples, cost=cost)


def _beyond(problem: Problem) -> float:
    """A cost that no assignment could make up for: more than twice what any of them costs, or saves."""
    edges = np.abs(problem.cost)
    if problem.dividing_cost is not None:
        edges = np.maximum(np.where(np.isfinite(edges), edges, 0.0), np.abs(problem.dividing_cost))
    dearest = np.abs(problem.appear)
    finite = np.isfinite(edges)
    np.maximum.at(dearest, problem.daughter[finite], edges[finite])
    events = np.maximum(np.abs(problem.disappear), np.abs(problem.divide) + _dearest_extra(problem))
    return 2 * float(dearest.sum() + events.sum()) + FORBIDDEN


def _dearest_extra(problem: Problem) -> Floats:
    """(m,) the most that triples add to a division of each mother, or save."""
    extra = np.zeros(problem.n_mothers)
    if problem.triples is not None:
        finite = np.isfinite(problem.triples.cost)
        mother = problem.mother[problem.triples.first_edge[finite]]
        np.maximum.at(extra, mother, np.abs(problem.triples.cost[finite]))
    return extra


def with_decided_edges(block: Block, decisions: Iterable[Decision]) -> Block:
    """The block with every decided edge among its candidates.

    A person may know a mother that the gate left out, or that the cost holds for impossible. Such an edge costs as much as the
    dearest one into its frame, whether its mother divides or not: how far it is says nothing about that.
    """
    for decision in decisions:
        t = int(np.searchsorted(block.frames, decision.frame))
        own = t in block.own and block.frames[t] == decision.frame
        if decision.kind in (MOTHER, TWO_CELLS) and decision.mother is not None and own:
            before = int(block.frames[t - 1]) if decision.mother_frame is None else decision.mother_frame
            if before >= block.frames[0]:
                block = _with_edge(
                    block, t, row_of(block, before, decision.mother), row_of(block, decision.frame, decision.label)
                )
    return block


def _with_edge(block: Block, t: int, mother: int, daughter: int) -> Block:
    near, far = block.near(t), block.far(t)
    gap = t - int(block.frame_of[mother]) - 1
    if gap >= LONGEST_GAP:
        raise DecisionError(f"a link across {gap} frames; {LONGEST_GAP - 1} can be skipped at most")
    known = np.flatnonzero((block.mother == mother) & (block.daughter == daughter))
    n = len(block.cells)
    keys = block.daughter[near] * n + block.mother[near]
    place = far.stop if gap else near.start + int(np.searchsorted(keys, daughter * n + mother))
    if not len(known):
        row = {"mother": mother, "daughter": daughter, "gap": gap, "cost": _dearest(block.cost[near])}
        row |= {"log_probability": -np.inf, "selected": False}
        columns: dict[str, Any] = {name: np.insert(getattr(block, name), place, each) for name, each in row.items()}
        problem = None if block.problem is None else _with_place(block.problem, place, mother, daughter)
        block = replace(block, **columns, samples=block.samples[:0], problem=problem)
    place = int(known[0]) if len(known) else place
    if block.problem is None or np.isfinite(_either(block.problem)[place]):
        return block
    cost, dividing = (given.copy() for given in _costs(block.problem))
    cost[place] = dividing[place] = _dearest(_either(block.problem)[block.near(t)])
    return replace(block, problem=replace(block.problem, cost=cost, dividing_cost=dividing))


def _with_place(problem: Problem, place: int, mother: int, daughter: int) -> Problem:
    """The problem with one more edge, infinite for now."""
    cost, dividing = (np.insert(given, place, np.inf) for given in _costs(problem))
    ends = np.insert(problem.mother, place, mother), np.insert(problem.daughter, place, daughter)
    number = np.arange(len(problem.cost))
    number[place:] += 1
    triples = None if problem.triples is None else problem.triples.renumbered(number)
    events = (problem.appear, problem.disappear, problem.divide)
    return Problem(*ends, cost, problem.n_mothers, problem.n_daughters, *events, dividing, triples)


def _costs(problem: Problem) -> tuple[Floats, Floats]:
    return problem.cost, problem.cost if problem.dividing_cost is None else problem.dividing_cost


def _either(problem: Problem) -> Floats:
    return np.minimum(*_costs(problem))


def _dearest(costs: Floats) -> float:
    return float(costs[np.isfinite(costs)].max(initial=0.0))
