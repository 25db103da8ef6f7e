"""Whether masks may hold two cells, or be pieces of one: a glance at the table of cells, before any pixel is read again.

Masks that merge tell: two lie where one lies a frame later, which is about as large as both. Cells divide, but do not merge, so
clean masks show next to none, while those of a program come apart and merge all the time (benchmarks/glance.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from dunno.segments.pixels import Parts, Unions, cut, unite
from dunno.types.arrays import Bools, Floats, Ints
from dunno.types.detections import Detections
from dunno.types.labels import LabelImage
from dunno.types.measurements import fullness
from dunno.types.movie import Movie
from dunno.types.neighbours import nearest
from dunno.types.records import Count, ValueRange

LOOKED_AT = 30_000  # masks; benchmarks.glance
"""Masks, in pairs of frames all over the movie."""

LEAST_MERGES, LEAST_RATE = 3, 0.003  # merges, per mask and step; benchmarks.glance
"""From so many merges on, and so many per mask and step, masks are not clean. Measured: clean ones up to .0012 at every frame and
.0024 at every 5th (PSC, whose annotation holds mistakes), those of programs .0044 at the least (iPSC-07 02)."""

CROSSING_RATE = 0.01  # per mask and step; benchmarks.glance
"""The same where links are not clear: what seems to merge may be cells that passed each other. Measured: clean masks up to .0079
(PSC at every 50th frame), U373's .0114."""

SUM, LEAST_SHARE = (0.7, 1.4), 0.12  # shares; judged
"""Area of the masks that merge over that of the one that they become; and share of the smaller one in it."""

DEBRIS = 0.1  # share; judged
"""Masks are not counted for a usual cell's area that are smaller than this share of the 95th percentile."""

CUT_IN_TWO, CUT_IN_THREE = 0.6, 1.3  # usual areas; benchmarks.cells
"""Masks are cut in two, and in three, from so many usual areas on. On iPSC-02, iPSC-07 and PSC, of masks that hold two annotated
cells at least 99.4 % are larger, and of those that hold three or more at least 99.1 %."""

NEAR_MASKS = 4  # masks; judged
"""Masks in whose ellipse another one may lie: the nearest."""

LARGEST_UNION, LEAST_FULL, MOST_UNIONS = 2.5, 0.75, 0.25  # usual areas, share, per mask; judged
"""Unions are smaller than so many usual areas, and nearly as full as an ellipse; the fullest stay where there are more than so many
per mask. Cells that were cut on purpose (HeLa 02) are all among them."""


@dataclass(frozen=True)
class Glance:
    """What is seen of a movie's masks.

    Attributes:
        masks: How many were looked at.
        merges: How often two became one a frame later.
        usual_area: The median area of a mask, physical, much smaller ones left out.
    """

    masks: Count
    merges: Count
    usual_area: Annotated[float, ValueRange(0.0, 1e100, or_nan=True)]

    def are_clean(self, links_are_clear: bool = True) -> bool:
        """Whether every mask is its only segment."""
        return self.merges < max(LEAST_MERGES, (LEAST_RATE if links_are_clear else CROSSING_RATE) * self.masks)

    def into(self, area: Floats) -> Ints:
        """(n,) into how many parts masks may be cut: 1, 2 or 3."""
        return 1 + (area >= CUT_IN_TWO * self.usual_area).astype(np.int64) + (area >= CUT_IN_THREE * self.usual_area)

    def may_be_one(self, cells: Detections, n_masks: int) -> Bools:
        """(U,) which unions of a frame may be one cell."""
        assert cells.covariance is not None
        full = fullness(cells.area, cells.covariance)
        may = (cells.area <= LARGEST_UNION * self.usual_area) & (full >= LEAST_FULL)
        order = np.argsort(np.where(may, -full, np.inf), kind="stable")
        may[order[math.ceil(MOST_UNIONS * n_masks) :]] = False
        return may

    def segments(
        self, labels: LabelImage, image: NDArray[Any] | None, cells: Detections, scale: Floats
    ) -> tuple[Parts, Unions]:
        """The halves of every mask of a frame, and the parts and unions that may be cells; arguments as of `cut`."""
        parts = cut(labels, image, cells, np.arange(len(cells)), self.into(cells.area), scale)
        unions = unite(labels, cells, scale)
        return parts, unions.only(self.may_be_one(unions.cells, len(cells)))


def glance(movie: Movie) -> Glance:
    """Look at a movie's masks as they are measured; points, which have no shape, are clean."""
    first = movie.detections(0) if len(movie) else None
    if first is None or first.covariance is None:
        return Glance(0, 0, math.nan)
    areas, merged = [first.area], 0
    for t in _evenly(len(movie) - 1, math.ceil(LOOKED_AT / _usual_number(movie))):
        before, after = movie.detections(t), movie.detections(t + 1)
        areas.append(after.area)
        merged += int(merges(before, after).sum())
    area = np.concatenate(areas)
    is_cell = area >= DEBRIS * np.percentile(area, 95) if len(area) else area > 0
    return Glance(len(area), merged, float(np.median(area[is_cell])) if len(area) else math.nan)


def merges(before: Detections, after: Detections) -> Bools:
    """(m,) which masks of a frame are what two or more of the frame before have become.

    Each mask goes to the one in whose ellipse its centroid lies, the most central one if there are several.
    """
    own, into = _swallowed(before, after)
    order = np.lexsort((-before.area[own], into))
    own, into = own[order], into[order]
    same = into[1:] == into[:-1]
    second = np.flatnonzero(same & ~np.append(False, same)[:-1]) + 1
    share = before.area[own[second]] / after.area[into[second]]
    total = np.bincount(into, before.area[own], minlength=len(after)) / after.area
    merged = np.zeros(len(after), np.bool_)
    merged[into[second[share >= LEAST_SHARE]]] = True
    return merged & (total >= SUM[0]) & (total <= SUM[1])


def _swallowed(before: Detections, after: Detections) -> tuple[Ints, Ints]:
    """Masks that lie in the ellipse of one a frame later, and in which."""
    assert after.covariance is not None
    if not len(before) or not len(after):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    near = np.minimum(nearest(before.centroid, after.centroid, NEAR_MASKS)[1], len(after) - 1)
    away = before.centroid[:, None] - after.centroid[near]
    inverse = np.linalg.inv(after.covariance)[near]
    square = np.einsum("nki,nkij,nkj->nk", away, inverse, away) / (away.shape[2] + 2)  # 1 on the ellipse
    best = np.argmin(square, axis=1)
    inside = np.flatnonzero(square[np.arange(len(best)), best] <= 1)
    return inside, near[inside, best[inside]]


def _usual_number(movie: Movie) -> float:
    """Masks in a frame."""
    return max(float(np.mean([len(movie.detections(t)) for t in _evenly(len(movie), 9)])), 1.0)


def _evenly(n: int, wanted: int) -> list[int]:
    """So many of n places at the most, all over."""
    return np.unique(np.linspace(0, n - 1, min(n, wanted)).astype(np.int64)).tolist() if n else []
