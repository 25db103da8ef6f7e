"""Annotated tracks."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from dunno.types.arrays import Ints
from dunno.types.movie import Frames, PickedFrames, check_step


@dataclass(frozen=True, eq=False)
class Truth:
    """Who really is whose mother: annotated tracks, matched to a movie's detections.

    Attributes:
        track: (R,) the tracks' labels, ascending.
        first: (R,) original index of each track's first frame.
        last: (R,) original index of each track's last frame.
        mother: (R,) the track it came from by division or across a gap, 0 for none.
        frames: (T,) original index of each frame in view.
        labels: For each frame, (n,) the movie's detections.
        tracks: For each frame, (n,) the track of each detection, 0 for a false one.
        present: For each frame, the tracks that are marked in it, detected or not, ascending.
        others: For each frame, (2, k) further tracks that detections hold beside their own: index of the detection, track. Empty
            where no mask holds two cells.
        markers: The annotation itself, a label image per frame in view whose labels are tracks, so that other masks of the movie
            can be matched to it; `None` where it is not at hand.
    """

    track: Ints
    first: Ints
    last: Ints
    mother: Ints
    frames: Ints
    labels: tuple[Ints, ...] = field(repr=False)
    tracks: tuple[Ints, ...] = field(repr=False)
    present: tuple[Ints, ...] = field(repr=False)
    others: tuple[Ints, ...] = field(default=(), repr=False)
    markers: Frames | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.frames)

    def every(self, n: int, start: int = 0) -> Truth:
        """View every n-th frame, like `Movie.every`."""
        return self.part(check_step(n, start, len(self)))

    def held_besides(self, t: int) -> Ints:
        """(2, k) the further cells in the masks of the t-th frame: index of the detection, track."""
        return self.others[t] if self.others else np.empty((2, 0), np.int64)

    def part(self, selection: slice) -> Truth:
        """View some of the frames."""
        return replace(
            self,
            frames=self.frames[selection],
            labels=self.labels[selection],
            tracks=self.tracks[selection],
            present=self.present[selection],
            others=self.others[selection],
            markers=None if self.markers is None else PickedFrames(self.markers, np.arange(len(self))[selection]),
        )
