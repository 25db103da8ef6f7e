"""Every assignment of a small problem with its cost: the oracle for marginals and samples."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from dunno.assignment import Problem


@dataclass(frozen=True)
class Enumeration:
    """All assignments of one problem."""

    edge: NDArray[np.int64]  # (A, n_daughters)
    cost: NDArray[np.float64]  # (A,)
    probability: NDArray[np.float64]  # (A,)
    log_evidence: float


@dataclass(frozen=True)
class Expected:
    """The marginals, added up assignment by assignment."""

    edge: NDArray[np.float64]
    edge_dividing: NDArray[np.float64]
    appear: NDArray[np.float64]
    disappear: NDArray[np.float64]
    divide: NDArray[np.float64]
    log_evidence: float


def assignments(problem: Problem) -> Iterator[tuple[tuple[int, ...], float]]:
    """Each assignment of finite cost, as one edge or -1 per daughter, with its cost."""
    options = [[-1, *np.flatnonzero(problem.daughter == j)] for j in range(problem.n_daughters)]
    for chosen in product(*options):
        links = [int(e) for e in chosen if e >= 0]
        load = np.bincount(problem.mother[links], minlength=problem.n_mothers)
        if (load > 2).any():
            continue
        cost = sum(float(problem.appear[j]) for j, e in enumerate(chosen) if e < 0)
        cost += float(problem.disappear[load == 0].sum() + problem.divide[load == 2].sum())
        for e in links:
            divides = load[problem.mother[e]] == 2 and problem.dividing_cost is not None
            cost += float(problem.dividing_cost[e] if divides else problem.cost[e])  # type: ignore[index]
        if np.isfinite(cost):
            yield tuple(int(e) for e in chosen), cost


def enumerate_assignments(problem: Problem) -> Enumeration:
    found = list(assignments(problem))
    edge = np.array([chosen for chosen, _ in found], dtype=np.int64).reshape(len(found), problem.n_daughters)
    cost = np.array([cost for _, cost in found])
    weight = np.exp(cost.min() - cost)
    return Enumeration(edge, cost, weight / weight.sum(), float(np.log(weight.sum()) - cost.min()))


def expected_marginals(problem: Problem) -> Expected:
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
    return Expected(edge, edge_dividing, appear, disappear, divide, every.log_evidence)
