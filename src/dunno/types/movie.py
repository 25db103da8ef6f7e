"""A movie: masks over time, and optionally the images behind them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dunno.errors import MovieError
from dunno.types.arrays import Floats, Ints
from dunno.types.cells import CellSource, RenumberedCells
from dunno.types.clock import check_times, clock_of
from dunno.types.detections import Detections, Pixels
from dunno.types.labels import LabelImage, as_labels
from dunno.types.measurements import digest_of, measure_cells, no_intensity
from dunno.types.points import Points

MOST_FRAMES_OF_A_MOVIE = 100_000_000  # frames; judged: more is a mistake
SCALES = (1e-30, 1e30)  # length; exact: squares stay numbers
"""Sizes of a pixel beyond these are mistakes, and their squares no numbers."""


class Frames(Protocol):
    """Where frames come from: NumPy, zarr and Dask arrays, lists, and the readers in `dunno.io`.

    What else a source may offer is in the protocols below.
    """

    def __len__(self) -> int: ...
    def __getitem__(self, t: int, /) -> Any: ...


@runtime_checkable
class WholeArray(Protocol):
    """Frames whose number and size are known before one is read."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Their number, then their size."""


@runtime_checkable
class SizedFrames(Protocol):
    """Frames whose size is known before one is read."""

    @property
    def frame_shape(self) -> tuple[int, ...]:
        """Of each frame."""


@runtime_checkable
class LocatedFrames(Protocol):
    """Frames that have names in messages, such as their files' paths."""

    def where(self, t: int) -> str:
        """The name of a frame."""


@runtime_checkable
class DivisibleFrames(Protocol):
    """Frames of which a worker elsewhere needs only some."""

    def only(self, positions: Sequence[int], /) -> Frames:
        """Some frames under the numbers they have here."""


@dataclass(frozen=True)
class FewFrames:
    """Some frames of a source under the numbers they have there: all that a worker elsewhere needs of it."""

    frames: Mapping[int, Any]

    def __len__(self) -> int:
        return len(self.frames)

    def __getitem__(self, t: int) -> Any:
        return self.frames[t]


@dataclass(frozen=True)
class PickedFrames:
    """Some frames of a source, counted from 0."""

    source: Frames
    positions: Ints

    def __len__(self) -> int:
        return len(self.positions)

    def __getitem__(self, t: int) -> Any:
        return self.source[int(self.positions[t])]

    def where(self, t: int) -> str:
        """Names a frame in messages."""
        return where_is(self.source, int(self.positions[t]))

    def only(self, positions: Sequence[int]) -> FewFrames:
        """What a worker elsewhere needs."""
        return FewFrames({t: self[t] for t in positions})


