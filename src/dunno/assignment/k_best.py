"""The K cheapest assignments."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dunno import _core
from dunno.assignment.problem import Problem
from dunno.assignment.solve import require_linear
from dunno.errors import ProblemError


@dataclass(frozen=True, eq=False)
class KBest:
    """The K cheapest assignments, as the cheapest and how the others differ from it.

    Assignment r has the edges of `map_edge`, except that daughter `daughter[d]` has `daughter_edge[d]` for the
    differences d from `start[r]` up to `start[r + 1]`. The first has no differences.
    """

    cost: NDArray[np.float64]  # (K,) their costs, ascending
    # (n_daughters,) index of each daughter's edge in the cheapest assignment, or -1 where it appears
    map_edge: NDArray[np.int64]
    start: NDArray[np.int64]  # (K + 1,) where each assignment's differences begin
    daughter: NDArray[np.int64]  # (D,) who differs, ascending inside an assignment
    daughter_edge: NDArray[np.int64]  # (D,) index of the edge it has instead, or -1 where it appears

    def __len__(self) -> int:
        return len(self.cost)

    @cached_property
    def edge(self) -> NDArray[np.int64]:
        """(K, n_daughters) index of each daughter's edge, or -1 where it appears; built when first asked for."""
        edge = np.tile(self.map_edge, (len(self), 1))
        row = np.repeat(np.arange(len(self)), np.diff(self.start))
        edge[row, self.daughter] = self.daughter_edge
        return edge


def k_best(problem: Problem, k: int) -> KBest:
    """Find the k cheapest assignments, exactly and in ascending order of cost (the paper's assignment sampling).

    They are distinct as sets of edges. Where there are fewer than k assignments, all of them are returned. The first is
    the one that `solve` finds. Others of equal cost are in lexicographic order of their rows in `edge`. Where several
    are tied for the last place, the problem alone decides which of them is left out. Costs are equal where they are the
    same floating-point number, as with whole numbers.

    Args:
        problem: The problem; needs divide ≥ −disappear for every mother and neither `dividing_cost` nor `triples`.
        k: How many assignments, at least 1.

    Example:
        >>> from dunno.assignment import Problem, k_best
        >>> problem = Problem([0, 0, 1], [0, 1, 1], [0.5, 1.0, 3.0], n_mothers=2, n_daughters=2)
        >>> k_best(problem, 2).cost
        array([3.5, 3.5])
    """
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise ProblemError(f"k is {k!r}; expected a whole number of assignments, at least 1")
    require_linear(problem, "k_best")
    cost, *whole = _core.k_best(problem.core, min(int(k), 2**62))
    return KBest(cost, *(np.asarray(column, np.int64) for column in whole))
