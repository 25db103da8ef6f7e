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
    """

    mother_frame: Ints
    mother: Ints
    frame: Ints
    daughter: Ints
    unmatched: tuple[str, ...] = ()
    source: str = "given"

    def __post_init__(self) -> None:
        if (self.frame[1:] < self.frame[:-1]).any():
            order = np.argsort(self.frame, kind="stable")
            for name in ("mother_frame", "mother", "frame", "daughter"):
                object.__setattr__(self, name, getattr(self, name)[order])

    def __len__(self) -> int:
        return len(self.frame)

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
