"""Every assignment of a small problem, with its cost: the oracle that the core is held against."""

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from dunno.assignment import Marginals, Problem


def cost_of(problem: Problem, edge: NDArray[np.int64]) -> float:
    """Add up the cost of the assignment that gives daughter j the edge edge[j], or none where it is -1."""
    assert (loads(problem, edge[None]) <= 2).all()
    assert (problem.daughter[edge[edge >= 0]] == np.flatnonzero(edge >= 0)).all()
    return float(costs_of(problem, edge[None])[0])


def costs_of(problem: Problem, edge: NDArray[np.int64]) -> NDArray[np.float64]:
    """(A,) costs of (A, n_daughters) assignments."""
    load = loads(problem, edge)
    price = np.append(problem.cost, 0.0)[edge]
    if problem.dividing_cost is not None:
        price = np.where(has_sister(problem, edge), np.append(problem.dividing_cost, 0.0)[edge], price)
    appear = np.where(edge < 0, problem.appear, 0.0).sum(axis=1)
    disappear = np.where(load == 0, problem.disappear, 0.0).sum(axis=1)
    divide = np.where(load == 2, problem.divide, 0.0).sum(axis=1)
    extra = 0.0
    if problem.triples is not None:
        extra = np.where(chosen_triples(problem, edge), problem.triples.cost, 0.0).sum(axis=1)
    return np.asarray(price.sum(axis=1) + appear + disappear + divide + extra)


def loads(problem: Problem, edge: NDArray[np.int64]) -> NDArray[np.int64]:
    """(A, n_mothers) how many daughters each mother has."""
    mother = np.append(problem.mother, -1)[edge]
    return np.asarray((mother[:, :, None] == np.arange(problem.n_mothers)).sum(axis=1))


def has_sister(problem: Problem, edge: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(A, n_daughters) whether each daughter's mother divides."""
    mother = np.append(problem.mother, -1)[edge]
    return np.asarray((mother >= 0) & ((mother[:, :, None] == mother[:, None, :]).sum(axis=2) == 2))


def chosen_triples(problem: Problem, edge: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(A, K) which of the problem's triples each assignment has."""
    assert problem.triples is not None
    first, second = problem.triples.first_edge, problem.triples.second_edge
    return np.asarray((edge[:, problem.daughter[first]] == first) & (edge[:, problem.daughter[second]] == second))


def assignments(problem: Problem) -> NDArray[np.int64]:
    """Every assignment as a row of n_daughters edges or -1, in lexicographic order."""
    options = [[-1, *np.flatnonzero(problem.daughter == j).tolist()] for j in range(problem.n_daughters)]
    choices = list(product(*options))
    edge = np.array(choices, dtype=np.int64).reshape(len(choices), problem.n_daughters)
    return np.asarray(edge[(loads(problem, edge) <= 2).all(axis=1)])


@dataclass(frozen=True)
class Enumeration:
    """All assignments of finite cost, the cheapest first, equals in lexicographic order."""

    cost: NDArray[np.float64]  # (A,)
    edge: NDArray[np.int64]  # (A, n_daughters)

    @property
    def probability(self) -> NDArray[np.float64]:
        """(A,) their posterior."""
        weight = np.exp(self.cost[0] - self.cost)
        return np.asarray(weight / weight.sum(), np.float64)

    @property
    def log_evidence(self) -> float:
        """The logarithm of the sum of all exp(-cost)."""
        return float(np.log(np.exp(self.cost[0] - self.cost).sum()) - self.cost[0])


def enumerate_assignments(problem: Problem) -> Enumeration:
    edge = assignments(problem)
    cost = costs_of(problem, edge)
    order = np.argsort(cost, kind="stable")[: np.isfinite(cost).sum()]
    return Enumeration(cost[order], edge[order])


def expected_marginals(problem: Problem) -> Marginals:
    """The marginals, added up over all assignments."""
    every = enumerate_assignments(problem)
    p, load, divides = every.probability, loads(problem, every.edge), has_sister(problem, every.edge)

    def of_edges(chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
        weight = np.broadcast_to(p[:, None], chosen.shape)[chosen]
        return np.bincount(every.edge[chosen], weight, minlength=len(problem.cost))

    edges = of_edges(every.edge >= 0), of_edges(divides)
    events = p @ (every.edge < 0), p @ (load == 0), p @ (load == 2)
    triple = None if problem.triples is None else p @ chosen_triples(problem, every.edge)
    return Marginals(*edges, *events, every.log_evidence, exact=True, triple=triple)
