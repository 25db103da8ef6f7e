"""One frame's cells, and the pixels behind them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dunno.errors import MovieError
from dunno.types.arrays import Floats, Ints
from dunno.types.labels import LabelImage, measure

if TYPE_CHECKING:
    from dunno.types.movie import Movie


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
    def diameter(self) -> Floats:
        """(n,) of the disc or ball of each cell's area or volume."""
        if self.centroid.shape[1] == 2:
            return np.asarray(2 * np.sqrt(self.area / np.pi))
        return np.asarray(2 * np.cbrt(3 * self.area / (4 * np.pi)))

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


def typical_diameter(cells: list[Detections]) -> float:
    """The median diameter over some frames; 1 where there are no cells."""
    sizes = np.concatenate([each.diameter for each in cells]) if cells else np.empty(0)
    return float(np.median(sizes)) if len(sizes) else 1.0
