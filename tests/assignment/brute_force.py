"""Every assignment of a small problem, with its cost: the oracle that the core is held against."""

from collections.abc import Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray

from dunno.assignment import Problem


def cost_of(problem: Problem, edge: NDArray[np.int64], cost: NDArray[np.float64] | None = None) -> float:
    """Add up the cost of the assignment that gives daughter j the edge edge[j], or none where it is -1."""
    linked = edge[edge >= 0]
    load = np.bincount(problem.mother[linked], minlength=problem.n_mothers)
    weights = problem.cost if cost is None else cost
    dividing = load[problem.mother[linked]] == 2
    if problem.dividing_cost is not None:
        weights = np.where(np.isin(np.arange(len(weights)), linked[dividing]), problem.dividing_cost, weights)
    assert (load <= 2).all()
    assert (problem.daughter[linked] == np.flatnonzero(edge >= 0)).all()
    return float(
        weights[linked].sum()
        + problem.appear[edge < 0].sum()
        + problem.disappear[load == 0].sum()
        + problem.divide[load == 2].sum()
    )


def all_edge_choices(problem: Problem) -> Iterator[NDArray[np.int64]]:
    """Every assignment as an (n_daughters,) array of edges or -1, in lexicographic order."""
    options = [
        [-1, *np.flatnonzero((problem.daughter == j) & np.isfinite(problem.cost))] for j in range(problem.n_daughters)
    ]
    for choice in product(*options):
        edge = np.array(choice, dtype=np.int64)
        load = np.bincount(problem.mother[edge[edge >= 0]], minlength=problem.n_mothers)
        if (load <= 2).all():
            yield edge


def enumerate_assignments(problem: Problem) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """All assignments: (A,) costs, ascending, and (A, n_daughters) edges; equal costs in lexicographic order."""
    edges = np.stack(list(all_edge_choices(problem)))
    costs = np.array([cost_of(problem, edge) for edge in edges])
    order = np.argsort(costs, kind="stable")
    return costs[order], edges[order]
