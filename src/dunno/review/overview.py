"""The whole field at a glance: where it is doubtful, and where a cell or a track is."""

from __future__ import annotations

from typing import Any

import numpy as np

from dunno.errors import DecisionError
from dunno.io.block_files import linked_blocks
from dunno.lineage.tracks import TrackNumbers
from dunno.review.review import Review

TILES = 24
"""Squares of the heat map along the longer side of the field."""


def overview(review: Review) -> dict[str, Any]:
    """The expected number of wrong decisions in each square of the field, over all frames, and the row to look at there.

    Squares without a doubt are left out.
    """
    table, scale = review.table, np.asarray(review.movie.scale[-2:])
    height, width = review.movie.shape[-2:]
    size = max(height, width) / TILES
    rows = np.flatnonzero((table.error > 0) & ~table.debris)
    place = np.clip((table.place[rows] / scale / size).astype(np.int64), 0, TILES - 1)
    tile = place[:, 0] * TILES + place[:, 1]
    total = np.bincount(tile, table.error[rows], minlength=TILES * TILES)
    order = np.lexsort((table.error[rows], tile))  # the last of each tile is its most doubtful one
    last = np.append(np.flatnonzero(np.diff(tile[order])), len(order) - 1) if len(order) else np.empty(0, np.int64)
    squares = [
        {
            "y": int(tile[order[k]]) // TILES,
            "x": int(tile[order[k]]) % TILES,
            "expected": round(float(total[tile[order[k]]]), 3),
            "row": int(rows[order[k]]),
        }
        for k in last.tolist()
    ]
    return {"height": height, "width": width, "size": size, "squares": [s for s in squares if s["expected"] >= 0.01]}


class Tracks:
    """Finds the first cell of a track by its number, as the output has it; counted when first asked for."""

    def __init__(self, review: Review) -> None:
        self._review = review
        self._first: np.ndarray | None = None

    def row(self, track: int) -> int:
        """The row of the track's first cell that has one."""
        if self._first is None:
            self._first = self._count()
        if not 1 <= track <= len(self._first):
            raise DecisionError(f"there is no track {track}; they are numbered from 1 to {len(self._first)}")
        row = int(self._first[track - 1])
        if row < 0:
            raise DecisionError(f"track {track} is in the first frame only; its cells have no mothers to ask about")
        return row

    def _count(self) -> np.ndarray:
        """(tracks,) the first row of each track, -1 where it has none."""
        numbers, found = TrackNumbers(), np.full(1024, -1)
        n_rows = 0
        for block in linked_blocks(self._review.folder):
            begins = int(block.begin[block.first + 1])  # the first frame's cells are no rows
            track = numbers.follow(block)[begins:]
            if len(numbers) > len(found):
                found = np.concatenate([found, np.full(len(numbers) + len(found), -1)])
            tracks, place = np.unique(track, return_index=True)
            new = found[tracks - 1] < 0
            found[tracks[new] - 1] = n_rows + place[new]
            n_rows += len(track)
        return found[: len(numbers)]
