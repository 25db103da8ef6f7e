"""All segments of some frames of a movie, as they are measured: masks, their parts, and unions of two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dunno.segments.glance import Glance
from dunno.segments.pixels import Parts, Unions
from dunno.segments.regions import UNCUT
from dunno.segments.segments import Segments
from dunno.types import Bools, Cells, Detections, Floats, Ints, Movie

BORDER_WIDTH = 3  # pixels; judged
"""Segments as near to the field's border, in pixels, are at it."""


@dataclass(frozen=True, eq=False)
class SegmentTable:
    """Segments, and where they are in the movie.

    Attributes:
        segments: As the model sees them, in units of the shortest side of a pixel.
        masks: The given masks, a row each.
        centroid: (N, d) of each segment, physical.
        area: (N,) likewise.
        bbox: (N, 2, d) in pixels.
        number: (N,) of a part as in `Parts`; `UNCUT` for masks and unions.
    """

    segments: Segments
    masks: Cells
    centroid: Floats
    area: Floats
    bbox: Ints
    number: Ints


class FrameSegments(NamedTuple):
    """What is measured of one frame."""

    cells: Detections
    parts: Parts | None = None
    unions: Unions | None = None


def segment_table(movie: Movie, seen: Glance, with_pixels: bool = True) -> SegmentTable:
    """Measure all segments of a movie's frames; without pixels, every mask is its only segment.

    Args:
        movie: The frames.
        seen: What was seen of the whole movie's masks at a glance.
        with_pixels: Whether masks are read again for their parts and unions.
    """
    found, scale = [], np.array(movie.scale)
    for t in range(len(movie)):
        here = movie.detections(t).without_pixels()
        found.append(FrameSegments(here, *(seen.segments(movie.masks(t), None, here, scale) if with_pixels else ())))
    return joined_segments(movie, found)


def joined_segments(movie: Movie, frames: Sequence[FrameSegments]) -> SegmentTable:
    """One table of a movie's frames: masks first, then parts, then unions, each by frame."""
    masks = Cells.of([each.cells for each in frames])
    parts = [each.parts for each in frames if each.parts is not None]
    unions = [each.unions for each in frames if each.unions is not None]
    begin, n, d = masks.ends, len(masks), movie.n_dimensions
    of_parts = [(t, part.row + begin[t], part.cells) for t, part in enumerate(parts)]
    of_unions = [(t, union.first + begin[t], union.cells) for t, union in enumerate(unions)]
    more = [*of_parts, *of_unions]
    second = [np.full(len(rows), -1) for _, rows, _ in of_parts] + [u.second + begin[t] for t, u in enumerate(unions)]
    frame = np.repeat(np.arange(len(movie)), np.diff(begin))
    own = np.stack([np.arange(n), np.full(n, -1)], axis=1)
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(masks, name), *(getattr(cells, name) for _, _, cells in more)])
        for name in ("centroid", "area", "bbox")
    }
    number = np.concatenate(
        [np.full(n, UNCUT), *(p.number for p in parts), *(np.full(len(u.first), UNCUT) for u in unions)]
    )
    unit = min(movie.scale)
    halves, balance = _halves(masks, parts, unions, begin, d)
    segments = Segments(
        frame=np.concatenate([frame, *(np.full(len(rows), t) for t, rows, _ in more)]).astype(np.int64),
        masks=np.concatenate(
            [own, *(np.stack([rows, other], axis=1) for (_, rows, _), other in zip(more, second, strict=True))]
        ),
        place=columns["centroid"] / unit,
        area=columns["area"] / unit**d,
        at_border=_at_border(columns["bbox"], movie.shape),
        halves=halves,
        balance=balance,
        neck=np.concatenate(
            [*([np.nan_to_num(p.neck) for p in parts] or [np.zeros(n)]), np.full(len(columns["area"]) - n, np.nan)]
        ),
        cuts=_cuts(parts, n, columns["centroid"]),
        n_frames=len(movie),
        field=np.array(movie.shape) * movie.scale / unit,
    )
    return SegmentTable(segments, masks, columns["centroid"], columns["area"], columns["bbox"], number)


def _at_border(bbox: Ints, shape: tuple[int, ...]) -> Bools:
    low, high = bbox[:, 0], np.array(shape) - bbox[:, 1]
    return np.asarray((low < BORDER_WIDTH).any(axis=1) | (high < BORDER_WIDTH).any(axis=1))


def _halves(
    masks: Cells, parts: Sequence[Parts], unions: Sequence[Unions], begin: Ints, d: int
) -> tuple[Floats, Floats]:
    """How the halves of each segment lie; a union's are its two masks, and of parts they are not known."""
    n = len(masks)
    apart = [p.apart for p in parts] or [np.zeros((n, d))]
    ratio = [p.ratio for p in parts] or [np.zeros(n)]
    n_parts = sum(len(p.row) for p in parts)
    halves, balance = [*apart, np.full((n_parts, d), np.nan)], [*ratio, np.full(n_parts, np.nan)]
    for t, union in enumerate(unions):
        one, other = union.first + begin[t], union.second + begin[t]
        away = masks.centroid[one] - masks.centroid[other]
        halves.append(away / union.cells.area[:, None] ** (1 / d))
        balance.append(np.log(masks.area[one] / masks.area[other]))
    return np.concatenate(halves), np.concatenate(balance)


def _cuts(parts: Sequence[Parts], n: int, place: Floats) -> Ints:
    """(C, 3) of each mask its two parts; and where it has three, the small one, the half beside it, and the other."""
    first, found = n, [np.empty((0, 3), np.int64)]
    for part in parts:
        two = first + np.flatnonzero(part.number == 0)
        third = first + np.flatnonzero(part.number == 2)
        found.append(np.stack([two, two + 1, np.full(len(two), -1)], axis=1))
        if len(third):
            mine = two[np.searchsorted(part.row[two - first], part.row[third - first])]
            small = np.where(part.cells.area[mine - first] < part.cells.area[mine + 1 - first], mine, mine + 1)
            near, far = (((place[small] - place[each]) ** 2).sum(axis=1) for each in (third, third + 1))
            nearer = near <= far
            found.append(
                np.stack([small, np.where(nearer, third, third + 1), np.where(nearer, third + 1, third)], axis=1)
            )
        first += len(part.row)
    return np.concatenate(found)
