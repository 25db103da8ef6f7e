"""The cells of many frames: a table with a row per mask, and where frames that were measured are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from dunno.errors import MovieError
from dunno.types.arrays import Bools, Floats, Ints
from dunno.types.detections import MEASURED, PLACED, Detections
from dunno.types.measurements import elongation, long_axis

AXES = {2: ("y", "x"), 3: ("z", "y", "x")}

OF_FRAMES = ("frames", "background", "digest", "time")
OF_CELLS = (*PLACED, *MEASURED, "filled_from")
CELL_COLUMNS = (*OF_FRAMES, *OF_CELLS)
"""Columns with a row per frame, and per cell."""


@dataclass(frozen=True, eq=False)
class Cells:
    """One row per mask, frame by frame, by ascending label; columns as in `Detections`."""

    frames: Ints  # (T,) original index of each frame
    background: Floats  # (T,) of each frame; NaN where it was not measured
    digest: np.ndarray  # (T,) of each frame's masks; 0 where it was not taken
    ends: Ints  # (T + 1,) the row with which each frame begins, and the number of rows
    label: Ints
    centroid: Floats
    area: Floats
    bbox: Ints
    total: Floats | None = None
    brightness: Floats | None = None
    texture: Floats | None = None
    covariance: Floats | None = None
    touching: Floats | None = None
    pieces: Ints | None = None
    # (T,) when each frame was taken, in usual steps; `None` where all steps of the movie are the same
    time: Floats | None = None
    filled_from: Ints | None = None

    @classmethod
    def of(cls, frames: Sequence[Detections]) -> Cells:
        """Join frames, of which there is at least one; what some frame with cells lacks is left out."""
        kept = [name for name in MEASURED if all(len(each) == 0 or getattr(each, name) is not None for each in frames)]
        with_cells = {name: [each for each in frames if getattr(each, name) is not None] for name in kept}
        return cls(
            frames=np.array([each.frame for each in frames], np.int64),
            background=np.array([np.nan if each.background is None else each.background for each in frames]),
            digest=np.array([each.digest or 0 for each in frames], np.uint64),
            ends=np.cumsum([0, *map(len, frames)], dtype=np.int64),
            **{name: _joined(frames, name) for name in PLACED},
            **{name: _joined(parts, name) for name, parts in with_cells.items() if parts},
            time=np.array([each.time for each in frames]) if all(each.time is not None for each in frames) else None,
        )

    @classmethod
    def joined(cls, parts: Sequence[Cells]) -> Cells:
        """Tables of frames that follow each other; a column that one of them lacks is left out."""
        known = [name for name in CELL_COLUMNS if all(getattr(part, name) is not None for part in parts)]
        columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in known}
        counts = np.concatenate([np.diff(part.ends) for part in parts])
        return cls(**columns, ends=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64))

    def part(self, start: int, stop: int | None = None) -> Cells:
        """Some frames in a row."""
        frames = slice(start, self.n_frames if stop is None else stop)
        rows = slice(int(self.ends[frames.start]), int(self.ends[frames.stop]))
        columns = {name: _cut(getattr(self, name), frames) for name in OF_FRAMES}
        columns |= {name: _cut(getattr(self, name), rows) for name in OF_CELLS}
        return replace(self, **columns, ends=self.ends[start : frames.stop + 1] - rows.start)

    def only(self, kept: Bools) -> Cells:
        """Some of the cells; all frames stay."""
        columns: dict[str, Any] = {}
        for name in OF_CELLS:
            column = getattr(self, name)
            columns[name] = None if column is None else column[kept]
        counts = np.add.reduceat(np.append(kept, False), self.ends[:-1]) * (np.diff(self.ends) > 0)
        return replace(self, **columns, ends=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64))

    def __len__(self) -> int:
        return len(self.label)

    @property
    def n_frames(self) -> int:
        """How many frames there are, those without cells among them."""
        return len(self.frames)

    @property
    def frame(self) -> Ints:
        """(N,) original index of each cell's frame."""
        return np.repeat(self.frames, np.diff(self.ends))

    def rows(self, t: int) -> slice:
        """The rows of the t-th frame."""
        return slice(int(self.ends[t]), int(self.ends[t + 1]))

    def at(self, t: int) -> Detections:
        """The t-th frame's cells."""
        rows = self.rows(t)
        columns: dict[str, Any] = {name: getattr(self, name) for name in OF_CELLS}
        here: dict[str, Any] = {name: None if column is None else column[rows] for name, column in columns.items()}
        return Detections(
            **here,
            frame=int(self.frames[t]),
            background=None if self.total is None else float(self.background[t]),
            digest=int(self.digest[t]) or None,
            time=None if self.time is None else float(self.time[t]),
        )

    def columns(self) -> dict[str, np.ndarray]:
        """What a table for people holds, by name; NaN where nothing was measured.

        Places and areas are physical, boxes in pixels: the first one, and one past the last. `orientation` is the angle of the
        longest axis against the x axis, towards larger y, from -90 to 90 degrees; in 3D its components.
        """
        names = AXES[self.centroid.shape[1]]
        return {
            "frame": self.frame,
            "label": self.label,
            **dict(zip(names, self.centroid.T, strict=True)),
            "area": self.area,
            **{name: self._or_unknown(name) for name in ("brightness", "total", "texture")},
            "background": np.repeat(self.background, np.diff(self.ends)),
            **self._shape_columns(names),
            **{name: self._or_unknown(name) for name in ("touching", "pieces")},
            **{f"begin_{name}": self.bbox[:, 0, axis] for axis, name in enumerate(names)},
            **{f"end_{name}": self.bbox[:, 1, axis] for axis, name in enumerate(names)},
        }

    def _shape_columns(self, names: tuple[str, ...]) -> dict[str, np.ndarray]:
        if self.covariance is None:
            unknown = np.full((len(self), 3), np.nan)
            long, axis = unknown[:, 0], unknown[:, : len(names)]
        else:
            long, axis = elongation(self.covariance), long_axis(self.covariance)
        if len(names) == 2:
            return {"elongation": long, "orientation": np.degrees(np.arctan2(axis[:, 0], axis[:, 1]))}
        return {"elongation": long, **{f"orientation_{name}": axis[:, i] for i, name in enumerate(names)}}

    def _or_unknown(self, name: str) -> np.ndarray:
        column = getattr(self, name)
        return np.full(len(self), np.nan) if column is None else column


