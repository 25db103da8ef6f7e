"""How many masks seem to be missing, false or to hold two cells, counted frame by frame while the pairs pass by."""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import nlargest
from typing import NamedTuple

import numpy as np

from dunno.types import Block, Floats, Ints

KINDS = ("missed", "false", "two")

SHOWN_SUSPECTS = 6
"""How many masks, or places without one, are remembered of a frame."""

LEAST = 0.02
"""Faults less probable than this are counted, but not remembered."""


class Suspect(NamedTuple):
    """A mask that seems to be wrong, or a place where one seems to be missing.

    Attributes:
        probability: That it is so.
        kind: One of `KINDS`.
        label: The mask's; 0 where it is missing.
        place: Centre along y and x, in physical units.
        diameter: Of the mask, or of the one before the gap.
    """

    probability: float
    kind: str
    label: int
    place: tuple[float, float]
    diameter: float


@dataclass(frozen=True, eq=False)
class Faults:
    """Expected faults of the masks.

    Attributes:
        frame: (F,) original index of each frame.
        masks: (F,) how many masks it has.
        missed: (F,) how many are expected to be missing.
        false: (F,) how many hold no cell.
        two: (F,) how many hold two.
        suspects: Of each frame, the most probable ones.
    """

    frame: Ints
    masks: Ints
    missed: Floats
    false: Floats
    two: Floats
    suspects: tuple[tuple[Suspect, ...], ...]

    @property
    def total(self) -> Floats:
        """(F,) all kinds together."""
        return self.missed + self.false + self.two

    def worst(self, n: int) -> list[int]:
        """Positions of the frames with the most expected faults, worst first; none with next to nothing."""
        order = np.argsort(-self.total, kind="stable")[:n]
        return [int(t) for t in order if self.suspects[t]]


@dataclass
class _Frame:
    masks: int
    sums: dict[str, float] = field(default_factory=lambda: dict.fromkeys(KINDS, 0.0))
    suspects: list[Suspect] = field(default_factory=list)

    def add(self, kind: str, probability: Floats, label: Ints, place: Floats, diameter: Floats) -> None:
        """Count some masks, or places without one."""
        self.sums[kind] += float(np.nansum(probability))
        some = np.flatnonzero(probability > LEAST)
        some = some[np.argsort(-probability[some], kind="stable")][:SHOWN_SUSPECTS]
        found = [
            Suspect(float(p), kind, int(own), (float(y), float(x)), float(size))
            for p, own, (y, x), size in zip(
                probability[some], label[some], place[some, -2:], diameter[some], strict=True
            )
        ]
        self.suspects = nlargest(SHOWN_SUSPECTS, [*self.suspects, *found], key=lambda each: each.probability)


@dataclass
class FaultCounts:
    """Counts while blocks arrive in frame order; keeps a few numbers per frame."""

    frames: dict[int, _Frame] = field(default_factory=dict)

    def follow(self, block: Block) -> None:
        """Take one more block."""
        begins = block.first if not self.frames else block.first + 1
        for t in range(begins, len(block.frames)):
            self._see(block, t)
        for t in block.own:
            if block.far(t).start < block.far(t).stop:
                self._across_gaps(block, t)

    def _see(self, block: Block, t: int) -> None:
        rows, cells = block.rows(t), block.cells.at(t)
        frame = self.frames[int(block.frames[t])] = _Frame(len(cells))
        for kind, probability in (("false", block.p_false[rows]), ("two", block.p_two[rows])):
            frame.add(kind, probability, cells.label, cells.centroid, cells.diameter)

    def _across_gaps(self, block: Block, t: int) -> None:
        """Of every mother that may go on across a gap, a missing mask on the straight line in each frame between."""
        far, frames, place = block.far(t), block.frames, block.cells.centroid
        probability, daughter = block.probability[far], block.daughter[far]
        mother, group = np.unique(block.mother[far], return_inverse=True)
        total = np.minimum(np.bincount(group.ravel(), probability), 1.0)  # two daughters share a gap
        goal = place[daughter[_best_of_each(group.ravel(), probability, len(total))]]
        for early in np.unique(block.frame_of[mother]).tolist():
            own = np.flatnonzero(block.frame_of[mother] == early)
            diameter = block.cells.at(early).diameter[mother[own] - int(block.begin[early])]
            for between in range(early + 1, t):
                share = float(frames[between] - frames[early]) / float(frames[t] - frames[early])
                where = (1 - share) * place[mother[own]] + share * goal[own]
                none = np.zeros(len(own), np.int64)
                self.frames[int(frames[between])].add("missed", total[own], none, where, diameter)

    def counted(self) -> Faults:
        """All of it."""
        each = self.frames.values()
        sums = {kind: np.array([frame.sums[kind] for frame in each]) for kind in KINDS}
        return Faults(
            np.array(list(self.frames), np.int64),
            np.array([frame.masks for frame in each], np.int64),
            **sums,
            suspects=tuple(tuple(frame.suspects) for frame in each),
        )


def _best_of_each(group: Ints, probability: Floats, n: int) -> Ints:
    """(n,) the row of the largest probability in each group."""
    best = np.zeros(n, np.int64)
    order = np.argsort(probability, kind="stable")
    best[group[order]] = order
    return best
