"""What a tracker followed, whoever it is: cells, their tracks and their links, and where it reports divisions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dunno.lineage.endings import DIVISION, ENDINGS
from dunno.tracking import Tracking
from dunno.types import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class FollowedCells:
    """N cells and L links, by frame."""

    frames: Ints  # (T,) original index of each frame in view
    position: Ints  # (N,) of each cell's frame
    label: Ints  # (N,) in its masks
    track: Ints  # (N,) which track it belongs to
    p_divide: Floats  # (N,) that it divides; 0 where nobody knows
    divides: Bools  # (N,) whether its track ends in it by a division
    mother: Ints  # (L,) row of the earlier cell of each link
    daughter: Ints  # (L,) row of the later one
    probability: Floats  # (L,) of each link

    @classmethod
    def of(cls, tracking: Tracking) -> FollowedCells:
        """What dunno followed."""
        cells, block = tracking.cells, tracking.block
        ends = np.zeros(len(cells.track) + 1, np.bool_)
        for row in tracking.tracks():
            ends[row.track] = row.ending == ENDINGS[DIVISION]
        position = block.frame_of
        last = np.full(len(ends), -1)
        np.maximum.at(last, cells.track, position)
        links = block.links
        return cls(
            block.frames, position, cells.label, cells.track, np.nan_to_num(cells.p_divide),
            ends[cells.track] & (position == last[cells.track]),
            block.mother[links], block.daughter[links], block.probability[links],
        )  # fmt: skip

    @cached_property
    def view(self) -> list[int]:
        """Positions of the frames that have cells, ascending."""
        return [int(t) for t in np.unique(self.position)]

    @cached_property
    def row(self) -> dict[tuple[int, int], int]:
        """The row of a cell, by the position of its frame and its label."""
        return {key: k for k, key in enumerate(self.keys(np.arange(len(self.label))))}

    def keys(self, rows: Ints) -> Iterator[tuple[int, int]]:
        """Frame position and label of some cells."""
        return zip(self.position[rows].tolist(), self.label[rows].tolist(), strict=True)
