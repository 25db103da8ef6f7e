"""The assignment problem: candidate edges, their costs, and what appearing, disappearing and dividing cost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dunno import _core
from dunno.assignment.checks import indices, numbers
from dunno.errors import ProblemError


@dataclass(frozen=True, eq=False)
class Triples:
    """What it costs extra when a mother divides into exactly two of its edges."""

    first_edge: NDArray[np.int64]  # (K,) index of one edge
    # (K,) index of another edge of the same mother. The order of the two does not matter
    second_edge: NDArray[np.int64]
    cost: NDArray[np.float64]  # (K,) extra cost of the division; `inf` is a division that cannot be

    def __post_init__(self) -> None:
        object.__setattr__(self, "first_edge", indices(self.first_edge, "triples' first_edge"))
        object.__setattr__(self, "second_edge", indices(self.second_edge, "triples' second_edge"))
        first, second = len(self.first_edge), len(self.second_edge)
        if first != second:
            raise ProblemError(f"triples have {first} first edges but {second} second ones; a triple has one of each")
        object.__setattr__(self, "cost", numbers(self.cost, "triples' cost", first, scalar=False))

    def __len__(self) -> int:
        return len(self.cost)

    def among(self, edges: slice) -> Triples:
        """Those of neighbouring edges, which count from 0 then."""
        kept = (np.minimum(self.first_edge, self.second_edge) >= edges.start) & (
            np.maximum(self.first_edge, self.second_edge) < edges.stop
        )
        return Triples(self.first_edge[kept] - edges.start, self.second_edge[kept] - edges.start, self.cost[kept])

    def renumbered(self, number: NDArray[np.int64]) -> Triples:
        """The same triples where edge e has become `number[e]`; those with an edge that is gone (-1) are left out."""
        first, second = number[self.first_edge], number[self.second_edge]
        kept = (first >= 0) & (second >= 0)
        return Triples(first[kept], second[kept], self.cost[kept])


def every_pair(mother: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """List all pairs of edges that share a mother, each once, for (E,) edges' mothers.

    Example:
        >>> every_pair([0, 1, 0, 0])
        (array([0, 0, 2]), array([2, 3, 3]))
    """
    mother = indices(mother, "mother")
    order = np.argsort(mother, kind="stable")
    _, start, size = np.unique(mother[order], return_index=True, return_counts=True)
    place = np.arange(len(mother))
    later = np.repeat(start + size, size) - place - 1
    first = np.repeat(place, later)
    offset = np.arange(len(first)) - np.repeat(np.cumsum(later) - later, later)
    return order[first], order[first + 1 + offset]


MOST_CELLS_OF_A_PROBLEM = 100_000_000  # cells; judged: more is a mistake

NEVER = 1e6  # cost; judged
"""What an event costs that cannot be. It stays far above all others when costs are tempered."""


@dataclass(frozen=True, eq=False)
class Problem:
    r"""Which mother does each daughter come from?

    An assignment $A$ gives every daughter one of its edges or none, and every mother at most two daughters:

    $$cost(A) = \sum_{e \in A} w_e + \sum_{j\ appears} w_{a,j} + \sum_{i\ disappears} w_{d,i}
      + \sum_{i\ divides} w_{div,i} + \sum_{i\ divides\ into\ e, f} c_{ef}$$

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
        triples: `Triples` or (first_edge, second_edge, cost): the extra cost $c_{ef}$ when a mother divides into exactly
            these two of its edges, each pair listed once; `inf` is a division that cannot be. It is added to `divide` and
            the edges' `dividing_cost`; pairs that are not listed cost nothing extra.

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
    triples: Triples | None = None

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
        triples: Triples | tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
    ) -> None:
        def keep(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        keep("n_mothers", _count(n_mothers, "n_mothers"))
        keep("n_daughters", _count(n_daughters, "n_daughters"))
        keep("mother", indices(mother, "mother"))
        keep("daughter", indices(daughter, "daughter"))
        n_edges = len(self.mother)
        if len(self.daughter) != n_edges:
            raise ProblemError(f"{n_edges} mothers but {len(self.daughter)} daughters; an edge has one of each")
        keep("cost", numbers(cost, "cost", n_edges, scalar=False))
        keep("appear", numbers(appear, "appear", self.n_daughters))
        keep("disappear", numbers(disappear, "disappear", self.n_mothers))
        keep("divide", numbers(divide, "divide", self.n_mothers))
        if dividing_cost is not None:
            dividing_cost = numbers(dividing_cost, "dividing_cost", n_edges, scalar=False)
        keep("dividing_cost", dividing_cost)
        keep("triples", _triples(triples))
        _ = self.core  # which checks the ends of edges

    @classmethod
    def of_parts(
        cls,
        mother: NDArray[np.int64],
        daughter: NDArray[np.int64],
        cost: NDArray[np.float64],
        n_mothers: int,
        n_daughters: int,
        appear: NDArray[np.float64],
        disappear: NDArray[np.float64],
        divide: NDArray[np.float64],
        dividing_cost: NDArray[np.float64] | None = None,
        triples: Triples | None = None,
    ) -> Problem:
        """The same from arrays that come from another problem and need no checks; many such are kept and never solved."""
        problem = object.__new__(cls)
        given = (mother, daughter, cost, n_mothers, n_daughters, appear, disappear, divide, dividing_cost, triples)
        problem.__dict__.update(zip(cls.__dataclass_fields__, given, strict=True))
        return problem

    @cached_property
    def core(self) -> _core.Problem:
        """As the core knows it."""
        listed = self.triples
        columns = () if listed is None else (listed.first_edge, listed.second_edge, listed.cost)
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
                *columns,
            )
        except ValueError as error:
            raise ProblemError(str(error)) from None

    def tempered(self, tempering: float) -> Problem:
        """The same with all costs, those of events included, multiplied by a number: below 1, everything is less certain."""
        dividing = None if self.dividing_cost is None else tempering * self.dividing_cost
        events = (tempering * self.appear, tempering * self.disappear, tempering * self.divide)
        ends = (self.mother, self.daughter, tempering * self.cost, self.n_mothers, self.n_daughters)
        given = self.triples
        triples = None if given is None else replace(given, cost=tempering * given.cost)
        return Problem.of_parts(*ends, *events, dividing, triples)

    def among(self, kept: NDArray[np.bool_]) -> Problem:
        """The same with some of the edges only, given (E,) which."""
        edges = np.flatnonzero(kept)
        number = np.full(len(kept), -1, np.int64)
        number[edges] = np.arange(len(edges))
        return Problem.of_parts(
            self.mother[edges],
            self.daughter[edges],
            self.cost[edges],
            self.n_mothers,
            self.n_daughters,
            self.appear,
            self.disappear,
            self.divide,
            None if self.dividing_cost is None else self.dividing_cost[edges],
            None if self.triples is None else self.triples.renumbered(number),
        )

    def part(self, edges: slice, cells: slice) -> Problem:
        """Some edges in a row, of a table in which every cell is a mother and a daughter, and the cells that they join."""
        n = cells.stop - cells.start
        ends = self.mother[edges] - cells.start, self.daughter[edges] - cells.start, self.cost[edges], n, n
        events = self.appear[cells], self.disappear[cells], self.divide[cells]
        dividing = None if self.dividing_cost is None else self.dividing_cost[edges]
        return Problem.of_parts(*ends, *events, dividing, None if self.triples is None else self.triples.among(edges))

    def with_ends(self, mother: NDArray[np.int64], daughter: NDArray[np.int64], n: int) -> Problem:
        """The same in a table of n cells, of which the mothers come first and the daughters last."""
        appear, disappear, divide = np.zeros((3, n))
        appear[n - self.n_daughters :] = self.appear
        disappear[: self.n_mothers], divide[: self.n_mothers] = self.disappear, self.divide
        ends = (mother, daughter, self.cost, n, n)
        return Problem.of_parts(*ends, appear, disappear, divide, self.dividing_cost, self.triples)

    def __reduce__(self) -> tuple[type[Problem], tuple[Any, ...]]:
        events = (self.appear, self.disappear, self.divide)
        return Problem, (
            self.mother,
            self.daughter,
            self.cost,
            self.n_mothers,
            self.n_daughters,
            *events,
            self.dividing_cost,
            self.triples,
        )


def _count(value: object, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        raise ProblemError(f"{name} is {value!r}; expected a whole number of cells, zero or more")
    if value > MOST_CELLS_OF_A_PROBLEM:
        raise ProblemError(f"{name} is {value}; expected at most {MOST_CELLS_OF_A_PROBLEM:,} cells")
    return int(value)


def _triples(given: Triples | tuple[ArrayLike, ArrayLike, ArrayLike] | None) -> Triples | None:
    if given is None or isinstance(given, Triples):
        return given
    if not isinstance(given, tuple) or len(given) != 3:
        raise ProblemError(f"triples is {type(given).__name__}; expected Triples or (first_edge, second_edge, cost)")
    return Triples(*given)  # type: ignore[arg-type]
