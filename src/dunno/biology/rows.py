"""Every mask of a movie as a row: when, where, how large, how bright. What stays the same whoever is whose mother."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from dunno.tracking import Tracking
from dunno.types import Bools, Detections, Floats, Ints
from dunno.types.detections import typical_diameter
from dunno.types.field import Field

PER_FRAME = ("frames", "times", "unit", "ends")
"""What is known of frames, and not of masks."""

NEIGHBOUR_DIAMETERS = 2.0
"""Cells whose centres are closer than this many diameters are neighbours."""


@dataclass(frozen=True, eq=False)
class CellRows:
    """Masks, frame by frame."""

    frames: Ints  # (T,) original index of each frame
    times: Floats  # (T,) when each frame was taken, in `unit`
    unit: str  # `minutes`, or `frames` where the interval is not known
    ends: Ints  # (T + 1,) the row with which each frame begins, and the number of rows
    label: Ints  # (N,) as in the masks
    place: Floats  # (N, d) centre, in physical units
    area: Floats  # (N,) in physical units
    brightness: Floats  # (N,) mean intensity above background; NaN where there are no images
    total: Floats  # (N,) summed intensity; NaN likewise
    at_border: Bools  # (N,) whether its centre is within a cell's diameter of the edge of the field
    source: Ints | None = None  # (N,) the row of each mask among all that were tracked; itself where none is left out
    # (N,) the number of its track, as in the output's tables; `None` where nobody has numbered it
    track: Ints | None = None

    def __len__(self) -> int:
        return len(self.label)

    @property
    def t(self) -> Ints:
        """(N,) position of each row's frame in the movie."""
        return np.repeat(np.arange(len(self.frames)), np.diff(self.ends))

    @classmethod
    def of(cls, tracking: Tracking) -> CellRows:
        """The masks that were tracked."""
        cells = tracking.block.cells
        frames = [cells.at(t) for t in range(cells.n_frames)]
        times, unit = _times(tracking, cells.frames.tolist())
        light = [_light(tracking, t, each) for t, each in enumerate(frames)]
        return cls(
            frames=cells.frames,
            times=times,
            unit=unit,
            ends=cells.ends,
            label=cells.label,
            place=cells.centroid,
            area=cells.area,
            brightness=np.concatenate([each[0] for each in light]),
            total=np.concatenate([each[1] for each in light]),
            at_border=_at_border(frames),
            source=np.arange(len(cells)),
            track=tracking.cells.track,
        )

    def only(self, kept: Bools) -> CellRows:
        """Some of the masks."""
        ends = np.concatenate([[0], np.cumsum(kept)])[self.ends]
        known = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in PER_FRAME}
        columns: dict[str, Any] = {name: None if value is None else value[kept] for name, value in known.items()}
        return replace(self, ends=ends, **columns)

    def neighbours(self) -> tuple[Floats, Ints]:
        """(N,) distance to the nearest other cell of the frame (NaN where it is alone), and (N,) how many are near."""
        from scipy.spatial import cKDTree

        nearest, near = np.full(len(self), np.nan), np.zeros(len(self), np.int64)
        reach = NEIGHBOUR_DIAMETERS * self._diameter()
        for t in range(len(self.frames)):
            own = slice(int(self.ends[t]), int(self.ends[t + 1]))
            if own.stop - own.start < 2:
                continue
            tree = cKDTree(self.place[own])
            nearest[own] = tree.query(self.place[own], k=2)[0][:, 1]
            near[own] = np.array(tree.query_ball_point(self.place[own], reach, return_length=True)) - 1
        return nearest, near

    def _diameter(self) -> float:
        if not len(self):
            return 1.0
        area = float(np.median(self.area))
        return 2 * float(np.sqrt(area / np.pi) if self.place.shape[1] == 2 else np.cbrt(3 * area / (4 * np.pi)))


def _times(tracking: Tracking, frames: Sequence[int]) -> tuple[Floats, str]:
    """When each frame was taken: as the movie says, else by the interval between frames, else counted."""
    given = getattr(tracking.movie, "times", None)
    if given is not None and len(given) == len(frames):
        return np.asarray(given, np.float64), "minutes"
    index = np.asarray(frames, np.float64)
    if tracking.movie.interval is None:
        return index, "frames"
    step = float(np.median(np.diff(index))) if len(index) > 1 else 1.0
    return index * tracking.movie.interval / step, "minutes"


def _light(tracking: Tracking, t: int, cells: Detections) -> tuple[Floats, Floats]:
    """Brightness above background, and the sum; NaN where nothing was measured."""
    unknown = np.full(len(cells), np.nan)
    if not tracking.movie.has_images:
        return unknown, unknown
    measured = tracking.movie.detections(t)
    if measured.brightness is None or measured.total is None or len(measured) != len(cells):
        return unknown, unknown
    background = 0.0 if measured.background is None or np.isnan(measured.background) else measured.background
    return measured.brightness - background, measured.total


def _at_border(frames: list[Detections]) -> Bools:
    field, size = Field.around(frames), typical_diameter(frames)
    place = np.concatenate([each.centroid for each in frames])
    near = (place < np.array(field.low) + size) | (place > np.array(field.high) - size)
    return np.asarray(near.any(axis=1), np.bool_)
