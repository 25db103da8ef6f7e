"""Every assignment of a small problem, with its cost: the oracle that the core is held against."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from dunno.assignment import Marginals, Problem


def cost_of(problem: Problem, edge: NDArray[np.int64]) -> float:
    """Add up the cost of the assignment that gives daughter j the edge edge[j], or none where it is -1."""
    linked = edge[edge >= 0]
    load = np.bincount(problem.mother[linked], minlength=problem.n_mothers)
    assert (load <= 2).all()
    assert (problem.daughter[linked] == np.flatnonzero(edge >= 0)).all()
    cost = problem.cost[linked]
    if problem.dividing_cost is not None:
        cost = np.where(load[problem.mother[linked]] == 2, problem.dividing_cost[linked], cost)
    appears, disappears, divides = edge < 0, load == 0, load == 2
    events = problem.appear[appears].sum() + problem.disappear[disappears].sum() + problem.divide[divides].sum()
    return float(cost.sum() + events)


def assignments(problem: Problem) -> Iterator[NDArray[np.int64]]:
    """Every assignment as an (n_daughters,) array of edges or -1, in lexicographic order."""
    options = [[-1, *np.flatnonzero(problem.daughter == j)] for j in range(problem.n_daughters)]
    for choice in product(*options):
        edge = np.array(choice, dtype=np.int64)
        if (np.bincount(problem.mother[edge[edge >= 0]], minlength=1) <= 2).all():
            yield edge


@dataclass(frozen=True)
class Enumeration:
    """All assignments of finite cost, the cheapest first, equals in lexicographic order."""

    cost: NDArray[np.float64]  # (A,)
    edge: NDArray[np.int64]  # (A, n_daughters)

    @property
    def probability(self) -> NDArray[np.float64]:
        """(A,) their posterior."""
        weight = np.exp(self.cost[0] - self.cost)
        return np.asarray(weight / weight.sum())

    @property
    def log_evidence(self) -> float:
        """The logarithm of the sum of all exp(-cost)."""
        return float(np.log(np.exp(self.cost[0] - self.cost).sum()) - self.cost[0])


def enumerate_assignments(problem: Problem) -> Enumeration:
    edge = np.stack(list(assignments(problem)))
    cost = np.array([cost_of(problem, row) for row in edge])
    order = np.argsort(cost, kind="stable")[: np.isfinite(cost).sum()]
    return Enumeration(cost[order], edge[order])


def expected_marginals(problem: Problem) -> Marginals:
    """The marginals, added up assignment by assignment."""
    every = enumerate_assignments(problem)
    edge, edge_dividing = np.zeros(len(problem.cost)), np.zeros(len(problem.cost))
    disappear, divide = np.zeros(problem.n_mothers), np.zeros(problem.n_mothers)
    for chosen, p in zip(every.edge, every.probability, strict=True):
        links = chosen[chosen >= 0]
        load = np.bincount(problem.mother[links], minlength=problem.n_mothers)
        edge[links] += p
        edge_dividing[links[load[problem.mother[links]] == 2]] += p
        disappear[load == 0] += p
        divide[load == 2] += p
    appear = (every.probability[:, None] * (every.edge < 0)).sum(axis=0)
    return Marginals(edge, edge_dividing, appear, disappear, divide, every.log_evidence, exact=True)
