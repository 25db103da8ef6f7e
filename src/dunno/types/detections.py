"""One frame's cells, and the pixels behind them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dunno.errors import MovieError
from dunno.types.arrays import Bools, Floats, Ints
from dunno.types.labels import LabelImage, measure
from dunno.types.measurements import elongation, long_axis

if TYPE_CHECKING:
    from dunno.types.movie import Movie


PLACED = ("label", "centroid", "area", "bbox")
"""Columns of `Detections` that are always there, a row per cell."""

MEASURED = ("total", "brightness", "texture", "covariance", "touching", "pieces")
"""Those that are `None` where they were not measured."""


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
        self.masks = masks


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
        total: (n,) summed intensity; this and what follows is `None` where it was not measured.
        brightness: (n,) mean intensity.
        texture: (n,) standard deviation of the intensity over a cell's pixels.
        background: Median intensity outside all cells.
        covariance: (n, d, d) second central moments of each cell's area, in physical units².
        touching: (n,) share of the outline that touches other cells; `CellMeasurements` says what counts.
        pieces: (n,) number of connected pieces.
        digest: A number by which the frame's masks are known again.
        time: When the frame was taken, in usual steps; `None` where all steps of the movie are the same.
        stage: (d,) by how much everything has moved since the first frame, in physical units, where somebody said so.
        filled_from: (n, 2) of cells that were filled in across a gap, the frame and row of the cell whose mask they borrow, -1 for
            others; `None` where nothing was filled in.

    Intensities are NaN where the movie has images but this frame's cannot be read.
    """

    label: Ints
    centroid: Floats
    area: Floats
    bbox: Ints
    frame: int = 0
    pixels: Pixels | None = field(default=None, repr=False)
    features: Floats | None = field(default=None, repr=False)
    total: Floats | None = None
    brightness: Floats | None = None
    texture: Floats | None = None
    background: float | None = None
    covariance: Floats | None = field(default=None, repr=False)
    touching: Floats | None = None
    pieces: Ints | None = None
    digest: int | None = None
    filled_from: Ints | None = field(default=None, repr=False)
    time: float | None = None
    stage: Floats | None = None

    def __len__(self) -> int:
        return len(self.label)

    def only(self, kept: Bools) -> Detections:
        """Some of the cells."""
        columns: dict[str, Any] = {name: getattr(self, name) for name in (*PLACED, *MEASURED)}
        return replace(self, **{name: each[kept] for name, each in columns.items() if each is not None})

    def without_pixels(self) -> Detections:
        """The same cells, light enough to keep."""
        return self.with_pixels(None, self.time, self.stage)

    def with_pixels(self, pixels: Pixels | None, time: float | None, stage: Floats | None) -> Detections:
        """The same cells with other pixels behind them, when the frame was taken and where; cheaper than `replace`."""
        cells = object.__new__(Detections)
        cells.__dict__.update(self.__dict__, pixels=pixels, time=time, stage=stage)
        return cells

    @property
    def is_filled(self) -> Bools:
        """(n,) which cells have no mask of their own, but were filled in across a gap."""
        return np.zeros(len(self), np.bool_) if self.filled_from is None else self.filled_from[:, 0] >= 0

    @property
    def diameter(self) -> Floats:
        """(n,) of the disc or ball of each cell's area or volume."""
        if self.centroid.shape[1] == 2:
            return np.asarray(2 * np.sqrt(self.area / np.pi))
        return np.asarray(2 * np.cbrt(3 * self.area / (4 * np.pi)))

    @property
    def elongation(self) -> Floats:
        """(n,) ratio of the longest to the shortest axis, at least 1."""
        return elongation(self._covariance())

    @property
    def orientation(self) -> Floats:
        """(n, d) unit vector along the longest axis; of its two directions the one towards larger x (else y, else z)."""
        return long_axis(self._covariance())

    def _covariance(self) -> Floats:
        if self.covariance is None:
            raise MovieError(f"frame {self.frame}: the shape of these cells was not measured; take them from a Movie")
        return self.covariance

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
        """The same cells under other masks with the same labels, and the centroids, areas and boxes that follow.

        What else was measured of them does not hold any more, and is left out.
        """
        found = measure(masks, f"frame {self.frame}, perturbed")
        size = np.asarray(scale)
        pixels = Redrawn(masks, self._pixels())
        centroid, area = found.centroid * size, found.area * np.float64(size.prod())
        gone: dict[str, Any] = dict.fromkeys((*MEASURED, "background", "digest"))
        return replace(self, centroid=centroid, area=area, bbox=found.bbox, pixels=pixels, **gone)


def typical_diameter(cells: list[Detections]) -> float:
    """The median diameter over some frames; 1 where there are no cells."""
    sizes = np.concatenate([each.diameter for each in cells]) if cells else np.empty(0)
    return float(np.median(sizes)) if len(sizes) else 1.0
