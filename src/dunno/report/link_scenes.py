"""What a doubtful link looks like: the two frames side by side, cropped, with the cells in question outlined."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dunno.errors import MovieError
from dunno.report.crops import BRIGHTEST, DARKEST, Box, Picture, outline, picture, png
from dunno.report.doubts import Doubt
from dunno.types import Bools, Floats, Ints, Movie

VIEW_SIDE = 200
"""Largest width and height of a crop in pixels; larger ones are scaled down, so that pages stay small."""

MARGIN = 1.4
"""How much wider a crop is than the cells that it must show."""

LEAST_SIDE = 24.0

LEAST_SPAN = 50
"""Grey levels that a crop has at least between black and white, so that noise stays noise."""

LONGEST_OUTLINE = 4000
"""Characters of a path; a cell with a longer one is no cell, and gets its bounding box."""


@dataclass(frozen=True)
class Outline:
    """A cell's border in a crop: an SVG path, and the box that it fills."""

    path: str
    box: Box


@dataclass(frozen=True)
class View:
    """One frame's crop: an image (a data URI) and the outlines of cells by label."""

    image: str
    outlines: dict[int, Outline]


@dataclass(frozen=True)
class TwoViews:
    """Two views of the same place, of a doubtful link or a repair, in pixels of `width` × `height`."""

    width: int
    height: int
    before: View
    after: View

    @classmethod
    def of(
        cls, before: Picture, after: Picture, box: Box, labels: tuple[Iterable[int], Iterable[int]], lit: bool
    ) -> TwoViews:
        """Crops of two pictures, with the outlines of some cells in each; `lit` if they are images, not drawn masks."""
        factor = -(-max(box.width, box.height) // VIEW_SIDE)
        crops = (before.crop(box), after.crop(box))
        views = [
            View(
                f"data:image/png;base64,{b64encode(png(shrunk(image, factor))).decode()}",
                {label: outline_of(seen.mask(label, box)[::factor, ::factor]) for label in own},
            )
            for image, seen, own in zip(stretched(*crops) if lit else crops, (before, after), labels, strict=True)
        ]
        return cls(-(-box.width // factor), -(-box.height // factor), *views)


def scenes(movie: Movie, doubts: Sequence[Doubt]) -> list[TwoViews]:
    """Look at every doubt, reading each frame once and holding two at a time; a movie that was not tracked is refused."""
    place = {frame: t for t, frame in enumerate(movie.frames.tolist())}
    found: dict[int, TwoViews] = {}
    held: dict[int, Picture] = {}
    for index in sorted(range(len(doubts)), key=lambda each: doubts[each].frame):
        doubt = doubts[index]
        wanted = (doubt.mother_frame, doubt.frame)
        held = {frame: held[frame] if frame in held else picture(movie, place[frame]) for frame in wanted}
        found[index] = _scene(doubt, held[doubt.mother_frame], held[doubt.frame], movie)
    return [found[index] for index in range(len(doubts))]


def _scene(doubt: Doubt, before: Picture, after: Picture, movie: Movie) -> TwoViews:
    cells = [(each.label, each.bbox, each.area) for each in doubt.mothers]
    for label, bbox, area in cells:
        _check(before, label, bbox, area, doubt.mother_frame, movie)
    _check(after, doubt.daughter, doubt.bbox, doubt.area, doubt.frame, movie)
    boxes = np.stack([doubt.bbox, *(bbox for _, bbox, _ in cells)])[:, :, -2:]  # seen from above
    box = around(boxes.reshape(-1, 2).astype(np.float64), MARGIN, LEAST_SIDE, before)
    labels = [label for label, *_ in cells], [doubt.daughter]
    return TwoViews.of(before, after, box, labels, movie.has_images)


def around(points: Floats, margin: float, least: float, seen: Picture) -> Box:
    """The crop that shows all points (k, 2) with some room around them."""
    extent = float((points.max(axis=0) - points.min(axis=0)).max())
    return Box.around(points, max(margin * extent, least), seen.grey.shape)


def stretched(*images: NDArray[np.uint8]) -> Sequence[NDArray[np.uint8]]:
    """Crops with their own black and white, the same for all: a bright cell far away must not leave these in the dark."""
    low, high = np.percentile(np.concatenate([image.ravel() for image in images]), (DARKEST, BRIGHTEST))
    span = max(high - low, LEAST_SPAN)
    return [np.clip((image - low) * (255 / span), 0, 255).astype(np.uint8) for image in images]


def _check(seen: Picture, label: int, bbox: Ints, area: float, frame: int, movie: Movie) -> None:
    """Refuse masks that are not those that were tracked: pictures of other cells would mislead."""
    if not movie.has_masks:
        return
    place = tuple(slice(*ends) for ends in bbox.T.tolist())
    found = np.count_nonzero(seen.masks[place] == label) * float(np.prod(movie.scale))
    if not np.isclose(found, area):
        raise MovieError(f"{movie.mask_source}: cell {label} of frame {frame} is not the one that was tracked")


def outline_of(mask: Bools) -> Outline:
    """A mask's border and box; its box alone where the border is very long."""
    path = outline(mask)
    y, x = np.nonzero(mask)
    if len(y) == 0:  # smaller than what is left out when scaling down
        return Outline("", Box(0, 0, 0, 0))
    box = Box(int(y.min()), int(x.min()), int(y.max()) + 1, int(x.max()) + 1)
    if len(path) > LONGEST_OUTLINE:
        path = f"M{box.left} {box.top}H{box.right}V{box.bottom}H{box.left}Z"
    return Outline(path, box)


def shrunk(grey: NDArray[np.uint8], factor: int) -> NDArray[np.uint8]:
    """Every `factor` × `factor` pixels as their mean; those at the far borders as the mean of what is left."""
    if factor == 1:
        return grey
    sums: Floats = grey.astype(np.float64)
    for axis in (0, 1):
        begins = np.arange(0, sums.shape[axis], factor)
        width = np.diff(np.append(begins, sums.shape[axis]))
        sums = np.add.reduceat(sums, begins, axis=axis) / np.expand_dims(width, 1 - axis)
    return np.round(sums).astype(np.uint8)