class Movie:
    """Masks over time, and optionally the images behind them. Frames are read when they are asked for.

    Args:
        masks: (T, [Z,] Y, X) labels as a NumPy, zarr or Dask array, or a list of frames; 0 is background. Or `Points`.
        images: The same shape, or `None`.
        scale: Size of a pixel along each axis, `(y, x)` or `(z, y, x)`, or one number for all; `None` means 1.
        interval: Minutes between frames, if known.
        times: (T,) minutes at which each frame was taken, where the steps are not all the same. Without it, frames with numbers
            missing between them are taken for farther apart.
        name: What to call the movie.
        mask_source: Where the masks come from, in words.
        frames: (T,) original index of each frame; `None` counts from 0.
        notes: What a reader has to say about it, a line each.

    Example:
        >>> import numpy as np
        >>> movie = Movie(np.eye(3, dtype=int)[None].repeat(5, axis=0))
        >>> len(movie.every(2)), movie.every(2).frames
        (3, array([0, 2, 4]))
    """

    def __init__(
        self,
        masks: Frames,
        images: Frames | None = None,
        scale: Sequence[float] | float | None = None,
        interval: float | None = None,
        *,
        name: str = "movie",
        mask_source: str = "arrays",
        frames: Ints | None = None,
        notes: Sequence[str] = (),
        times: Sequence[float] | None = None,
    ) -> None:
        length = count_frames(masks)
        if length == 0:
            raise MovieError(f"{name}: the movie has no frames")
        if length > MOST_FRAMES_OF_A_MOVIE:
            raise MovieError(f"{name}: claims to have {length:,} frames; expected at most {MOST_FRAMES_OF_A_MOVIE:,}")
        if images is not None and count_frames(images) != length:
            raise MovieError(
                f"{name}: {length} mask frames but {count_frames(images)} image frames; every frame needs one of each"
            )
        if interval is not None and not (np.isfinite(interval) and interval > 0):
            raise MovieError(f"{name}: the interval is {interval}; expected minutes between frames, above zero")
        self._masks = masks
        self._images = images
        self._positions: Ints = np.arange(length)
        self._blank: frozenset[int] = frozenset()
        self._cells: CellSource | None = None
        self._places: Ints = self._positions  # of the frames in the source of cells
        self.frames: Ints = self._positions if frames is None else np.asarray(frames, dtype=np.int64)
        self.times: Floats | None = None
        self.shifts: Floats | None = None  # (T, d) pixels that put each frame on the first one
        self.clock: Floats | None = clock_of(self.frames)  # in usual steps; `None` where all are the same
        self.name = name
        self.path: str | None = None  # where `dunno.read` found it, so that it can be opened again
        self.masks_path: str | None = None
        self.opened_with: dict[str, Any] = {}  # what else `dunno.read` was told
        self.form = "arrays"  # what `dunno.read` took it for
        self.notes: tuple[str, ...] = tuple(notes)
        self.mask_source = mask_source
        self.interval = interval
        self.shape: tuple[int, ...] = frame_shape(masks)
        if len(self.shape) not in (2, 3):
            raise MovieError(
                f"{where_is(masks, 0)}: a frame of shape {self.shape}; expected (Y, X) or (Z, Y, X), "
                "so a whole movie is (T, Y, X) or (T, Z, Y, X)"
            )
        self.scale: tuple[float, ...] = _scale(scale, len(self.shape), name)
        self.has_scale = scale is not None
        if times is not None:
            self._take_times(check_times(times, length, name))

    def __len__(self) -> int:
        return len(self._positions)

    def __repr__(self) -> str:
        return f"Movie({self.name!r}, {len(self)} frames of {'×'.join(map(str, self.shape))}, {self.mask_source})"

    @property
    def has_images(self) -> bool:
        """Whether there are images behind the masks."""
        return self._images is not None

    @property
    def has_masks(self) -> bool:
        """Whether its cells have masks; of points only the places are known."""
        return not isinstance(self._masks, Points)

    @property
    def has_cells(self) -> bool:
        """Whether its cells were measured before and are kept somewhere."""
        return self._cells is not None

    @property
    def n_dimensions(self) -> int:
        """2 or 3."""
        return len(self.shape)

    def where(self, t: int) -> str:
        """Name frame t's masks in a message: their file, where there is one."""
        return where_is(self._masks, int(self._positions[t]))

    def masks(self, t: int) -> LabelImage:
        """Read frame t's labels, (Y, X) or (Z, Y, X)."""
        position = int(self._positions[t])
        if position in self._blank:
            return np.zeros(self.shape, np.uint8)
        try:
            labels = as_labels(self._masks[position], self.where(t))
        except MemoryError:
            raise MovieError(f"{self.where(t)}: a frame of {self.shape} pixels does not fit into memory") from None
        self._check_shape(labels.shape, self.where(t))
        known = None if self._cells is None else self._cells.digest(int(self._places[t]))
        if known is not None and known != digest_of(labels, self.where(t)):
            raise MovieError(
                f"frame {self.frames[t]}: the masks have changed since they were measured ({self.where(t)}); "
                "track the movie again, or put the old masks back"
            )
        return labels

    def images(self, t: int) -> NDArray[Any]:
        """Read frame t's image."""
        if self._images is None:
            raise MovieError(f"{self.name}: has masks but no images; give images, or use a cost that needs none")
        position = int(self._positions[t])
        if position in self._blank:
            return np.zeros(self.shape, np.uint8)
        image = np.asarray(self._images[position])
        self._check_shape(image.shape, where_is(self._images, position))
        return image

    def detections(self, t: int) -> Detections:
        """Frame t's cells: measured now or, in a view that `with_cells` made, as they were measured before."""
        if self._cells is None or int(self._positions[t]) in self._blank:
            return self.measure(t)[0]
        cells = self._cells[int(self._places[t])]
        if cells.frame != self.frames[t]:
            raise MovieError(f"{self.name}: the cells of frame {cells.frame} are kept where frame {self.frames[t]} is")
        return cells.with_pixels(Pixels(self, t), self._time(t), self._stage(t))

    def _time(self, t: int) -> float | None:
        return None if self.clock is None else float(self.clock[t])

    def _stage(self, t: int) -> Floats | None:
        return None if self.shifts is None else -self.shifts[t] * np.asarray(self.scale)

    def measure(self, t: int) -> tuple[Detections, str | None]:
        """Measure frame t's cells, and say why its image cannot be used, where there should be one.

        Without it their intensities are NaN; costs that need it will ask for it themselves.
        """
        pixels, image, problem = Pixels(self, t), None, None
        position = int(self._positions[t])
        blank = position in self._blank
        if isinstance(self._masks, Points) and not blank:
            points = self._masks.detections(position, int(self.frames[t]), self.scale, pixels=pixels)
            return replace(points, time=self._time(t), stage=self._stage(t)), None
        masks = pixels.masks
        if self._images is not None and not blank:
            try:
                image = pixels.images
            except MovieError as error:
                problem = str(error)
        found = measure_cells(masks, image, self.where(t))
        light = found.light if self._images is None or image is not None else no_intensity(len(found.place.label))
        return Detections(
            **found.scaled(np.asarray(self.scale)),
            frame=int(self.frames[t]),
            pixels=pixels,
            digest=None if blank else found.digest,
            time=self._time(t),
            stage=self._stage(t),
            **({} if light is None else light._asdict()),
        ), problem

    def digest(self, t: int) -> int:
        """The number by which frame t's masks, or points, are known again; they are read."""
        if isinstance(self._masks, Points):
            return self._masks.digest(int(self._positions[t]))
        return digest_of(self.masks(t), self.where(t))

    def with_cells(self, source: CellSource) -> Movie:
        """View whose cells come from where they were measured before; its masks are refused where they have changed since."""
        view = self.part(slice(None))
        view._cells, view._places = source, np.arange(len(self))
        return view

    def with_masks(self, masks: Frames, mask_source: str) -> Movie:
        """View with other masks, one for every frame in view; its cells are measured anew."""
        view = self.part(slice(None))
        view._masks, view.mask_source, view._cells = masks, mask_source, None
        view._images = None if self._images is None else PickedFrames(self._images, self._positions)
        view._blank = frozenset(np.flatnonzero(np.isin(self._positions, [*self._blank])).tolist())
        view._positions = view._places = np.arange(len(self))
        return view

    def with_images(self, images: Frames) -> Movie:
        """View with other images behind the masks, one for every frame."""
        if count_frames(images) != len(self):
            raise MovieError(
                f"{self.name}: {len(self)} mask frames but {count_frames(images)} image frames; every frame needs one of each"
            )
        view = self.part(slice(None))
        view._images = images
        return view

    @property
    def sources(self) -> tuple[Frames, Frames | None]:
        """Where its masks and its images come from."""
        return self._masks, self._images

    def every(self, n: int, start: int = 0) -> Movie:
        """View every n-th frame, beginning with frame `start`: a lower temporal resolution."""
        view = self.part(check_step(n, start, len(self)))
        view.interval = None if self.interval is None else self.interval * n
        if view.times is not None:
            view._take_times(view.times)
        else:
            view.clock = clock_of(view.frames)
        return view

    def reversed(self) -> Movie:
        """View that is played backwards: its last frame has the number of the first one."""
        view = self.part(slice(None, None, -1))
        view.frames = self.frames[0] + self.frames[-1] - view.frames
        view.times = None if view.times is None else view.times[0] + view.times[-1] - view.times
        view.clock = None if view.clock is None else view.clock[0] + view.clock[-1] - view.clock
        if view._cells is not None:
            numbers = dict(zip(view._places.tolist(), view.frames.tolist(), strict=True))
            view._cells = RenumberedCells(view._cells, numbers)
        return view

    def with_times(self, times: Sequence[float] | Floats) -> Movie:
        """View whose frames were taken at these minutes, one for each frame, ascending."""
        view = self.part(slice(None))
        view._take_times(check_times(times, len(self), self.name))
        return view

    def with_shifts(self, shifts: Sequence[Sequence[float]] | Floats) -> Movie:
        """View whose frames are known to be shifted: (T, d) pixels that put each frame on the first one, as registration says.

        Links count from there, and jumps of the stage are not looked for.
        """
        view, values = self.part(slice(None)), np.asarray(shifts, np.float64)
        expected = (len(self), self.n_dimensions)
        if values.shape != expected or not np.isfinite(values).all():
            raise MovieError(
                f"{self.name}: shifts of shape {values.shape}; expected {expected}, a number for each frame and axis"
            )
        view.shifts = values
        return view

    def _take_times(self, times: Floats) -> None:
        self.times, self.clock = times, clock_of(times)
        if len(times) > 1:
            self.interval = float(np.median(np.diff(times)))

    def part(self, selection: slice | Ints) -> Movie:
        """View some of the frames, given by position."""
        view = object.__new__(Movie)
        view.__dict__.update(self.__dict__)
        view._positions = self._positions[selection]
        view._places = self._places[selection]
        view.frames = self.frames[selection]
        view.times = None if self.times is None else self.times[selection]
        view.clock = None if self.clock is None else self.clock[selection]
        view.shifts = None if self.shifts is None else self.shifts[selection]
        return view

    def blanked(self, frames: Collection[int]) -> Movie:
        """View in which some frames, given by position, are empty; they are not read."""
        view = self.part(slice(None))
        view._blank = self._blank | {int(self._positions[t]) for t in frames}
        return view

    def __getstate__(self) -> dict[str, Any]:
        """What another process needs: of arrays and lists of files, the frames in view alone."""
        state = {**self.__dict__}
        if self._cells is not None:
            state["_cells"] = self._cells.only(self._places.tolist())
        if len(self) < count_frames(self._masks):
            state |= {name: _only(self.__dict__[name], self._positions) for name in ("_masks", "_images")}
        return state

    def _check_shape(self, shape: tuple[int, ...], where: str) -> None:
        if shape != self.shape:
            short = "; fill up its missing slices with empty ones, or take the frame away" if len(shape) == 3 else ""
            raise MovieError(f"{where}: a frame of shape {shape}, but the movie's first one has {self.shape}{short}")


