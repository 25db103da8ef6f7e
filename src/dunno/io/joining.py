"""Which of the given links are links of the movie."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dunno.types import Bools, Ints, Movie
from dunno.types.labels import measure
from dunno.types.links import GivenLinks, Links

MOST_GAP_GIVEN = 10
"""A link may skip so many frames where a mask is missing."""

GAP_REFUSAL = f"does not lead to a later frame, at most {MOST_GAP_GIVEN + 1} frames on"


def join(given: GivenLinks, movie: Movie, source: str) -> Links:
    """Keep what joins existing detections of a frame and a later one, each daughter once; list the rest in the file's order.

    Frames are read one at a time, and what is kept of them is a bit per link.
    """
    mother_seen, daughter_seen = _ends_seen(given, movie)
    gap = _frames_skipped(given, movie)
    seen, follows = mother_seen & daughter_seen, (gap >= 0) & (gap <= MOST_GAP_GIVEN)
    kept, merged, first = _one_mother_each(given, np.flatnonzero(seen & follows))
    kept, third = _two_daughters_each(given, kept)
    reasons = dict(_absent(given.mother, given.mother_frame, ~mother_seen))
    reasons |= _absent(given.daughter, given.frame, mother_seen & ~daughter_seen)
    reasons |= dict.fromkeys(np.flatnonzero(seen & ~follows).tolist(), GAP_REFUSAL)
    for row, mother in zip(merged.tolist(), given.mother[first].tolist(), strict=True):
        reasons[row] = f"a merge; the daughter has mother {mother} already"
    reasons |= dict.fromkeys(third.tolist(), "a third daughter; the mother has two already")
    problems = (*given.problems, *(f"{_name(given, row)}: {reasons[row]}" for row in sorted(reasons)))
    mother_frame, mother = given.mother_frame[kept], given.mother[kept]
    return Links(mother_frame, mother, given.frame[kept], given.daughter[kept], problems, source, gap[kept])


def _ends_seen(given: GivenLinks, movie: Movie) -> tuple[Bools, Bools]:
    """(L,) and (L,) whether each link's mother and daughter are detections."""
    n = len(given.frame)
    if given.are_detections:
        return np.ones(n, np.bool_), np.ones(n, np.bool_)
    frame = np.concatenate([given.mother_frame, given.frame])
    label = np.concatenate([given.mother, given.daughter])
    seen = np.zeros(2 * n, np.bool_)
    for t, rows in rows_by_frame(frame, movie):
        seen[rows] = np.isin(label[rows], _labels(movie, t))
    return seen[:n], seen[n:]


def _labels(movie: Movie, t: int) -> Ints:
    """A frame's detections; no more of its masks is looked at."""
    return measure(movie.masks(t), movie.where(t)).label if movie.has_masks else movie.detections(t).label


def rows_by_frame(frame: Ints, movie: Movie) -> Iterator[tuple[int, Ints]]:
    """Yield the movie's frames, by position, with the rows of a table that lie in each; those without are passed over."""
    order = np.argsort(frame, kind="stable")
    begins, ends = (np.searchsorted(frame[order], movie.frames, side) for side in ("left", "right"))
    for t in np.flatnonzero(begins < ends).tolist():
        yield t, order[begins[t] : ends[t]]


def _frames_skipped(given: GivenLinks, movie: Movie) -> Ints:
    """(L,) how many frames of the movie lie between each link's ends; -1 where it does not lead to a later frame of the movie."""
    last = len(movie) - 1
    early, late = (np.searchsorted(movie.frames, each).clip(max=last) for each in (given.mother_frame, given.frame))
    there = (movie.frames[early] == given.mother_frame) & (movie.frames[late] == given.frame)
    return np.where(there & (late > early), late - early - 1, -1)


def _one_mother_each(given: GivenLinks, usable: Ints) -> tuple[Ints, Ints, Ints]:
    """Rows to keep, sorted by daughter; rows that give a daughter another mother; and the kept rows they contradict.

    The first row in the file wins; one that only repeats it is left out without a word.
    """
    order = usable[np.lexsort((given.daughter[usable], given.frame[usable]))]
    begins = np.ones(len(order), np.bool_)
    begins[1:] = (np.diff(given.frame[order]) != 0) | (np.diff(given.daughter[order]) != 0)
    kept = order[begins]
    winner = kept[np.cumsum(begins) - 1]
    differs = given.mother[order] != given.mother[winner]
    differs |= given.mother_frame[order] != given.mother_frame[winner]
    return kept, order[differs], winner[differs]


def _two_daughters_each(given: GivenLinks, kept: Ints) -> tuple[Ints, Ints]:
    """Rows to keep, in their order, and those that give a mother more than two daughters; the first rows in the file win."""
    order = kept[np.lexsort((kept, given.mother[kept], given.mother_frame[kept]))]
    begins = np.ones(len(order), np.bool_)
    begins[1:] = (np.diff(given.mother_frame[order]) != 0) | (np.diff(given.mother[order]) != 0)
    first = np.maximum.accumulate(np.where(begins, np.arange(len(order)), 0))
    third = order[np.arange(len(order)) - first >= 2]
    return kept[~np.isin(kept, third)], np.sort(third)


def _absent(label: Ints, frame: Ints, which: Bools) -> Iterator[tuple[int, str]]:
    for row in np.flatnonzero(which).tolist():
        yield row, f"there is no detection {label[row]} in frame {frame[row]}"


def _name(given: GivenLinks, row: int) -> str:
    mother, daughter = given.mother[row], given.daughter[row]
    return f"{mother} in frame {given.mother_frame[row]} → {daughter} in frame {given.frame[row]}"
