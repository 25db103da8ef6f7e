"""Division triples: a mother and the two daughters that it divides into."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
