"""Families: cells and all that descends from them, and how certain their lineage is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from dunno.lineage.tracks import TrackNumbers, TrackRow
from dunno.types import Block, Floats, Ints


@dataclass(frozen=True)
class Family:
    """A track without mother, and its descendants."""

    root: int  # Number of the first track
    tracks: int  # How many there are
    first: int  # Original index of the first frame
    last: int  # Of the last one
    links: int  # How many links hold it together, those from mothers to daughters included
    wrong: float  # How many of them are expected to be wrong
    least: float  # Probability of the least certain one; 1 without links


@dataclass
class Families:
    """Gathers tracks and their certainty while blocks arrive in frame order.

    A link counts for the daughter's track; for the first cell of a track after a division that is the link to the mother.
    """

    numbers: TrackNumbers = field(default_factory=TrackNumbers)
    _links: Ints = field(default_factory=lambda: np.zeros(64, np.int64))
    _wrong: Floats = field(default_factory=lambda: np.zeros(64))
    _least: Floats = field(default_factory=lambda: np.ones(64))

    @property
    def n_tracks(self) -> int:
        """How many there are so far."""
        return len(self.numbers)

    def follow(self, block: Block) -> None:
        """Number the block's cells, and add up what is doubtful about their links."""
        track = self.numbers.follow(block)[block.daughter[block.links]]
        probability = block.probability[block.links]
        self._grow()
        np.add.at(self._links, track, 1)
        np.add.at(self._wrong, track, 1 - probability)
        np.minimum.at(self._least, track, probability)

    def _grow(self) -> None:
        """Make room for all tracks."""
        while len(self._links) <= self.n_tracks:
            self._links = np.concatenate([self._links, np.zeros_like(self._links)])
            self._wrong = np.concatenate([self._wrong, np.zeros_like(self._wrong)])
            self._least = np.concatenate([self._least, np.ones_like(self._least)])

    def table(self) -> list[TrackRow]:
        """All tracks; mothers come before their daughters."""
        return self.numbers.table()

    def listed(self) -> list[Family]:
        """All families, the one with the most expected wrong links first, and the larger first where that is equal."""
        rows = self.table()
        root = np.zeros(len(rows) + 1, np.int64)
        for row in rows:
            root[row.track] = root[row.mother] if row.mother else row.track
        size = len(root)
        tracks = np.bincount(root[1:], minlength=size)
        links = np.bincount(root, self._links[:size], minlength=size)
        wrong = np.bincount(root, self._wrong[:size], minlength=size)
        least, last = np.ones(size), np.zeros(size, np.int64)
        np.minimum.at(least, root, self._least[:size])
        np.maximum.at(last, root[1:], np.array([row.last for row in rows], np.int64))
        found = [
            Family(r, int(tracks[r]), rows[r - 1].first, int(last[r]), int(links[r]), float(wrong[r]), float(least[r]))
            for r in np.flatnonzero(tracks).tolist()
        ]
        return sorted(found, key=lambda family: (-round(family.wrong, 9), -family.tracks, -family.links, family.root))


@dataclass(frozen=True, eq=False)
class LeastCertain:
    """The least certain link of each track in each span of time."""

    probability: Floats  # (rows, columns) of it; NaN without any
    frame: Ints  # (rows, columns) original index of its daughter's frame
    label: Ints  # (rows, columns) its label

    def of(self, row: int) -> LeastCertain:
        """One track's, by column."""
        return LeastCertain(self.probability[row], self.frame[row], self.label[row])


def certainty_over_time(
    blocks: Iterable[Block], row: dict[int, int], column: dict[int, int], shape: tuple[int, int]
) -> LeastCertain:
    """Find the least certain link of each track in each span of time.

    `row` and `column` say where each wanted track and each frame stands in the result.
    """
    lowest, frame, label = np.full(shape, np.inf), np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    numbers = TrackNumbers()
    row_of = np.full(max(row, default=0) + 2, -1, np.int64)  # tracks beyond the last one wanted share the last place
    row_of[list(row)] = list(row.values())
    for block in blocks:
        tracks = numbers.follow(block)
        for t in block.own:
            into = block.into(t)
            link = into.start + np.flatnonzero(block.selected[into])
            daughter, found = block.daughter[link], block.probability[link]
            place = row_of[np.minimum(tracks[daughter], len(row_of) - 1)]
            span = column[int(block.frames[t])]
            less = (place >= 0) & (found < lowest[place, span])
            lowest[place[less], span], frame[place[less], span] = found[less], block.frames[t]
            label[place[less], span] = block.cells.label[daughter[less]]
    return LeastCertain(np.where(np.isinf(lowest), np.nan, lowest), frame, label)
