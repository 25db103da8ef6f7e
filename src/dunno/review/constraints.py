"""Decisions as hard constraints on one frame pair: edges forced or forbidden, loads fixed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from dunno.assignment import Problem, Triples
from dunno.errors import DecisionError
from dunno.review.decisions import MOTHER, TWO_CELLS, Decision
from dunno.types import Bools, Detections, Floats, Ints, PairPosterior

APPEARS, UNDECIDED = -1, -2
FORBIDDEN = 300.0
"""Natural logarithm of the odds against what was decided against, beyond what any assignment could make up for."""


@dataclass(frozen=True, eq=False)
class Constraints:
    """What was decided about a pair.

    Attributes:
        mother: (n,) each daughter's mother, -1 where she has none, -2 where nothing was decided.
        divides: (m,) mothers with exactly two daughters.
        single: (m,) mothers that do not divide.
        disappears: (m,) mothers without daughter.
        three: (m,) mothers with three daughters.
        third: (n,) the third one of them: her edge is outside the assignment, in which a mother has two at most.
        goes_on: (m,) those of `disappears` whose cell goes on: in a later frame, or in a mask with another cell.
        across: (n,) daughters whose mother is in an earlier frame than the pair's.
        also: (n,) the mother of the second cell of a mask that holds two; -2 where none was named.
        false: (n,) daughters' masks that are no cell; `mother_false` (m,) likewise.
        two: (n,) daughters' masks that hold two cells; `mother_two` (m,) likewise.
    """

    mother: Ints
    also: Ints
    divides: Bools
    single: Bools
    disappears: Bools
    three: Bools
    goes_on: Bools
    mother_false: Bools
    mother_two: Bools
    third: Bools
    across: Bools
    false: Bools
    two: Bools

    @property
    def settled(self) -> Bools:
        """(n,) daughters that were decided on."""
        return np.asarray(self.mother != UNDECIDED)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was decided, or only that nobody can say."""
        said = (self.settled, self.divides, self.single, self.disappears, self.two, self.mother_two)
        return not any(each.any() for each in said)

    @property
    def confirmed(self) -> Ints:
        """(m,) how many daughters of each mother were decided on."""
        return np.bincount(self.mother[(self.mother >= 0) & ~self.third], minlength=len(self.divides))

    def allowed(self, mother: Ints, daughter: Ints) -> Bools:
        """(E,) edges that no decision forbids by itself: a mother's confirmed daughters may leave no room."""
        own = self.mother[daughter]
        most = np.where(self.disappears, 0, np.where(self.single, 1, 2))
        room = self.confirmed[mother] < most[mother]
        return np.asarray(((own == mother) & ~self.third[daughter]) | ((own == UNDECIDED) & room))


def nothing_said(n_mothers: int, n_daughters: int) -> Constraints:
    """No constraint yet; what is decided is written into it."""
    undecided = np.full(n_daughters, UNDECIDED)
    no_mother, no_daughter = np.zeros((7, n_mothers), np.bool_), np.zeros((4, n_daughters), np.bool_)
    return Constraints(undecided, undecided.copy(), *no_mother, *no_daughter)


def index_of(cells: Detections, label: int) -> int:
    """Where a frame has the cell with this label."""
    place = int(np.searchsorted(cells.label, label))
    if place == len(cells) or cells.label[place] != label:
        raise DecisionError(f"frame {cells.frame} has no cell {label}")
    return place


def constrained(problem: Problem, said: Constraints) -> Problem:
    """The same problem in which only assignments that agree with the decisions have any weight.

    Edges that were decided against are infinite. An event that was decided against (a settled daughter appears, a mother who
    divides disappears) costs more than all else together could save: its odds are below exp(-300), which no double tells from 0.
    """
    cost = problem.cost.copy()
    dividing = (problem.cost if problem.dividing_cost is None else problem.dividing_cost).copy()
    forbidden = ~said.allowed(problem.mother, problem.daughter)
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

    If every division that the decisions leave her is impossible, each costs as much as the dearest one that is possible.
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


def with_decided_edges(pair: PairPosterior, decisions: Iterable[Decision]) -> PairPosterior:
    """The pair with every decided edge among its candidates.

    A person may know a mother that the gate left out, or that the cost holds for impossible. Such an edge costs as much as the
    pair's dearest one, whether its mother divides or not: how far she is says nothing about that.
    """
    for decision in decisions:
        near = decision.mother_frame in (None, pair.mother_frame) and decision.frame == pair.daughter_frame
        if decision.kind in (MOTHER, TWO_CELLS) and decision.mother is not None and near:
            mother = index_of(pair.mothers, decision.mother)
            pair = _with_edge(pair, mother, index_of(pair.daughters, decision.label))
    return pair


def _with_edge(pair: PairPosterior, mother: int, daughter: int) -> PairPosterior:
    place = int(np.searchsorted(pair.daughter * len(pair.mothers) + pair.mother, daughter * len(pair.mothers) + mother))
    known = place < len(pair.mother) and pair.mother[place] == mother and pair.daughter[place] == daughter
    if not known:
        pair = replace(
            pair,
            mother=np.insert(pair.mother, place, mother),
            daughter=np.insert(pair.daughter, place, daughter),
            cost=np.insert(pair.cost, place, _dearest(pair.cost)),
            log_probability=np.insert(pair.log_probability, place, -np.inf),
            selected=np.insert(pair.selected, place, False),
            problem=None if pair.problem is None else _with_place(pair.problem, pair, place, mother, daughter),
        )
    if pair.problem is None or np.isfinite(_either(pair.problem)[place]):
        return pair
    cost, dividing = (given.copy() for given in _costs(pair.problem))
    cost[place] = dividing[place] = _dearest(_either(pair.problem))
    ends = (pair.mother, pair.daughter)
    return replace(pair, problem=_again(pair.problem, *ends, cost, dividing, pair.problem.triples))


def _with_place(problem: Problem, pair: PairPosterior, place: int, mother: int, daughter: int) -> Problem:
    """The problem with one more edge, infinite for now."""
    cost, dividing = (np.insert(given, place, np.inf) for given in _costs(problem))
    ends = np.insert(pair.mother, place, mother), np.insert(pair.daughter, place, daughter)
    number = np.arange(len(problem.cost))
    number[place:] += 1
    return _again(
        problem, *ends, cost, dividing, None if problem.triples is None else problem.triples.renumbered(number)
    )


def _again(
    problem: Problem, mother: Ints, daughter: Ints, cost: Floats, dividing: Floats, triples: Triples | None
) -> Problem:
    events = (problem.appear, problem.disappear, problem.divide)
    return Problem(mother, daughter, cost, problem.n_mothers, problem.n_daughters, *events, dividing, triples)


def _costs(problem: Problem) -> tuple[Floats, Floats]:
    return problem.cost, problem.cost if problem.dividing_cost is None else problem.dividing_cost


def _either(problem: Problem) -> Floats:
    return np.minimum(*_costs(problem))


def _dearest(costs: Floats) -> float:
    return float(costs[np.isfinite(costs)].max(initial=0.0))
