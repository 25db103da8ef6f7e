"""What flows through dunno: frozen bundles of aligned arrays.

Shapes: a frame has n (or, as the earlier one of a pair, m) detections in d = 2 or 3 dimensions; a pair has E candidate
edges. The mother of a cell that did not divide is itself, one frame earlier.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dunno.assignment import Problem
from dunno.errors import MovieError
from dunno.labels import LabelImage, as_labels, measure

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class Frames(Protocol):
    """Where frames come from: NumPy, zarr and Dask arrays, lists, and the readers in `dunno.io`.

    A source may have a method `where(t)` that names frame t in messages, such as a file's path.
    """

    def __len__(self) -> int: ...
    def __getitem__(self, t: int, /) -> Any: ...


@dataclass(frozen=True)
class FewFrames:
    """Some frames of a source under the numbers they have there: all that a worker elsewhere needs of it."""

    frames: Mapping[int, Any]

    def __len__(self) -> int:
        return len(self.frames)

    def __getitem__(self, t: int) -> Any:
        return self.frames[t]


class Movie:
    """Masks over time, and optionally the images behind them. Frames are read when they are asked for.

    Args:
        masks: (T, [Z,] Y, X) labels as a NumPy, zarr or Dask array, or a list of frames; 0 is background.
        images: The same shape, or `None`.
        scale: Size of a pixel along each axis, `(y, x)` or `(z, y, x)`, or one number for all; `None` means 1.
        interval: Minutes between frames, if known.
        name: What to call the movie.
        mask_source: Where the masks come from, in words.
        frames: (T,) original index of each frame; `None` counts from 0.

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
    ) -> None:
        length = count_frames(masks)
        if length == 0:
            raise MovieError(f"{name}: the movie has no frames")
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
        self.frames: Ints = self._positions if frames is None else np.asarray(frames, dtype=np.int64)
        self.name = name
        self.path: str | None = None  # where `dunno.read` found it, so that it can be opened again
        self.masks_path: str | None = None
        self.mask_source = mask_source
        self.interval = interval
        self.shape: tuple[int, ...] = np.shape(masks[0])
        if len(self.shape) not in (2, 3):
            raise MovieError(
                f"{where_is(masks, 0)}: a frame of shape {self.shape}; expected (Y, X) or (Z, Y, X), "
                "so a whole movie is (T, Y, X) or (T, Z, Y, X)"
            )
        self.scale: tuple[float, ...] = _scale(scale, len(self.shape), name)
        self.has_scale = scale is not None

    def __len__(self) -> int:
        return len(self._positions)

    def __repr__(self) -> str:
        return f"Movie({self.name!r}, {len(self)} frames of {'×'.join(map(str, self.shape))}, {self.mask_source})"

    @property
    def has_images(self) -> bool:
        """Whether there are images behind the masks."""
        return self._images is not None

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
        labels = as_labels(self._masks[position], self.where(t))
        self._check_shape(labels.shape, self.where(t))
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
        """Find frame t's cells."""
        pixels = Pixels(self, t)
        found = measure(pixels.masks, self.where(t))
        scale = np.asarray(self.scale)
        return Detections(
            label=found.label,
            centroid=found.centroid * scale,
            area=found.area * np.float64(scale.prod()),
            bbox=found.bbox,
            frame=int(self.frames[t]),
            pixels=pixels,
        )

    def every(self, n: int, start: int = 0) -> Movie:
        """View every n-th frame, beginning with frame `start`: a lower temporal resolution."""
        view = self.part(check_step(n, start, len(self)))
        view.interval = None if self.interval is None else self.interval * n
        return view

    def part(self, selection: slice) -> Movie:
        """View some of the frames."""
        view = object.__new__(Movie)
        view.__dict__.update(self.__dict__)
        view._positions = self._positions[selection]
        view.frames = self.frames[selection]
        return view

    def blanked(self, frames: Collection[int]) -> Movie:
        """View in which some frames, given by position, are empty; they are not read."""
        view = self.part(slice(None))
        view._blank = self._blank | {int(self._positions[t]) for t in frames}
        return view

    def __getstate__(self) -> dict[str, Any]:
        """What another process needs: of arrays and lists of files, the frames in view alone."""
        if len(self) == count_frames(self._masks):
            return self.__dict__
        sources = {name: _only(self.__dict__[name], self._positions) for name in ("_masks", "_images")}
        return {**self.__dict__, **sources}

    def _check_shape(self, shape: tuple[int, ...], where: str) -> None:
        if shape != self.shape:
            raise MovieError(f"{where}: a frame of shape {shape}, but the movie's first one has {self.shape}")


