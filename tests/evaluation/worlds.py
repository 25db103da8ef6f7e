"""Small worlds of squares with known answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from dunno import Movie
from dunno.evaluation.followed_cells import FollowedCells
from dunno.evaluation.held_cells import HeldCells
from dunno.truth.matching import TrackTable, match_truth
from dunno.types import Truth

Square = tuple[int, int, int]
"""Label, row, column."""

Link = tuple[tuple[int, int], tuple[int, int]]
"""Frame and label of a mother, and of a daughter."""


def frame(squares: Iterable[Square], side: int = 6) -> np.ndarray:
    """A 40 × 60 frame with squares."""
    image = np.zeros((40, 60), np.int64)
    for label, y, x in squares:
        image[y : y + side, x : x + side] = label
    return image


def annotated(
    rows: Sequence[tuple[int, int, int, int]], cells: Sequence[np.ndarray], masks: Sequence[np.ndarray]
) -> tuple[Movie, Truth]:
    """A movie of masks and its annotation: rows of track, first and last frame and mother."""
    movie = Movie(list(masks))
    return movie, match_truth(movie, TrackTable(*np.array(sorted(rows)).T), list(cells))


def held(
    rows: Sequence[tuple[int, int, int, int]], cells: Sequence[np.ndarray], masks: Sequence[np.ndarray]
) -> HeldCells:
    """Which masks hold which cells."""
    return HeldCells.of(*annotated(rows, cells, masks))


def followed(
    n_frames: int,
    tracks: dict[int, Sequence[tuple[int, int]]],
    links: dict[Link, float] | None = None,
    p_divide: dict[tuple[int, int], float] | None = None,
    dividing: Iterable[int] = (),
) -> FollowedCells:
    """Tracks of masks, given by frame and label, with links and their probabilities."""
    keys = sorted((t, label, track) for track, cells in tracks.items() for t, label in cells)
    row = {(t, label): k for k, (t, label, _) in enumerate(keys)}
    last = {track: row[max(cells)] for track, cells in tracks.items()}
    links, p_divide = links or {}, p_divide or {}
    position, label, track = (np.array(column, np.int64) for column in zip(*keys, strict=True))
    chance, divides = np.zeros(len(keys)), np.zeros(len(keys), np.bool_)
    for key, p in p_divide.items():
        chance[row[key]] = p
    divides[[last[each] for each in dividing]] = True
    mother, daughter = (np.array([row[link[end]] for link in links], np.int64) for end in (0, 1))
    return FollowedCells(
        np.arange(n_frames),
        position,
        label,
        track,
        chance,
        divides,
        mother,
        daughter,
        np.array(list(links.values()), float),
    )


def stays(track: int, frames: Iterable[int], label: int | None = None) -> dict[int, list[tuple[int, int]]]:
    """A track of one label."""
    return {track: [(t, label or track) for t in frames]}
