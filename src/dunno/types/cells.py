"""The cells of many frames: a table with a row per mask, and where frames that were measured are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from dunno.errors import MovieError
from dunno.types.arrays import Floats, Ints
from dunno.types.detections import MEASURED, PLACED, Detections
from dunno.types.shapes import elongation, long_axis

AXES = {2: ("y", "x"), 3: ("z", "y", "x")}


@dataclass(frozen=True, eq=False)
class Cells:
    """One row per mask, frame by frame, by ascending label; columns as in `Detections`.

    Attributes:
        frames: (T,) original index of each frame.
        background: (T,) of each frame; NaN where it was not measured.
        digest: (T,) of each frame's masks; 0 where it was not taken.
        ends: (T + 1,) the row with which each frame begins, and the number of rows.
    """

    frames: Ints
    background: Floats
    digest: np.ndarray
    ends: Ints
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
        )

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
        columns: dict[str, Any] = {name: getattr(self, name) for name in (*PLACED, *MEASURED)}
        here: dict[str, Any] = {name: None if column is None else column[rows] for name, column in columns.items()}
        return Detections(
            **here,
            frame=int(self.frames[t]),
            background=None if self.total is None else float(self.background[t]),
            digest=int(self.digest[t]) or None,
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
class KeptCells:
    """Measured cells in memory.

    Attributes:
        frames: By position; broken ones too, which are empty.
        broken: Why some frames could not be read.
    """

    frames: Mapping[int, Detections]
    broken: Mapping[int, str] = field(default_factory=dict)

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
