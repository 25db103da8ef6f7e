"""The cheapest assignment (MAP)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dunno import _core
from dunno.assignment.checks import numbers
from dunno.assignment.marginals import Marginals, marginals
from dunno.assignment.problem import NEVER, Problem
from dunno.errors import ProblemError


@dataclass(frozen=True, eq=False)
class Solution:
    """The cheapest assignment."""

    cost: float  # Its cost
    edge: NDArray[np.int64]  # (n_daughters,) index of each daughter's edge, or -1 where it appears
    # (n_daughters,) $u_j$, the price of placing daughter j; `None` unless asked for
    daughter_dual: NDArray[np.float64] | None = None
    # (n_mothers,) $v_i$, what a place at mother i is worth; `None` unless asked for
    mother_dual: NDArray[np.float64] | None = None


def solve(problem: Problem, duals: bool = False) -> Solution:
    """Find the cheapest assignment, exactly, by successive shortest paths (the paper's Eq. 4–5).

    Args:
        problem: The problem; needs divide ≥ −disappear for every mother and neither `dividing_cost` nor `triples`.
        duals: Also return the dual potentials, which prove that no assignment is cheaper.
    """
    require_linear(problem, "solve")
    cost, edge, daughter_dual, mother_dual = _core.solve(problem.core)
    edge = np.asarray(edge, np.int64)
    return Solution(cost, edge, daughter_dual, mother_dual) if duals else Solution(cost, edge)


def require_linear(problem: Problem, door: str) -> None:
    """Refuse what is no linear assignment problem: its cheapest assignment is not a shortest path."""
    for name in ("dividing_cost", "triples"):
        if getattr(problem, name) is not None:
            given = f"a {name}, which is" if name == "dividing_cost" else f"{name}, which are"
            raise ProblemError(f"{door} cannot take {given} no linear assignment; marginals and sample can")
    if not _core.is_convex(problem.core):
        bad = int(np.argmax(problem.divide < -problem.disappear))
        raise ProblemError(
            f"{door} needs divide >= -disappear, but mother {bad} has divide {problem.divide[bad]:g} and "
            f"disappear {problem.disappear[bad]:g}; raise one of them"
        )


@dataclass(frozen=True, eq=False)
class Batch:
    """The cheapest assignment for each of K cost vectors."""

    cost: NDArray[np.float64]  # (K,) their costs
    edge: NDArray[np.int64]  # (K, n_daughters) index of each daughter's edge, or -1 where it appears


def solve_batch(problem: Problem, costs: ArrayLike) -> Batch:
    """Find the cheapest assignment for each row of costs, as `solve` would, but faster.

    Every row starts from the solution of the problem itself, so its own costs should be close to the rows'. They change
    nothing else; where a row has several cheapest assignments, though, `solve` may find another of them.

    Args:
        problem: The edges and the event costs; needs divide ≥ −disappear for every mother and neither `dividing_cost`
            nor `triples`.
        costs: (K, E) costs of the problem's edges; `inf` is an edge that does not exist in that row.

    Example:
        >>> from dunno.assignment import Problem, solve_batch
        >>> problem = Problem([0, 0, 1], [0, 1, 1], [0.5, 1.0, 3.0], n_mothers=2, n_daughters=2)
        >>> solve_batch(problem, [[0.5, 1.0, 2.5], [0.5, 1.0, float("inf")]]).edge
        array([[0, 2],
               [0, 1]])
    """
    require_linear(problem, "solve_batch")
    table = _table(costs, len(problem.cost))
    core = _with_all_edges(problem)
    try:
        cost, flat = _core.solve_batch(core, table)
        edge = np.asarray(flat, np.int64)
    except ValueError:
        raise ProblemError(_name_bad_cost(table)) from None
    return Batch(cost, edge.reshape(len(table), problem.n_daughters))


def _table(costs: ArrayLike, n_edges: int) -> NDArray[np.float64]:
    array = np.asarray(costs)
    if array.size and array.dtype.kind not in "iuf":
        raise ProblemError(f"costs is of type {array.dtype}; expected numbers")
    if array.ndim != 2 or array.shape[1] != n_edges:
        raise ProblemError(f"costs has shape {array.shape}; expected (K, {n_edges}), a row for each problem")
    return numbers(array.reshape(-1), "costs", array.size, scalar=False).reshape(array.shape)


def _name_bad_cost(table: NDArray[np.float64]) -> str:
    row, edge = np.argwhere(~(table > -np.inf))[0]
    return f"costs[{row}, {edge}] is {table[row, edge]}; give a number, or inf for an edge that does not exist"


def _with_all_edges(problem: Problem) -> _core.Problem:
    """Bring back the edges that are infinite in the problem itself, for a row may make them finite."""
    if np.isfinite(problem.cost).all():
        return problem.core
    events = (problem.appear, problem.disappear, problem.divide)
    never = 1.0 + sum(float(np.abs(event).max(initial=0.0)) for event in events)
    cost = np.where(np.isfinite(problem.cost), problem.cost, never)
    return _core.make_problem(problem.mother, problem.daughter, cost, problem.n_mothers, problem.n_daughters, *events)


NEVER_FROM = 0.01 * NEVER  # cost; exact
"""Costs above this are `NEVER`, tempered."""


class DecidedPosterior(NamedTuple):
    """The posterior's marginals, and (n_daughters,) each daughter's edge, or -1 where it appears."""

    marginals: Marginals
    edge: NDArray[np.int64]


def decide(problem: Problem) -> DecidedPosterior:
    """Find the assignment that maximises the expected number of daughters whose mother, or ⊥, is right.

    It is the cheapest one at costs −P(edge) and −P(⊥), with disappearing and dividing free. What cannot be, an edge of
    probability 0 or a division that costs `NEVER`, is never chosen.
    """
    found = marginals(problem)
    return DecidedPosterior(found, max_expected_accuracy(problem, found))


def max_expected_accuracy(problem: Problem, found: Marginals) -> NDArray[np.int64]:
    """(n_daughters,) the same from marginals that are known already: each daughter's edge, or -1."""
    cost = np.where(found.edge > 0, -found.edge, np.inf)
    ends = (problem.mother, problem.daughter, cost, problem.n_mothers, problem.n_daughters)
    free = np.zeros(problem.n_mothers)
    divide = np.where(problem.divide < NEVER_FROM, 0.0, NEVER)
    return solve(Problem.of_parts(*ends, appear=-found.appear, disappear=free, divide=divide)).edge
