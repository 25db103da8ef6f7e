"""Who descends from whom, as one assignment of mothers says: tracks, how they began and ended, families."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dunno.biology.rows import CellRows
from dunno.tracking import Tracking
from dunno.types import Bools, Floats, Ints, PairPosterior

BORN = ("division", "start", "border", "appearing")
"""How a track begins: by a division, before the movie, at the border, or out of nothing."""

ENDED = ("division", "end", "border", "loss")
"""How a track ends: by a division, after the movie, at the border, or by loss."""


@dataclass(frozen=True, eq=False)
class Lineage:
    """One forest over a movie's masks."""

    rows: CellRows  # The masks
    mother: Ints  # (N,) the row of each mask's mother, in an earlier frame; -1 where it has none
    alive: Bools  # (N,) whether the mask holds a cell; those that do not belong to no track

    @classmethod
    def of(cls, rows: CellRows, tracking: Tracking) -> Lineage:
        """The links of a tracking, reported or drawn; where masks merge or come apart, lines end and begin."""
        block = tracking.block
        mother = np.full(len(block.cells), -1, np.int64)
        for pair in block.pairs():  # of the one block that rows count in
            near = pair.near.start + np.flatnonzero(pair.selected & ~_merged_or_apart(pair))
            mother[block.daughter[near]] = block.mother[near]
        far = block.links[block.gap[block.links] > 0]
        mother[block.daughter[far]] = block.mother[far]
        if rows.source is not None:
            mother = mother[rows.source]
            number = np.full(len(block.cells) + 1, -1)  # of row −1, which is none, too
            number[rows.source] = np.arange(len(rows))
            mother = number[mother]
        return cls.from_mothers(rows, mother)

    @classmethod
    def from_mothers(cls, rows: CellRows, mother: Ints, alive: Bools | None = None) -> Lineage:
        """A forest as the row of every mask's mother says it; links from or to masks that hold no cell count as none."""
        alive = np.ones(len(rows), np.bool_) if alive is None else alive
        known = (mother >= 0) & alive & alive[np.maximum(mother, 0)] if len(rows) else alive
        return cls(rows, np.where(known, mother, -1), alive)

    @cached_property
    def head(self) -> Ints:
        """(N,) the first row of each row's track."""
        load = np.bincount(self.mother[self.mother >= 0], minlength=len(self.rows))
        head = np.arange(len(self.rows))
        for t in range(1, len(self.rows.frames)):
            own = np.arange(self.rows.ends[t], self.rows.ends[t + 1])
            carried = own[self.mother[own] >= 0]
            carried = carried[load[self.mother[carried]] == 1]
            head[carried] = head[self.mother[carried]]
        return head

    @cached_property
    def first(self) -> Ints:
        """(R,) the first row of each track."""
        return np.unique(self.head[self.alive])

    @cached_property
    def track(self) -> Ints:
        """(N,) the track of each row, counted from 0; -1 where the mask holds no cell."""
        return np.where(self.alive, np.searchsorted(self.first, self.head), -1)

    @cached_property
    def number(self) -> Ints:
        """(R,) what each track is called: as in the output's tables, or counted from 1."""
        return np.arange(len(self.first)) + 1 if self.rows.track is None else self.rows.track[self.first]

    @cached_property
    def last(self) -> Ints:
        """(R,) the last row of each track."""
        found = np.zeros(len(self.first), np.int64)
        rows = np.flatnonzero(self.alive)
        found[self.track[rows]] = rows  # rows ascend in time: the last one stays
        return found

    @cached_property
    def came_from(self) -> Ints:
        """(R,) the track that each track came from, -1 for none."""
        mother = self.mother[self.first]
        return np.where(mother >= 0, self.track[np.maximum(mother, 0)], -1)

    @cached_property
    def n_daughters(self) -> Ints:
        """(R,) how many tracks come from each track."""
        return np.bincount(self.came_from[self.came_from >= 0], minlength=len(self.first))

    @cached_property
    def family(self) -> Ints:
        """(R,) the first track of each track's family."""
        found = np.arange(len(self.first))
        for track in np.flatnonzero(self.came_from >= 0).tolist():  # mothers come before their daughters
            found[track] = found[self.came_from[track]]
        return found

    @cached_property
    def generation(self) -> Ints:
        """(R,) divisions between each track and the first of its family."""
        found = np.zeros(len(self.first), np.int64)
        for track in np.flatnonzero(self.came_from >= 0).tolist():
            found[track] = found[self.came_from[track]] + 1
        return found

    @cached_property
    def born_by(self) -> Ints:
        """(R,) how each track begins: index into `BORN`."""
        at_border = np.where(self.rows.at_border[self.first], 2, 3)
        begins = np.where(self.rows.t[self.first] == 0, 1, at_border)
        return np.where(self.came_from >= 0, 0, begins)

    @cached_property
    def ended_by(self) -> Ints:
        """(R,) how each track ends: index into `ENDED`."""
        at_border = np.where(self.rows.at_border[self.last], 2, 3)
        ends = np.where(self.rows.t[self.last] == len(self.rows.frames) - 1, 1, at_border)
        return np.where(self.n_daughters >= 2, 0, ends)

    @cached_property
    def birth(self) -> Floats:
        """(R,) when each track is first seen."""
        return self.rows.times[self.rows.t[self.first]]

    @cached_property
    def division(self) -> Floats:
        """(R,) when the first of its daughters is seen; NaN where it does not divide."""
        found = np.full(len(self.first), np.inf)
        daughters = np.flatnonzero(self.came_from >= 0)
        np.minimum.at(found, self.came_from[daughters], self.birth[daughters])
        return np.where(self.ended_by == 0, found, np.nan)

    @cached_property
    def seen_until(self) -> Floats:
        """(R,) when each track is last seen, or divides."""
        return np.where(self.ended_by == 0, self.division, self.rows.times[self.rows.t[self.last]])

    @cached_property
    def duration(self) -> Floats:
        """(R,) from birth to division, or for how long it was seen."""
        return self.seen_until - self.birth

    @cached_property
    def complete(self) -> Bools:
        """(R,) whether birth and division were both seen."""
        return np.asarray((self.born_by == 0) & (self.ended_by == 0), np.bool_)

    @cached_property
    def sister(self) -> Ints:
        """(R,) the other daughter of each track's mother, -1 where there is none."""
        found = np.full(len(self.first), -1, np.int64)
        daughters = np.flatnonzero(self.came_from >= 0)
        order = daughters[np.argsort(self.came_from[daughters], kind="stable")]
        same = self.came_from[order][1:] == self.came_from[order][:-1]
        found[order[:-1][same]], found[order[1:][same]] = order[1:][same], order[:-1][same]
        return found

    @property
    def steps(self) -> Ints:
        """(S,) rows whose mother is the same cell, one look earlier."""
        return np.flatnonzero((self.mother >= 0) & self.alive & (self.head != np.arange(len(self.rows))))


def _merged_or_apart(pair: PairPosterior) -> Bools:
    """(E,) edges into masks that two cells run into, and out of masks that two come out of, without a division."""
    into = np.bincount(pair.daughter[pair.selected], minlength=len(pair.daughters)) >= 2
    apart = (pair.load >= 2) & ~pair.divides
    return np.asarray(into[pair.daughter] | apart[pair.mother])