def check_step(n: int, start: int, length: int) -> slice:
    """Turn `every(n, start)` into a slice, or say why it cannot be."""
    if n < 1 or start < 0 or int(n) != n or int(start) != start:
        raise MovieError(f"every({n}, start={start}): expected a step of at least 1 and a start of at least 0")
    if start >= length:
        raise MovieError(f"every({n}, start={start}): the movie has only {length} frames")
    return slice(int(start), None, int(n))


def count_frames(source: Frames) -> int:
    """Number of frames; zarr arrays have a shape but no length."""
    shape: tuple[int, ...] | None = getattr(source, "shape", None)
    return len(source) if shape is None else int(shape[0])


def _only(source: Any, positions: Ints) -> Any:
    if hasattr(source, "only"):
        return source.only(positions.tolist())
    if isinstance(source, np.ndarray | list | tuple):
        return FewFrames({t: source[t] for t in positions.tolist()})
    return source


def where_is(source: Frames, t: int) -> str:
    """Name a source's frame in a message."""
    where: Callable[[int], str] | None = getattr(source, "where", None)
    return f"frame {t}" if where is None else where(t)


def _scale(scale: Sequence[float] | float | None, n_dimensions: int, name: str) -> tuple[float, ...]:
    if scale is None:
        return (1.0,) * n_dimensions
    values = np.broadcast_to(scale, n_dimensions) if np.ndim(scale) == 0 else np.asarray(scale)
    if values.shape != (n_dimensions,):
        axes = "y,x" if n_dimensions == 2 else "z,y,x"
        raise MovieError(f"{name}: {values.size} scale values for {n_dimensions} dimensions; expected {axes}")
    if values.dtype.kind not in "iuf" or not (np.isfinite(values).all() and (values > 0).all()):
        raise MovieError(f"{name}: the scale is {scale}; expected the size of a pixel along each axis, above zero")
    return tuple(float(value) for value in values)


class Pixels:
    """One frame's pixels, read once when first asked for and kept for as long as the frame is worked on."""

    def __init__(self, movie: Movie, t: int) -> None:
        self._movie = movie
        self._t = t
        self._made: dict[Hashable, Any] = {}

    def once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """What `make()` gives, made when first asked for and kept like the pixels themselves."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    @cached_property
    def masks(self) -> LabelImage:
        """The labels."""
        return self._movie.masks(self._t)

    @cached_property
    def images(self) -> NDArray[Any]:
        """The image."""
        return self._movie.images(self._t)


class Redrawn(Pixels):
    """A frame's image under other masks."""

    def __init__(self, masks: LabelImage, original: Pixels) -> None:
        super().__init__(original._movie, original._t)
        self.__dict__["masks"] = masks  # where cached_property would keep it


@dataclass(frozen=True, eq=False)
class Detections:
    """One frame's cells, by ascending label.

    Attributes:
        label: (n,) as in the masks.
        centroid: (n, d) in physical units (pixels × scale).
        area: (n,) in physical units; a volume in 3D.
        bbox: (n, 2, d) in pixels: the first one, and one past the last.
        frame: Original index of the frame.
        pixels: The masks and images behind the cells (`pixels.masks`, `pixels.images`); not part of results.
        features: (n, q) what a cost compares instead of places, where a perturbation has changed it.
    """

    label: Ints
    centroid: Floats
    area: Floats
    bbox: Ints
    frame: int = 0
    pixels: Pixels | None = field(default=None, repr=False)
    features: Floats | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.label)

    def without_pixels(self) -> Detections:
        """The same cells, light enough to keep."""
        return replace(self, pixels=None)

    @property
    def masks(self) -> LabelImage:
        """The frame's labels."""
        return self._pixels().masks

    @property
    def images(self) -> NDArray[Any]:
        """The frame's image."""
        return self._pixels().images

    def once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """What `make()` gives, made when first asked for and kept for as long as the frame's pixels are."""
        return self._pixels().once(key, make)

    def _pixels(self) -> Pixels:
        if self.pixels is None:
            raise MovieError(f"frame {self.frame}: these detections came without pixels; take them from a Movie")
        return self.pixels

    def moved(self, masks: LabelImage, scale: Sequence[float]) -> Detections:
        """The same cells under other masks with the same labels, and the centroids, areas and boxes that follow."""
        found = measure(masks, f"frame {self.frame}, perturbed")
        size = np.asarray(scale)
        pixels = Redrawn(masks, self._pixels())
        centroid, area = found.centroid * size, found.area * np.float64(size.prod())
        return replace(self, centroid=centroid, area=area, bbox=found.bbox, pixels=pixels)


