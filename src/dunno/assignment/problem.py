"""The assignment problem: candidate edges, their costs, and what appearing, disappearing and dividing cost."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dunno import _core
from dunno.errors import ProblemError


@dataclass(frozen=True, eq=False)
class Problem:
    r"""Which mother does each daughter come from?

    An assignment $A$ gives every daughter one of her edges or none, and every mother at most two daughters:

    $$cost(A) = \sum_{e \in A} w_e + \sum_{j\ appears} w_{a,j} + \sum_{i\ disappears} w_{d,i}
      + \sum_{i\ divides} w_{div,i}$$

    Args:
        mother: (E,) index of each edge's mother.
        daughter: (E,) index of each edge's daughter.
        cost: (E,) cost of each edge; `inf` is an edge that does not exist.
        n_mothers: Number of mothers, those without edges included.
        n_daughters: Number of daughters, those without edges included.
        appear: Cost of a daughter without mother, a number or (n_daughters,).
        disappear: Cost of a mother without daughter, a number or (n_mothers,).
        divide: Cost of a mother with two daughters, a number or (n_mothers,).
        dividing_cost: (E,) cost of each edge when its mother divides; `None` means `cost`.

    Example:
        >>> from dunno.assignment import Problem, solve
        >>> problem = Problem([0, 0, 1], [0, 1, 1], [0.5, 1.0, 2.5], n_mothers=2, n_daughters=2)
        >>> solve(problem).edge
        array([0, 2])
    """

    mother: NDArray[np.int64]
    daughter: NDArray[np.int64]
    cost: NDArray[np.float64]
    n_mothers: int
    n_daughters: int
    appear: NDArray[np.float64] = 2.0  # type: ignore[assignment]
    disappear: NDArray[np.float64] = 2.0  # type: ignore[assignment]
    divide: NDArray[np.float64] = 0.0  # type: ignore[assignment]
    dividing_cost: NDArray[np.float64] | None = None
    core: _core.Problem = field(init=False, repr=False)

    def __init__(
        self,
        mother: ArrayLike,
        daughter: ArrayLike,
        cost: ArrayLike,
        n_mothers: int,
        n_daughters: int,
        appear: ArrayLike = 2.0,
        disappear: ArrayLike = 2.0,
        divide: ArrayLike = 0.0,
        dividing_cost: ArrayLike | None = None,
    ) -> None:
        def keep(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        keep("n_mothers", _count(n_mothers, "n_mothers"))
        keep("n_daughters", _count(n_daughters, "n_daughters"))
        keep("mother", _indices(mother, "mother"))
        keep("daughter", _indices(daughter, "daughter"))
        n_edges = len(self.mother)
        if len(self.daughter) != n_edges:
            raise ProblemError(f"{n_edges} mothers but {len(self.daughter)} daughters; an edge has one of each")
        keep("cost", _numbers(cost, "cost", n_edges, scalar=False))
        keep("appear", _numbers(appear, "appear", self.n_daughters))
        keep("disappear", _numbers(disappear, "disappear", self.n_mothers))
        keep("divide", _numbers(divide, "divide", self.n_mothers))
        if dividing_cost is not None:
            dividing_cost = _numbers(dividing_cost, "dividing_cost", n_edges, scalar=False)
        keep("dividing_cost", dividing_cost)
        keep("core", self._build())

    def _build(self) -> _core.Problem:
        try:
            return _core.make_problem(
                self.mother,
                self.daughter,
                self.cost,
                self.n_mothers,
                self.n_daughters,
                self.appear,
                self.disappear,
                self.divide,
                self.dividing_cost,
            )
        except ValueError as error:
            raise ProblemError(str(error)) from None

    def tempered(self, tempering: float) -> "Problem":
        """The same with all costs, those of events included, multiplied by a number: below 1, everything is less certain."""
        dividing = None if self.dividing_cost is None else tempering * self.dividing_cost
        events = (tempering * self.appear, tempering * self.disappear, tempering * self.divide)
        ends = (self.mother, self.daughter, tempering * self.cost, self.n_mothers, self.n_daughters)
        return Problem(*ends, *events, dividing)

    def __reduce__(self) -> tuple[type["Problem"], tuple[Any, ...]]:
        events = (self.appear, self.disappear, self.divide)
        return Problem, (
            self.mother,
            self.daughter,
            self.cost,
            self.n_mothers,
            self.n_daughters,
            *events,
            self.dividing_cost,
        )


def _count(value: object, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        raise ProblemError(f"{name} is {value!r}; expected a whole number of cells, zero or more")
    return int(value)


def _indices(values: ArrayLike, name: str) -> NDArray[np.int64]:
    array = np.asarray(values)
    if array.size == 0 and array.ndim == 1:
        array = array.astype(np.int64)
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
        raise ProblemError(
            f"{name} is an array of {array.dtype} and shape {array.shape}; expected a flat list of whole numbers"
        )
    if array.dtype == np.uint64 and array.size and array.max() > np.iinfo(np.int64).max:
        raise ProblemError(f"{name} holds an index above 2^63")
    return np.ascontiguousarray(array, dtype=np.int64)


def _numbers(values: ArrayLike, name: str, length: int, scalar: bool = True) -> NDArray[np.float64]:
    array = np.asarray(values)
    if array.size and array.dtype.kind not in "iuf":
        raise ProblemError(f"{name} is of type {array.dtype}; expected numbers")
    if array.ndim == 0 and scalar:
        return np.full(length, float(array))
    if array.shape != (length,):
        expected = f"({length},)" + (" or a single number" if scalar else "")
        raise ProblemError(f"{name} has shape {array.shape}; expected {expected}")
    return np.ascontiguousarray(array, dtype=np.float64)
