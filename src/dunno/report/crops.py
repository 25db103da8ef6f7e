"""Pieces of frames for people to look at: grey pictures, and the outlines of cells as SVG paths."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dunno.types import Bools, Ints, Movie
from dunno.types.labels import LabelImage

DARKEST, BRIGHTEST = 1.0, 99.8
"""Percentiles of a frame's intensities that become black and white."""

CELL_GREY, BORDER_GREY = 110, 50
"""How a cell is drawn where the movie has masks only, and its border, so that cells that touch are seen as two."""

STRETCH_PIXELS = 1_000_000
"""About how many of a frame's pixels say what is dark and what is bright; all of a huge one would take seconds."""

STRETCH_ROWS = 512


@dataclass(frozen=True)
class Box:
    """A rectangle of pixels: rows `top` to `bottom`, columns `left` to `right`, the last ones not included."""

    top: int
    left: int
    bottom: int
    right: int

    @classmethod
    def around(cls, points: NDArray[np.float64], size: float, shape: tuple[int, ...]) -> Box:
        """A square-ish box with all points (k, 2) in it, at least `size` wide and high, moved inside the frame where it fits."""
        low, high = points.min(axis=0), points.max(axis=0)
        half = np.maximum(high - low, size).max() / 2
        centre = (low + high) / 2
        first = np.clip(np.floor(centre - half).astype(int), 0, np.maximum(np.asarray(shape) - int(2 * half), 0))
        last = np.minimum(first + int(np.ceil(2 * half)), shape)
        return cls(int(first[0]), int(first[1]), int(last[0]), int(last[1]))

    @property
    def slices(self) -> tuple[slice, slice]:
        """To cut it out of a frame."""
        return slice(self.top, self.bottom), slice(self.left, self.right)

    @property
    def width(self) -> int:
        """In pixels."""
        return self.right - self.left

    @property
    def height(self) -> int:
        """In pixels."""
        return self.bottom - self.top


@dataclass(frozen=True, eq=False)
class Picture:
    """A frame as a person sees it, seen from above where it is 3D."""

    labels: LabelImage  # (Y, X) which cell is seen where
    grey: NDArray[np.uint8]  # (Y, X) 0 to 255
    masks: LabelImage  # ([Z,] Y, X) the labels, of cells behind others too
    image: NDArray[Any] | None = None  # (Y, X) the intensities; `None` where the movie has masks only

    def stretched(self, box: Box) -> NDArray[np.uint8]:
        """The grey values inside a box, from its darkest to its brightest."""
        return self.crop(box) if self.image is None else _grey(self.image[box.slices])

    def crop(self, box: Box) -> NDArray[np.uint8]:
        """The grey values inside a box."""
        return self.grey[box.slices]

    def inside(self, box: Box) -> Ints:
        """The labels of the cells seen inside a box, ascending."""
        found = np.unique(self.labels[box.slices]).astype(np.int64)
        return found[found > 0]

    def mask(self, label: int, box: Box) -> Bools:
        """Where in a box a cell is, whether or not another one hides it."""
        here: Bools = self.masks[..., *box.slices] == label
        return here if here.ndim == 2 else np.asarray(here.any(axis=0))

    def outline(self, label: int, box: Box) -> str:
        """The border of a cell as an SVG path in the box's own coordinates; empty if the cell is not there."""
        return outline(self.mask(label, box))


def picture(movie: Movie, t: int) -> Picture:
    """Read frame t of a movie for looking at."""
    if not movie.has_masks:
        discs = _discs(movie, t)
        return Picture(discs, _drawn(discs), discs)
    masks = movie.masks(t)
    labels = masks if masks.ndim == 2 else _from_above(masks)
    if not movie.has_images:
        return Picture(labels, _drawn(labels), masks)
    image = movie.images(t)
    seen = image if image.ndim == 2 else image.max(axis=0)
    return Picture(labels, _grey(seen), masks, seen)


def _discs(movie: Movie, t: int) -> LabelImage:
    """(Y, X) points as discs, seen from above: in 3D the highest are in front, else the last."""
    cells, scale = movie.detections(t), np.asarray(movie.scale[-2:])
    labels = np.zeros(movie.shape[-2:], np.int64)
    order = np.argsort(-cells.centroid[:, 0], kind="stable") if movie.n_dimensions == 3 else np.arange(len(cells))
    for k in order.tolist():
        label, centre, radius = cells.label[k], cells.centroid[k, -2:] / scale, cells.diameter[k] / 2
        reach = np.maximum(radius / scale, 1.0)
        low = np.clip(np.floor(centre - reach), 0, labels.shape).astype(int)
        high = np.clip(np.ceil(centre + reach) + 1, 0, labels.shape).astype(int)
        y, x = np.ogrid[low[0] : high[0], low[1] : high[1]]
        inside = ((y - centre[0]) / reach[0]) ** 2 + ((x - centre[1]) / reach[1]) ** 2 <= 1
        labels[low[0] : high[0], low[1] : high[1]][inside] = label
    return labels


