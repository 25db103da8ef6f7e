"""Points over time: cells of which only the place is known."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from dunno.errors import MovieError
from dunno.types.arrays import Floats, Ints
from dunno.types.detections import Detections
from dunno.types.neighbours import nearest

SAMPLED_FRAMES = 20  # frames; judged
"""Frames in which the way to neighbours is measured."""

MOST_EMPTY = 10_000  # frames per point; judged: more is a mistake
"""Frames for each point; more is a mistake."""


@dataclass(frozen=True, eq=False)
class Points:
    """Points where a movie has masks otherwise."""

    label: Mapping[int, Ints]  # Each frame's (n,) names of its points, ascending, by position
    place: Mapping[int, Floats]  # Each frame's (n, d) places in pixels, by position
    diameter: float  # What a cell is taken to measure, in physical units
    source: str = "points"  # The file, for messages

    def __len__(self) -> int:
        return len(self.label)

    def __getitem__(self, t: int) -> NoReturn:
        raise MovieError(f"{self.where(t)}: has points and no masks; give masks, or leave out what needs their pixels")

    @property
    def frame_shape(self) -> tuple[int, ...]:
        """The smallest frame that holds all points."""
        highest = [place.max(axis=0) for place in self.place.values() if len(place)]
        n_dimensions = int(next(iter(self.place.values())).shape[1])
        if not highest:
            return (1,) * n_dimensions
        return tuple(int(size) for size in np.maximum(np.floor(np.max(highest, axis=0) + 0.5) + 1, 1))

    def only(self, frames: Sequence[int]) -> Points:
        """Some frames under the same numbers."""
        return Points(
            {t: self.label[t] for t in frames}, {t: self.place[t] for t in frames}, self.diameter, self.source
        )

    def where(self, t: int) -> str:
        """Frame t, with the file."""
        return f"{self.source}, frame {t}"

    def digest(self, t: int) -> int:
        """A number by which a frame's points are known again."""
        content = self.label[t].tobytes() + np.ascontiguousarray(self.place[t], np.float64).tobytes()
        return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little") or 1

    def detections(self, t: int, frame: int, scale: Sequence[float], **more: Any) -> Detections:
        """Frame t's points as cells of one size; nothing else is known of them."""
        place, n_dimensions = self.place[t], len(scale)
        area = np.pi / 4 * self.diameter**2 if n_dimensions == 2 else np.pi / 6 * self.diameter**3
        low = np.floor(place + 0.5).astype(np.int64)
        return Detections(
            label=self.label[t],
            centroid=place * np.asarray(scale),
            area=np.full(len(place), area),
            bbox=np.stack([low, low + 1], axis=1),
            frame=frame,
            digest=self.digest(t),
            **more,
        )


def split_by_frame(frame: Ints, source: str) -> tuple[Ints, list[Ints]]:
    """The frames between the first and the last one, at the step that their numbers have in common, and the rows of each.

    Example:
        >>> split_by_frame(np.array([4, 0, 6, 4]), "points")
        (array([0, 2, 4, 6]), [array([1]), array([], dtype=int64), array([0, 3]), array([2])])
    """
    known = np.unique(frame)
    step = int(np.gcd.reduce(np.diff(known))) if len(known) > 1 else 1
    n_frames = int(known[-1] - known[0]) // step + 1
    if n_frames > MOST_EMPTY * len(frame):
        raise MovieError(f"{source}: {len(frame)} points would be in {n_frames:,} frames; is {known[-1]} a frame?")
    frames = known[0] + step * np.arange(n_frames)
    order = np.argsort(frame, kind="stable")
    return frames, np.split(order, np.searchsorted(frame[order], frames[1:]))


def diameter_between(places: Sequence[Floats]) -> float:
    """What a cell is taken to measure where nothing says it: half of the way to its nearest neighbour; 1 without any."""
    near = [nearest(place, place, 2)[0][:, 1] for place in places[:SAMPLED_FRAMES] if len(place) > 1]
    found = float(np.median(np.concatenate(near))) / 2 if near else 1.0
    return found if found > 0 else 1.0
