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
        mother: (L,) her label.
        frame: (L,) original frame index of the daughter.
        daughter: (L,) her label.
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

    def across(self, frame: int) -> tuple[Ints, Ints, Ints, Ints]:
        """Links that skip frames and end in one: the mother's frame and label, the daughter's label, and how many are skipped."""
        begin, end = np.searchsorted(self.frame, (frame, frame + 1))
        none = np.zeros(end - begin, np.int64)
        gap = none if self.gap is None else self.gap[begin:end]
        far = begin + np.flatnonzero(gap > 0)
        return self.mother_frame[far], self.mother[far], self.daughter[far], gap[gap > 0]

    def between(self, mothers: Detections, daughters: Detections) -> tuple[Ints, Ints]:
        """The links of one frame pair as indices into its mothers and daughters; looks at the daughters' frame alone."""
        begin, end = np.searchsorted(self.frame, (daughters.frame, daughters.frame + 1))
        here = self.mother_frame[begin:end] == mothers.frame
        mother, daughter = self.mother[begin:end][here], self.daughter[begin:end][here]
        return np.searchsorted(mothers.label, mother), np.searchsorted(daughters.label, daughter)


@dataclass(frozen=True, eq=False)
class GivenLinks:
    """Links as their file has them, in its order.

    Attributes:
        mother_frame: (L,) as in `Links`, like `mother`, `frame` and `daughter`.
        problems: What could not be told as links between labels, in words.
        are_detections: Whether every end is known to be a detection of the movie; the labels are looked up where it is not.
    """

    mother_frame: Ints
    mother: Ints
    frame: Ints
    daughter: Ints
    problems: tuple[str, ...] = ()
    are_detections: bool = False