def _grey(image: NDArray[Any]) -> NDArray[np.uint8]:
    """(Y, X) 0 to 255, some rows at a time: a huge frame in floating point would not fit."""
    step = max(1, int(np.sqrt(image.size / STRETCH_PIXELS)))
    seen = image[::step, ::step]
    low, high = (float(value) for value in np.nanpercentile(seen.astype(np.float64), (DARKEST, BRIGHTEST)))
    grey = np.empty(image.shape, np.uint8)
    for top in range(0, len(image), STRETCH_ROWS):
        rows = slice(top, top + STRETCH_ROWS)
        part = (image[rows].astype(np.float32) - low) * (255 / max(high - low, 1e-12))
        if image.dtype.kind == "f":  # a pixel that is no number is black
            np.nan_to_num(part, copy=False)
        grey[rows] = np.clip(part, 0, 255, out=part)
    return grey


def _drawn(labels: LabelImage) -> NDArray[np.uint8]:
    """(Y, X) the cells themselves, with darker borders."""
    grey = np.where(labels > 0, CELL_GREY, 0).astype(np.uint8)
    for one, other in ((np.s_[1:], np.s_[:-1]), (np.s_[:, 1:], np.s_[:, :-1])):
        touch = (labels[one] != labels[other]) & (labels[one] > 0) & (labels[other] > 0)
        grey[one][touch] = BORDER_GREY
    return grey


def _from_above(masks: LabelImage) -> LabelImage:
    """(Y, X) the first cell that a ray from above meets."""
    first = (masks > 0).argmax(axis=0)
    seen: LabelImage = np.take_along_axis(masks, first[None], axis=0)[0]
    return seen


def outline(mask: NDArray[np.bool_]) -> str:
    """The edges between pixels that are inside and outside, joined to straight lines, as an SVG path.

    Example:
        >>> outline(np.array([[True]]))
        'M0 0H1M0 1H1M0 0V1M1 0V1'
    """
    padded = np.pad(mask, 1)
    across = padded[1:, 1:-1] != padded[:-1, 1:-1]  # (h + 1, w) edges above each pixel
    down = padded[1:-1, 1:] != padded[1:-1, :-1]  # (h, w + 1) edges left of each pixel
    horizontal = "".join(f"M{first} {row}H{last}" for _, row, first, last in _runs(across))
    vertical = "".join(f"M{column} {first}V{last}" for _, column, first, last in _runs(down.T))
    return horizontal + vertical


def outlines(labels: LabelImage) -> dict[int, str]:
    """Each label's border as an SVG path: what `outline` draws, label by label, in one go.

    Example:
        >>> outlines(np.array([[7]]))
        {7: 'M0 0H1M0 1H1M0 0V1M1 0V1'}
    """
    padded = np.pad(labels, 1)
    above, below = padded[:-1, 1:-1], padded[1:, 1:-1]
    left, right = padded[1:-1, :-1].T, padded[1:-1, 1:].T
    parts: dict[int, list[str]] = defaultdict(list)
    sides = (
        (below, above, "M{1} {0}H{2}"),
        (above, below, "M{1} {0}H{2}"),
        (right, left, "M{0} {1}V{2}"),
        (left, right, "M{0} {1}V{2}"),
    )
    for one, other, line in sides:
        for label, *place in _runs(np.where(one != other, one, 0)):
            parts[label].append(line.format(*place))
    return {label: "".join(strokes) for label, strokes in parts.items()}


def _runs(values: NDArray[Any]) -> Iterator[tuple[int, int, int, int]]:
    """(value, row, first, one past the last) of every run of one value along the rows; zeros are no runs."""
    padded = np.pad(values, ((0, 0), (1, 1)))
    row, first = np.nonzero(padded[:, 1:] != padded[:, :-1])
    value = padded[row, first + 1]
    last = np.append(first[1:], 0)  # every row ends with a zero, so that a run ends in its own row
    kept = value != 0
    columns = (value, row, first, last)
    return zip(*(column[kept].tolist() for column in columns), strict=True)


def png(grey: NDArray[np.uint8]) -> bytes:
    """A grey picture as a PNG file."""
    from imagecodecs import png_encode

    return bytes(png_encode(np.ascontiguousarray(grey), level=6))
