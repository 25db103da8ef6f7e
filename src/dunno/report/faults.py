"""How many masks seem to be missing, false or to hold two cells, counted frame by frame while the pairs pass by."""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import nlargest
from typing import NamedTuple

import numpy as np

from dunno.lineage.tracks import LONGEST
from dunno.types import Detections, Floats, Held, Ints, PairPosterior

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
    """Counts while pairs arrive in frame order; keeps a few numbers per frame."""

    frames: dict[int, _Frame] = field(default_factory=dict)
    _recent: dict[int, Detections] = field(default_factory=dict)

    def follow(self, pair: PairPosterior) -> None:
        """Take one more pair."""
        if not self.frames:
            self._see(pair.mothers, pair.mothers_held)
        self._see(pair.daughters, pair.daughters_held)
        if pair.gaps is not None and len(pair.gaps):
            self._across_gaps(pair)

    def _see(self, cells: Detections, held: Held | None) -> None:
        frame = self.frames[cells.frame] = _Frame(len(cells))
        self._recent = dict([*[*self._recent.items()][-LONGEST:], (cells.frame, cells.without_pixels())])
        if held is not None:
            where = (cells.label, cells.centroid, cells.diameter)
            frame.add("false", held.p_false, *where)
            frame.add("two", held.p_two, *where)

    def _across_gaps(self, pair: PairPosterior) -> None:
        """Of every mother that may go on across a gap, a missing mask on the straight line in each frame between."""
        gaps = pair.gaps
        assert gaps is not None
        ends = np.stack([gaps.mother_frame, gaps.mother])
        starts, group = np.unique(ends, axis=1, return_inverse=True)
        total = np.minimum(np.bincount(group.ravel(), gaps.probability), 1.0)  # two daughters share a gap
        best = _best_of_each(group.ravel(), gaps.probability, len(total))
        goal = pair.daughters.centroid[gaps.daughter[best]]
        for early in np.unique(starts[0]).tolist():
            own = np.flatnonzero(starts[0] == early)
            cells, row = self._recent[early], starts[1, own]
            for between in (f for f in self._recent if early < f < pair.daughter_frame):
                share = (between - early) / (pair.daughter_frame - early)
                place = (1 - share) * cells.centroid[row] + share * goal[own]
                none = np.zeros(len(own), np.int64)
                self.frames[between].add("missed", total[own], none, place, cells.diameter[row])

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
