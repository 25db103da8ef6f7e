"""Leaving doubtful links, short tracks and debris out of what is exported, and counting them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from dunno.errors import InputError
from dunno.lineage.tracks import TrackNumbers, numbered
from dunno.types import Block, Bools

Source = Callable[[], Iterable[Block]]
"""Makes a stream of all blocks; it may be called more than once."""


@dataclass
class LeftOut:
    """What an export leaves out."""

    links: int = 0  # Links less probable than asked for
    divisions: int = 0  # Divisions of which a link was cut
    tracks: int = 0  # Tracks with fewer cells than asked for
    cells: int = 0  # Their cells
    orphans: int = 0  # Tracks that lost their mother with them
    debris: int = 0  # Tracks that are taken for debris
    all_tracks: int = 0  # Tracks that there were before these were left out


def sure_links(blocks: Iterable[Block], least: float, left_out: LeftOut) -> Iterator[Block]:
    """Cut links below a probability; where one of a division's two is cut, the other daughter goes on as its mother."""
    for block in blocks:
        cut = block.selected & (block.probability < least)
        near = cut & (block.gap == 0)
        load = np.bincount(block.mother[block.selected & (block.gap == 0)], minlength=len(block.cells))
        left_out.divisions += int((load[np.unique(block.mother[near])] > 1).sum())
        left_out.links += int(cut.sum())
        yield replace(block, selected=block.selected & ~cut)


def long_tracks(source: Source, length: int, left_out: LeftOut) -> Iterator[Block]:
    """Leave out the cells of tracks that have fewer cells than `length`; the blocks are read twice."""
    kept = _tracks_kept(source, length, left_out)
    for part in numbered(source(), TrackNumbers()):
        yield part.block.only(kept[part.track])


def _tracks_kept(source: Source, length: int, left_out: LeftOut) -> Bools:
    """(T + 1,) whether each track is long enough, by its number."""
    numbers, parts = TrackNumbers(), [np.zeros(1, np.int64)]
    for part in numbered(source(), numbers):
        found = np.bincount(part.track[part.rows], minlength=len(parts[0]))
        found[: len(parts[0])] += parts[0]
        parts[0] = found
    rows = numbers.table()
    cells = np.concatenate([parts[0], np.zeros(len(rows) + 1 - len(parts[0]), np.int64)])
    kept = cells >= length
    left_out.tracks = int((~kept[1:]).sum())
    left_out.cells = int(cells[1:][~kept[1:]].sum())
    left_out.orphans = sum(1 for row in rows if kept[row.track] and row.mother and not kept[row.mother])
    return kept


def without_debris(source: Source, left_out: LeftOut) -> Iterator[Block]:
    """Leave out tracks that are rather debris than cells; the blocks are read twice. Without any, all stay as they are."""
    kept = tracks_of_cells(source())
    left_out.debris, left_out.all_tracks = int((~kept).sum()), len(kept) - 1
    if kept.all():
        yield from source()
        return
    for part in numbered(source(), TrackNumbers()):
        yield part.block.only(kept[part.track])


def tracks_of_cells(blocks: Iterable[Block]) -> Bools:
    """(T + 1,) which tracks, by their numbers, are not rather debris."""
    numbers = TrackNumbers()
    for block in blocks:
        numbers.follow(block)
    return np.concatenate([[True], ~(numbers.p_cell < 0.5)])


def check_limits(least: float | None, length: int | None) -> None:
    """Refuse limits that mean nothing."""
    if least is not None and not 0 <= least <= 1:
        raise InputError(f"--min-probability {least:g}: expected a probability, from 0 to 1")
    if length is not None and length < 1:
        raise InputError(f"--min-length {length}: expected a number of frames, at least 1")
