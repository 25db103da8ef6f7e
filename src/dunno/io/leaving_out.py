"""Leaving doubtful links and short tracks out of what is exported, and counting them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dunno.errors import InputError
from dunno.lineage.tracks import LONGEST, TrackNumbers
from dunno.types import Bools, Detections, GapEdges, Ints, PairPosterior
from dunno.types.detections import MEASURED, PLACED

Source = Callable[[], Iterable[PairPosterior]]
"""Makes a stream of all pairs; it may be called more than once."""


@dataclass
class LeftOut:
    """What an export leaves out.

    Attributes:
        links: Links less probable than asked for.
        divisions: Divisions of which a link was cut.
        tracks: Tracks with fewer cells than asked for.
        cells: Their cells.
        orphans: Tracks that lost their mother with them.
    """

    links: int = 0
    divisions: int = 0
    tracks: int = 0
    cells: int = 0
    orphans: int = 0


def sure_links(pairs: Iterable[PairPosterior], least: float, left_out: LeftOut) -> Iterator[PairPosterior]:
    """Cut links below a probability; where one of a division's two is cut, the other daughter goes on as its mother."""
    for pair in pairs:
        cut = pair.selected & (pair.probability < least)
        load = np.bincount(pair.mother[pair.selected], minlength=len(pair.mothers))
        left_out.divisions += int((load[np.unique(pair.mother[cut])] > 1).sum())
        left_out.links += int(cut.sum())
        gaps = pair.gaps
        if gaps is not None:
            far = gaps.selected & (gaps.probability < least)
            left_out.links += int(far.sum())
            gaps = replace(gaps, selected=gaps.selected & ~far)
        yield replace(pair, selected=pair.selected & ~cut, gaps=gaps)


def long_tracks(source: Source, length: int, left_out: LeftOut) -> Iterator[PairPosterior]:
    """Leave out the cells of tracks that have fewer cells than `length`; the pairs are read twice."""
    kept = _tracks_kept(source, length, left_out)
    numbers = TrackNumbers()
    recent: dict[int, Ints] = {}  # of the last frames: each cell's new index, -1 where it is left out
    for pair in source():
        if not len(numbers):
            recent[pair.mother_frame] = _renumbered(kept[numbers.begin(pair.mothers)])
        here = kept[numbers.follow(pair)]
        recent = dict([*[*recent.items()][1 - LONGEST :], (pair.daughter_frame, _renumbered(here))])
        yield _only(pair, recent)


def _tracks_kept(source: Source, length: int, left_out: LeftOut) -> Bools:
    """(T + 1,) whether each track is long enough, by its number."""
    numbers = TrackNumbers()
    cells: Ints = np.zeros(1, np.int64)
    for pair in source():
        if not len(numbers):
            cells = np.bincount(numbers.begin(pair.mothers), minlength=1)
        more = np.bincount(numbers.follow(pair), minlength=len(cells))
        more[: len(cells)] += cells
        cells = more
    rows = numbers.table()
    cells = np.concatenate([cells, np.zeros(len(rows) + 1 - len(cells), np.int64)])
    kept = cells >= length
    left_out.tracks = int((~kept[1:]).sum())
    left_out.cells = int(cells[1:][~kept[1:]].sum())
    left_out.orphans = sum(1 for row in rows if kept[row.track] and row.mother and not kept[row.mother])
    return kept


def _renumbered(kept: Bools) -> Ints:
    return np.where(kept, np.cumsum(kept) - 1, -1)


def _only(pair: PairPosterior, recent: dict[int, Ints]) -> PairPosterior:
    """A pair with the cells that are kept, and the edges between them."""
    old, new = recent[pair.mother_frame], recent[pair.daughter_frame]
    mothers, daughters = old >= 0, new >= 0
    edges = mothers[pair.mother] & daughters[pair.daughter]
    given: dict[str, Any] = {name: getattr(pair, name)[edges] for name in ("cost", "log_probability", "selected")}
    given |= _rows(pair, ("log_no_mother", "entropy", "reviewed"), daughters)
    given |= _rows(pair, ("log_disappear", "log_divide", "border_share"), mothers)
    return replace(
        pair,
        mothers=_cells(pair.mothers, mothers),
        daughters=_cells(pair.daughters, daughters),
        mother=old[pair.mother[edges]],
        daughter=new[pair.daughter[edges]],
        **given,
        gaps=None if pair.gaps is None else _gaps(pair.gaps, new, recent),
        samples=None,
        problem=None,
    )


def _gaps(gaps: GapEdges, new: Ints, recent: dict[int, Ints]) -> GapEdges:
    ends = zip(gaps.mother_frame.tolist(), gaps.mother.tolist(), strict=True)
    mother = np.array([recent[frame][index] for frame, index in ends], np.int64)
    kept = gaps.only((mother >= 0) & (new[gaps.daughter] >= 0))
    return replace(kept, mother=mother[(mother >= 0) & (new[gaps.daughter] >= 0)], daughter=new[kept.daughter])


def _cells(cells: Detections, kept: Bools) -> Detections:
    return replace(cells, **_rows(cells, (*PLACED, *MEASURED), kept))


def _rows(table: Any, names: Iterable[str], kept: Bools) -> dict[str, Any]:
    """Some rows of columns, of which those that are not there stay so."""
    columns = {name: getattr(table, name) for name in names}
    return {name: None if values is None else values[kept] for name, values in columns.items()}


def check_limits(least: float | None, length: int | None) -> None:
    """Refuse limits that mean nothing."""
    if least is not None and not 0 <= least <= 1:
        raise InputError(f"--min-probability {least:g}: expected a probability, from 0 to 1")
    if length is not None and length < 1:
        raise InputError(f"--min-length {length}: expected a number of frames, at least 1")
