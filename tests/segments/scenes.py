"""Small movies of discs whose masks are wrong where somebody says so."""

from collections.abc import Mapping, Sequence

import numpy as np

from dunno import Movie
from dunno.segments.glance import Glance, glance
from dunno.segments.segment_model import SegmentModel, fit_segments
from dunno.segments.structure import Options

SIZE, RADIUS, STEP = 160, 7.0, 0.6


def places(frames: int, seed: int = 0, rows: int = 4) -> np.ndarray:
    """(T, rows², 2) cells on a grid, each of which wanders a little."""
    rng = np.random.default_rng(seed)
    grid = (np.arange(rows) + 0.5) * SIZE / rows
    start = np.stack(np.meshgrid(grid, grid, indexing="ij"), axis=-1).reshape(-1, 2)
    return start + rng.normal(0, STEP, (frames, rows * rows, 2)).cumsum(axis=0) * 0.5


def movie(
    centres: np.ndarray,
    shared: Sequence[tuple[int, int, range]] = (),
    missing: Sequence[tuple[int, range]] = (),
    radius: Mapping[int, float] | None = None,
    depth: int = 0,
) -> Movie:
    """Discs (balls where there is a depth) of the same label in each frame.

    Args:
        centres: (T, n, 2) of each.
        shared: Two of them, and in which frames they have one mask, that of the first.
        missing: One of them, and in which frames it has none.
        radius: Of those that are not usual.
        depth: How many slices there are; 0: a movie in 2D.
    """
    shape = (depth, SIZE, SIZE) if depth else (SIZE, SIZE)
    axes = np.indices(shape)
    masks = np.zeros((len(centres), *shape), np.uint16)
    for t, here in enumerate(centres):
        for k, centre in enumerate(here):
            if any(k == cell and t in when for cell, when in missing):
                continue
            label = next((a for a, b, when in shared if b == k and t in when), k) + 1
            middle = (depth / 2, *centre) if depth else tuple(centre)
            away = sum((axis - x) ** 2 for axis, x in zip(axes, middle, strict=True))
            masks[t][away <= (radius or {}).get(k, RADIUS) ** 2] = label
    return Movie(masks)


def fitted(given: Movie, seen: Glance | None = None, **options: bool) -> SegmentModel:
    """The model of a movie's masks, whether or not a glance says that they are clean."""
    return fit_segments(given, seen or glance(given), Options(**options))  # type: ignore[arg-type]


def meeting(frames: int, when: range, a: int = 5, b: int = 6) -> np.ndarray:
    """Places of cells of which two lie side by side and touch for some frames."""
    centres = places(frames)
    middle = 0.5 * (centres[:, a] + centres[:, b])
    for t in range(frames):
        away = max(when.start - t, t - when.stop + 1, 0)
        apart = RADIUS * 0.93 + min(1.5 * away, 12.0)
        centres[t, a], centres[t, b] = middle[t] - [0, apart], middle[t] + [0, apart]
    return centres