def check_step(n: int, start: int, length: int) -> slice:
    """Turn `every(n, start)` into a slice, or say why it cannot be."""
    if n < 1 or start < 0 or int(n) != n or int(start) != start:
        raise MovieError(f"every({n}, start={start}): expected a step of at least 1 and a start of at least 0")
    if start >= length:
        raise MovieError(f"every({n}, start={start}): the movie has only {length} frames")
    return slice(int(start), None, int(n))


def count_frames(source: Frames) -> int:
    """Number of frames; zarr arrays have a shape but no length."""
    return int(source.shape[0]) if isinstance(source, WholeArray) else len(source)


def frame_shape(source: Frames) -> tuple[int, ...]:
    """Size of the first frame, which is read only where the source does not tell it otherwise."""
    if isinstance(source, SizedFrames):
        return source.frame_shape
    return tuple(source.shape[1:]) if isinstance(source, WholeArray) else np.shape(source[0])


def _only(source: Any, positions: Ints) -> Any:
    if isinstance(source, DivisibleFrames):
        return source.only(positions.tolist())
    if isinstance(source, np.ndarray | list | tuple):
        return FewFrames({t: source[t] for t in positions.tolist()})
    return source


def where_is(source: Frames, t: int) -> str:
    """Name a source's frame in a message."""
    return source.where(t) if isinstance(source, LocatedFrames) else f"frame {t}"


def _scale(scale: Sequence[float] | float | None, n_dimensions: int, name: str) -> tuple[float, ...]:
    if scale is None:
        return (1.0,) * n_dimensions
    values = np.broadcast_to(scale, n_dimensions) if np.ndim(scale) == 0 else np.asarray(scale)
    if values.shape != (n_dimensions,):
        axes = "y,x" if n_dimensions == 2 else "z,y,x"
        raise MovieError(f"{name}: {values.size} scale values for {n_dimensions} dimensions; expected {axes}")
    if values.dtype.kind not in "iuf" or not (np.isfinite(values).all() and (values > 0).all()):
        raise MovieError(f"{name}: the scale is {scale}; expected the size of a pixel along each axis, above zero")
    if values.min() < SCALES[0] or values.max() > SCALES[1]:
        raise MovieError(f"{name}: the scale is {scale}; expected sizes between {SCALES[0]:g} and {SCALES[1]:g}")
    return tuple(float(value) for value in values)
