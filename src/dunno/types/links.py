"""Links that somebody else made between a movie's detections."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dunno.types.arrays import Ints
from dunno.types.detections import Detections


@dataclass(frozen=True, eq=False)
class Links:
    """Links between detections of a movie, sorted by frame (they are sorted when made, if need be).

    Attributes:
        mother_frame: (L,) original frame index of each link's mother.
        mother: (L,) its label.
        frame: (L,) original frame index of the daughter.
        daughter: (L,) its label.
        unmatched: What could not be used, in words.
        source: The file they came from.
        gap: (L,) frames that each link skips; `None` where none does.
    """

    mother_frame: Ints
    mother: Ints
    frame: Ints
    daughter: Ints
    unmatched: tuple[str, ...] = ()
    source: str = "given"
    gap: Ints | None = None

    def __post_init__(self) -> None:
        if (self.frame[1:] < self.frame[:-1]).any():
            order = np.argsort(self.frame, kind="stable")
            for name in ("mother_frame", "mother", "frame", "daughter"):
                object.__setattr__(self, name, getattr(self, name)[order])
            object.__setattr__(self, "gap", None if self.gap is None else self.gap[order])

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def longest_gap(self) -> int:
        """How many frames a link skips at most."""
        return 0 if self.gap is None else int(self.gap.max(initial=0))

    def without_gaps(self, why: str) -> Links:
        """Those between neighbouring frames; the others could not be used, and why."""
        if self.gap is None or not self.longest_gap:
            return self
        near, far = np.flatnonzero(self.gap == 0), np.flatnonzero(self.gap > 0)
        ends = (self.mother_frame, self.mother, self.frame, self.daughter)
        told = [f"{m} in frame {f} → {d} in frame {t}: {why}" for f, m, t, d in np.stack(ends)[:, far].T.tolist()]
        mother_frame, mother, frame, daughter = (each[near] for each in ends)
        return Links(mother_frame, mother, frame, daughter, (*self.unmatched, *told), self.source, self.gap[near])

    def rows(self, frames: Ints, frame_of: Ints, label: Ints) -> tuple[Ints, Ints, Ints]:
        """The links in a table of cells: rows of their mothers and daughters, and frames skipped; only those with both ends there.

        `frame_of` (N,) are positions in `frames` (T,), the original indices.
        """
        width = int(max(label.max(initial=0), self.mother.max(initial=0), self.daughter.max(initial=0))) + 1
        keys = np.append(frame_of * width + label, -1)

        def row(frame: Ints, labels: Ints) -> Ints:
            t = np.searchsorted(frames, frame)
            key = np.where(np.append(frames, -1)[t] == frame, t * width + labels, -2)
            place = np.searchsorted(keys[:-1], key)
            return np.where(keys[place] == key, place, -1)

        mother, daughter = row(self.mother_frame, self.mother), row(self.frame, self.daughter)
        there = (mother >= 0) & (daughter >= 0)
        gap = np.zeros(len(self), np.int64) if self.gap is None else self.gap
        return mother[there], daughter[there], gap[there]

    def between(self, mothers: Detections, daughters: Detections) -> tuple[Ints, Ints]:
        """The links of one frame pair as indices into its mothers and daughters; looks at the daughters' frame alone."""
        begin, end = np.searchsorted(self.frame, (daughters.frame, daughters.frame + 1))
        here = self.mother_frame[begin:end] == mothers.frame
        mother, daughter = self.mother[begin:end][here], self.daughter[begin:end][here]
        return np.searchsorted(mothers.label, mother), np.searchsorted(daughters.label, daughter)


@dataclass(frozen=True, eq=False)
class GivenLinks:
    """Links as their file has them, in its order."""

    mother_frame: Ints  # (L,) as in `Links`, like `mother`, `frame` and `daughter`
    mother: Ints
    frame: Ints
    daughter: Ints
    problems: tuple[str, ...] = ()  # What could not be told as links between labels, in words
    # Whether every end is known to be a detection of the movie; the labels are looked up where it is not
    are_detections: bool = False
