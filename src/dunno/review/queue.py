"""Whom to ask about next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from dunno.errors import InputError
from dunno.review.daughters import Table
from dunno.types import Bools, Floats, Ints

Order = Literal["gain", "links", "entropy", "time"]
DOUBTFUL_ERROR = 0.01
"""In the order of time, daughters whose error is less probable than this are passed over."""
NEAR_CELLS, SECOND_BEST_WORTH = 6.0, 0.7
"""A question is near another one of the same frames within this many times the cells' spacing, and comes before the best
one if it gains at least this share of what that gains: the eye stays."""
GAINS_COMPUTED = 32
"""The gain is computed of this many daughters of the highest promise, and the largest one wins."""


@dataclass(frozen=True)
class Question:
    """A daughter to ask about."""

    row: int  # Its row in the review's table
    pair: int  # The number of the frame pair
    frame: int  # Original index of its frame
    label: int  # Its label
    audit: bool  # Whether it was drawn at random
    chance: float  # The chance that it, of all, was asked now
    left: int  # How many daughters had no answer then

    @property
    def log(self) -> dict[str, Any]:
        """What the log keeps."""
        return {"audit": self.audit, "chance": self.chance, "left": self.left}


@dataclass(frozen=True)
class Filter:
    """Which daughters to ask about; everything by default."""

    frames: tuple[int, int] | None = None  # First and last original frame of the daughters
    # (top, left, bottom, right) in the movie's unit, in the plane
    region: tuple[float, float, float, float] | None = None
    divisions: bool = False  # Only those that take part in a division
    starts: bool = False  # Only those that start a track

    def __post_init__(self) -> None:
        if self.region is not None and (len(self.region) != 4 or not np.isfinite(self.region).all()):
            raise InputError(f"the region is {self.region}; expected four finite numbers: top, left, bottom, right")
        if self.frames is not None and len(self.frames) != 2:
            raise InputError(f"the frames are {self.frames}; expected the first and the last")

    def admits(self, table: Table) -> Bools:
        """(N,) the daughters that pass."""
        passed = np.ones(len(table), np.bool_)
        if self.frames is not None:
            frame = table.daughter_frame[table.pair]
            passed &= (frame >= self.frames[0]) & (frame <= self.frames[1])
        if self.region is not None:
            low, high = np.array(self.region[:2]), np.array(self.region[2:])
            passed &= ((table.place >= low) & (table.place <= high)).all(axis=1)
        if self.divisions:
            passed &= table.division
        if self.starts:
            passed &= table.starts
        return passed


@dataclass
class Queue:
    """Orders daughters by what asking them is worth.

    A gain is costly, so it is computed only for those that promise most; what is chosen depends on nothing else.
    """

    table: Table  # What is known about every daughter
    gain_of: Callable[[int], float]  # Computes one daughter's gain, given its row
    # (N,) the gains computed so far, which hold for the signatures in `known_for` (NaN: none yet)
    gains: Floats = field(init=False)
    known_for: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.gains, self.known_for = np.full((2, len(self.table)), np.nan)

    def gain(self, row: int) -> float:
        """One daughter's gain."""
        if len(self.gains) < len(self.table):
            more = np.full(len(self.table) - len(self.gains), np.nan)
            self.gains, self.known_for = np.append(self.gains, more), np.append(self.known_for, more)
        if self.known_for[row] != self.table.signature[row]:
            self.gains[row] = self.gain_of(row)
            self.known_for[row] = self.table.signature[row]
        return float(self.gains[row])

    def best(self, open_rows: Bools, order: Order, n: int = 1) -> list[int]:
        """The n rows to ask about first, among the open ones."""
        if order not in get_args(Order):
            raise InputError(f"order is {order!r}; expected one of {', '.join(get_args(Order))}")
        rows = np.flatnonzero(open_rows)
        if order == "time":
            return [int(row) for row in rows[self.table.error[rows] >= DOUBTFUL_ERROR][:n]]
        if order == "links":
            return [int(row) for row in _largest(self.table.error, rows[self.table.linked[rows]], n)]
        if order == "entropy":
            return [int(row) for row in _largest(self.table.entropy, rows, n)]
        return self._by_gain(rows, n)

    def best_near(self, open_rows: Bools, order: Order, before: int | None) -> list[int]:
        """The row to ask about after row `before`: near it if that costs little, else the best one; none where none is open."""
        best = self.best(open_rows, order, 8 if order == "gain" and before is not None else 1)
        if before is None or order != "gain" or not best:
            return best[:1]
        t = self.table.pair_of(before)
        own = self.table.rows(t)
        distance = np.linalg.norm(self.table.place[best] - self.table.place[before], axis=1)
        reach = NEAR_CELLS * self._spacing(t)
        worth = SECOND_BEST_WORTH * self.gain(best[0])
        near = [row for row, far in zip(best, distance, strict=True) if row in own and far <= reach]
        return [row for row in near if self.gain(row) >= worth][:1] or best[:1]

    def _spacing(self, t: int) -> float:
        """About how far apart the cells of a frame are: the side of the square that each has."""
        place = self.table.place[self.table.rows(t)]
        sides = np.ptp(place, axis=0) if len(place) else np.zeros(2)
        return float(np.sqrt(max(sides.prod(), 0.0) / max(len(place), 1)))

    def _by_gain(self, rows: Ints, n: int) -> list[int]:
        promising = _largest(self.table.promise, rows, GAINS_COMPUTED + n - 1).tolist()
        return sorted(promising, key=lambda row: (-self.gain(row), row))[:n]


def _largest(values: Floats, rows: Ints, n: int) -> Ints:
    """The n rows of the largest values, the largest first, equals in their order."""
    if len(rows) > n:
        edge = np.partition(values[rows], len(rows) - n)[len(rows) - n]
        above, equal = rows[values[rows] > edge], rows[values[rows] == edge]
        rows = np.concatenate([above, equal[: n - len(above)]])
    return rows[np.lexsort((rows, -values[rows]))]