@dataclass(frozen=True, eq=False)
class FramePair:
    """Two frames to be linked.

    Attributes:
        mothers: The earlier frame's detections.
        daughters: The later frame's detections.
        max_distance: How far a cell may move between them; what an event costs is often derived from it.
        scale: (d,) size of a pixel along each axis.
        window: The frames around the pair, both of its own among them, for a cost that asks for them; else empty. A
            perturbation changes `mothers` and `daughters` and leaves the window as it was.
        drawn: (m, n) what every edge costs, where a perturbation has drawn it from the cost itself.
    """

    mothers: Detections
    daughters: Detections
    max_distance: float
    scale: tuple[float, ...] = (1.0, 1.0)
    window: tuple[Detections, ...] = ()
    drawn: Floats | None = field(default=None, repr=False)


@dataclass(frozen=True, eq=False)
class Candidates:
    """The edges worth a cost, sorted by daughter, then by mother.

    Attributes:
        mother: (E,) index into the pair's mothers.
        daughter: (E,) index into the pair's daughters.
    """

    mother: Ints
    daughter: Ints

    def __len__(self) -> int:
        return len(self.mother)


@dataclass(frozen=True)
class EventCosts:
    """What it costs to appear, to disappear and to divide; numbers, or one per cell."""

    appear: float | Floats
    disappear: float | Floats
    divide: float | Floats


@dataclass(frozen=True, eq=False)
class PairPosterior:
    """What is believed about one frame pair.

    Attributes:
        mothers: The earlier frame's detections.
        daughters: The later frame's detections.
        mother: (E,) index of each candidate edge's mother.
        daughter: (E,) index of each candidate edge's daughter.
        cost: (E,) cost of each edge.
        log_probability: (E,) log P(mother | daughter); with `log_no_mother` they sum to 1 for every daughter.
        log_no_mother: (n,) log P(⊥), the chance that the daughter appeared; -inf where ⊥ was left out.
        entropy: (n,) of each daughter's distribution over mothers and ⊥, in nats.
        selected: (E,) whether the edge is a link of the reported assignment.
        log_disappear: (m,) log probability of having no daughter; `None` where the method does not know.
        log_divide: (m,) log probability of having two daughters; `None` where the method does not know.
        problem: The assignment problem whose posterior this is (JP only), from which whole assignments can be drawn.
        reviewed: (n,) whether a person decided about the daughter; `None` where nobody did.
        samples: (K, n) assignments drawn from the joint posterior, each daughter's edge or -1, whose frequencies are the
            probabilities; `None` where the method has none. They tell which links are wrong together.
    """

    mothers: Detections
    daughters: Detections
    mother: Ints
    daughter: Ints
    cost: Floats
    log_probability: Floats
    log_no_mother: Floats
    entropy: Floats
    selected: Bools
    log_disappear: Floats | None = None
    log_divide: Floats | None = None
    samples: Ints | None = None
    reviewed: Bools | None = None
    problem: Problem | None = field(default=None, repr=False)

    @property
    def mother_frame(self) -> int:
        """Original index of the earlier frame."""
        return self.mothers.frame

    @property
    def daughter_frame(self) -> int:
        """Original index of the later frame."""
        return self.daughters.frame

    @property
    def probability(self) -> Floats:
        """(E,) P(mother | daughter)."""
        return np.exp(self.log_probability)


@dataclass(frozen=True)
class BrokenFrame:
    """A frame that could not be read; no links lead to it or from it.

    Attributes:
        frame: Its original index.
        problem: Its file, and what is wrong with it.
    """

    frame: int
    problem: str


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
    """

    track: Ints
    first: Ints
    last: Ints
    mother: Ints
    frames: Ints
    labels: tuple[Ints, ...] = field(repr=False)
    tracks: tuple[Ints, ...] = field(repr=False)
    present: tuple[Ints, ...] = field(repr=False)

    def __len__(self) -> int:
        return len(self.frames)

    def every(self, n: int, start: int = 0) -> Truth:
        """View every n-th frame, like `Movie.every`."""
        return self.part(check_step(n, start, len(self)))

    def part(self, selection: slice) -> Truth:
        """View some of the frames."""
        return replace(
            self,
            frames=self.frames[selection],
            labels=self.labels[selection],
            tracks=self.tracks[selection],
            present=self.present[selection],
        )