def _cut(column: Any, kept: slice) -> Any:
    return None if column is None else column[kept]


def _joined(frames: Sequence[Detections], name: str) -> Any:
    return np.concatenate([getattr(each, name) for each in frames])


class CellSource(Protocol):
    """Where a movie's measured cells are kept, by the frame's position in the movie."""

    def __getitem__(self, t: int, /) -> Detections:
        """Frame t's cells, without pixels; raises the `MovieError` of a frame that could not be read."""
        ...

    def digest(self, t: int) -> int | None:
        """By which frame t's masks are known again; `None` where they could not be read."""
        ...

    def only(self, frames: Sequence[int]) -> CellSource:
        """Some frames under the same numbers: what a worker elsewhere needs."""
        ...


@dataclass(frozen=True)
class RenumberedCells:
    """Cells whose frames have other numbers."""

    source: CellSource
    numbers: Mapping[int, int]  # By position

    def __getitem__(self, t: int) -> Detections:
        return replace(self.source[t], frame=self.numbers[t])

    def digest(self, t: int) -> int | None:
        """That of the masks, which are the same."""
        return self.source.digest(t)

    def only(self, frames: Sequence[int]) -> RenumberedCells:
        """Some frames under the same numbers."""
        return RenumberedCells(self.source.only(frames), self.numbers)


@dataclass(frozen=True)
class KeptCells:
    """Measured cells in memory."""

    frames: Mapping[int, Detections]  # By position; broken ones too, which are empty
    broken: Mapping[int, str] = field(default_factory=dict)  # Why some frames could not be read

    @classmethod
    def joined(cls, parts: Sequence[KeptCells]) -> KeptCells:
        """The frames of all parts."""
        frames = {t: cells for part in parts for t, cells in part.frames.items()}
        return cls(frames, {t: problem for part in parts for t, problem in part.broken.items()})

    def __getitem__(self, t: int) -> Detections:
        if t in self.broken:
            raise MovieError(self.broken[t])
        return self.frames[t]

    def digest(self, t: int) -> int | None:
        """By which frame t's masks are known again; `None` where they could not be read."""
        return self.frames[t].digest

    def only(self, frames: Sequence[int]) -> KeptCells:
        """Some frames under the same numbers."""
        return KeptCells({t: self.frames[t] for t in frames}, {t: self.broken[t] for t in frames if t in self.broken})
