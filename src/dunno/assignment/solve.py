"""The cheapest assignment (MAP)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dunno import _core
from dunno.assignment.problem import Problem
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
