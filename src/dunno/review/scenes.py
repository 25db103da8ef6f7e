"""Pieces of a movie with the cells and links in them, as plain data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dunno.errors import DecisionError
from dunno.report.crops import Box, Picture, outlines, picture, png
from dunno.review.store import Recent
from dunno.types import Bools, Detections, Floats, Ints, Movie, PairPosterior

SURROUNDINGS, LARGEST = 7.0, 640
"""Width of a crop in cell diameters, and at most in pixels."""
PORTRAIT = 3.5


class Scenes:
    """Looks at a movie; the frames that were looked at last are kept."""

    def __init__(self, movie: Movie) -> None:
        self._movie = movie
        self._pictures: Recent[Picture] = Recent(12)

    def crop(self, t: int, box: Box) -> bytes:
        """A piece of a frame as PNG; what lies outside the frame is refused."""
        self.check(t, box)
        return png(self._picture(t).stretched(box))

    def drawn_anew(self) -> None:
        """Forget the pictures: masks have changed."""
        self._pictures = Recent(12)

    def check(self, t: int, box: Box) -> None:
        """Refuse what lies outside the frame."""
        height, width = self._movie.shape[-2:]
        inside = 0 <= box.top < box.bottom <= height and 0 <= box.left < box.right <= width
        if not (0 <= t < len(self._movie) and inside and max(box.width, box.height) <= LARGEST):
            raise DecisionError("there is no such piece of the movie")

    def _in_pixels(self, cells: Detections, indices: Any) -> Floats:
        """(k, 2) centres in the plane."""
        return np.asarray(cells.centroid[indices][:, -2:] / np.asarray(self._movie.scale[-2:]))

    def _size(self, cells: Detections, index: int) -> tuple[float, float]:
        """How large a cell is seen, in pixels: its longer side, and the side of a square as large as its box."""
        low, high = cells.bbox[index][:, -2:]
        sides = np.maximum(high - low, 4)
        return float(sides.max()), float(np.sqrt(sides.prod()))

    def box(self, pair: PairPosterior, daughter: int, own: Ints) -> Box:
        """What to show of a pair: the daughter, those of its edges that have some probability, and their surroundings."""
        width, size = self._size(pair.daughters, daughter)
        here = self._in_pixels(pair.daughters, [daughter])
        near = self._in_pixels(pair.mothers, pair.mother[own[(pair.probability[own] >= 0.01) | pair.selected[own]]])
        near = near[np.abs(near - here).max(axis=1) < LARGEST / 2 - 2 * width]
        points = np.concatenate([here, near])
        padded = np.concatenate([points - width, points + width])
        shape = self._movie.shape[-2:]
        return _at_most(Box.around(padded, SURROUNDINGS * size, shape), LARGEST)

    def cells(self, cells: Detections, t: int, box: Box) -> list[dict[str, Any]]:
        """The cells seen in a box, with outlines and centres in its own coordinates; in 3D hidden ones too, and all depths."""
        picture, is_deep = self._picture(t), self._movie.n_dimensions == 3
        drawn = outlines(picture.labels[box.slices])
        if is_deep:
            hidden = set(cells.label[self._inside(cells, box)].tolist()) - set(drawn)
            drawn |= {label: picture.outline(label, box) for label in hidden}
        labels = sorted(drawn)
        own = np.searchsorted(cells.label, labels)
        centres = self._in_pixels(cells, own) - [box.top, box.left] + 0.5
        depth = cells.centroid[own, 0].round(1).tolist() if is_deep else [None] * len(own)
        return [
            {"label": label, "y": round(y, 1), "x": round(x, 1), "depth": z, "outline": drawn[label]}
            for label, (y, x), z in zip(labels, centres.tolist(), depth, strict=True)
        ]

    def _inside(self, cells: Detections, box: Box) -> Bools:
        """(n,) whether a cell's centre lies in a box."""
        place = self._in_pixels(cells, slice(None))
        return np.asarray(((place >= [box.top, box.left]) & (place < [box.bottom, box.right])).all(axis=1))

    def links(self, pair: PairPosterior, box: Box) -> list[dict[str, Any]]:
        """The reported links whose daughters are in a box: labels, and how sure they are."""
        chosen = np.flatnonzero(pair.selected)
        inside = self._inside(pair.daughters, box)[pair.daughter[chosen]]
        return [
            {
                "mother": int(pair.mothers.label[pair.mother[edge]]),
                "daughter": int(pair.daughters.label[pair.daughter[edge]]),
                "probability": float(pair.probability[edge]),
                "reviewed": pair.reviewed is not None and bool(pair.reviewed[pair.daughter[edge]]),
            }
            for edge in chosen[inside].tolist()
        ]

    def portrait(self, cells: Detections, index: int, t: int) -> dict[str, Any]:
        """One cell in the middle of a small crop."""
        centre = self._in_pixels(cells, [index])
        longer, size = self._size(cells, index)
        width = max(PORTRAIT * size, 1.5 * longer)
        box = _at_most(Box.around(centre, width, self._movie.shape[-2:]), LARGEST)
        label = int(cells.label[index])
        return {
            "t": t,
            "frame": cells.frame,
            "label": label,
            "box": {"left": box.left, "top": box.top, "width": box.width, "height": box.height},
            "outline": self._picture(t).outline(label, box),
        }

    def _picture(self, t: int) -> Picture:
        return self._pictures.get(t) or self._pictures.put(t, picture(self._movie, t))


def _at_most(box: Box, size: int) -> Box:
    """The middle of a box that is too large."""
    top = box.top + max(box.height - size, 0) // 2
    left = box.left + max(box.width - size, 0) // 2
    return replace(box, top=top, left=left, bottom=min(box.bottom, top + size), right=min(box.right, left + size))
