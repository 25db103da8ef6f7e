"""Masks that hold no cell, one, or two: what is believed where every mask chooses a way in and a way out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from dunno import _core
from dunno.errors import ProblemError

STATES, KINDS = 4, 12
YOUNG = 3
"""The state of a mask that holds one cell which was born lately, and does not divide."""

SWEEPS, TOLERANCE = 60, 1e-3


class Kind(IntEnum):
    """What an edge may be; the states of the masks at its ends follow from it.

    A cell whose mask is cut goes on as the larger piece (`WHOLE`), beside which a false one lies (`PIECE`); where the pieces join
    again, the cell's edge is `REJOINED` and the false one's is `ABSORBED`. A cell that was born lately stays so (`YOUNG`) until it
    is old enough to divide (`GROWN`).
    """

    SINGLE = 0
    DIVIDING = 1
    APART = 2
    MERGING = 3
    STAYING = 4
    WHOLE = 5
    REJOINED = 6
    YOUNG = 7
    GROWN = 8
    FALSE = 9
    PIECE = 10
    ABSORBED = 11


@dataclass(frozen=True, eq=False)
class Choices:
    """The ways of all masks on one side, sorted by mask; a way takes up to three edges and leaves all others unused.

    Attributes:
        mask: (C,) whose way it is.
        state: (C,) how many cells the mask then holds; `YOUNG` for one that was born lately.
        first: (C,) an edge, -1 for none.
        first_kind: (C,) what it then is.
        second: (C,) another edge, -1 for none.
        second_kind: (C,) what that is.
        third: (C,) one more, -1 for none.
        third_kind: (C,) what that is.
        log_weight: (C,) of the way.
    """

    mask: NDArray[np.int64]
    state: NDArray[np.int64]
    first: NDArray[np.int64]
    first_kind: NDArray[np.int64]
    second: NDArray[np.int64]
    second_kind: NDArray[np.int64]
    third: NDArray[np.int64]
    third_kind: NDArray[np.int64]
    log_weight: NDArray[np.float64]

    @classmethod
    def joined(cls, parts: Sequence[Choices]) -> Choices:
        """All of them, sorted by mask; impossible ones are left out."""
        columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in cls.__dataclass_fields__}
        order = np.argsort(columns["mask"], kind="stable")
        order = order[columns["log_weight"][order] > -np.inf]
        return cls(**{name: values[order] for name, values in columns.items()})

    def core(self, n_masks: int) -> tuple[NDArray[np.int64] | NDArray[np.float64], ...]:
        """As the core takes them."""
        begin = np.searchsorted(self.mask, np.arange(n_masks + 1)).astype(np.int64)
        edges = (self.first, self.first_kind, self.second, self.second_kind, self.third, self.third_kind)
        return begin, self.state, *edges, self.log_weight


def ways(
    mask: NDArray[np.int64],
    state: int,
    log_weight: NDArray[np.float64] | float,
    first: tuple[NDArray[np.int64], Kind] | None = None,
    second: tuple[NDArray[np.int64], Kind] | None = None,
    third: tuple[NDArray[np.int64], Kind] | None = None,
) -> Choices:
    """Ways of one sort: of these masks, in this state, with these edges."""
    n = len(mask)
    none = np.full(n, -1, np.int64)

    def edge(given: tuple[NDArray[np.int64], Kind] | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return (none, np.zeros(n, np.int64)) if given is None else (given[0], np.full(n, int(given[1]), np.int64))

    weight = np.ascontiguousarray(np.broadcast_to(np.asarray(log_weight, np.float64), n))
    return Choices(mask, np.full(n, state, np.int64), *edge(first), *edge(second), *edge(third), weight)


Messages = tuple[NDArray[np.float64], ...]
"""What masks said to each other last, as the core takes it; of use where nearly the same is asked again."""


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What belief propagation says; exact where masks and edges form trees.

    Attributes:
        ways_out: Probability of each way out.
        ways_in: Probability of each way in.
        state: (N, 4) probability of each mask to hold no cell, one, two, or one that was born lately.
        edge: (E, 12) probability of each edge to be of each kind.
        log_evidence: Bethe's approximation of it.
        change: By how much a belief about an edge or a mask changed at most in the last sweep.
        sweeps: How many were made.
        messages: What masks said to each other last.
    """

    ways_out: NDArray[np.float64]
    ways_in: NDArray[np.float64]
    state: NDArray[np.float64]
    edge: NDArray[np.float64]
    log_evidence: float
    change: float
    sweeps: int
    messages: Messages


def propagate(
    out: Choices,
    into: Choices,
    n_masks: int,
    n_edges: int,
    sweeps: int = SWEEPS,
    tolerance: float = TOLERANCE,
    before: Messages | None = None,
) -> Beliefs:
    """Beliefs about masks that each choose one way out and one way in, with the same state.

    Args:
        out: The ways out; masks are numbered in the order of their frames.
        into: The ways in.
        n_masks: N.
        n_edges: E.
        sweeps: At most so many, each forwards and backwards in time.
        tolerance: Beliefs that change by less are taken as they are.
        before: Messages of the same masks and edges under nearly the same weights, which save sweeps.
    """
    try:
        found = _core.propagate(out.core(n_masks), into.core(n_masks), n_edges, sweeps, tolerance, before)
    except ValueError as error:
        raise ProblemError(str(error)) from None
    ways_out, ways_in, state, edge, *rest = found
    return Beliefs(ways_out, ways_in, state.reshape(-1, STATES), edge.reshape(-1, KINDS), *rest)
