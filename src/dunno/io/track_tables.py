"""Tracks as rows: a track, a frame, and the label or the place of the cell there. What most trackers hand out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dunno.errors import InputError
from dunno.io.joining import rows_by_frame
from dunno.io.spots import Matched, links_between, match_in_either_unit
from dunno.types import Floats, Ints, Movie
from dunno.types.links import GivenLinks

TRACK_COLUMN_NAMES: dict[str, tuple[str, ...]] = {
    "track": ("track_id", "trackid", "particle", "track", "id"),
    "frame": ("frame", "t", "time", "timepoint", "position_t"),
    "label": ("label", "segmentation_id", "label_id", "mask_id"),
    "parent": ("parent_track_id", "parent_track", "mother_track", "parent"),
    "tree": ("tree_id",),
    "z": ("z", "position_z", "centroid_z"),
    "y": ("y", "position_y", "centroid_y"),
    "x": ("x", "position_x", "centroid_x"),
}
"""What columns are called by napari, LapTrack, btrack, trackpy, Ultrack and others, in any case; the first that is there counts."""

NAPARI_AXES = {4: ("ID", "T", "Y", "X"), 5: ("ID", "T", "Z", "Y", "X")}
"""The columns of a napari Tracks layer, which has no names for them."""

CENTROIDS = {2: ("y", "x"), 3: ("z", "y", "x")}
EXPECTED_TRACK_COLUMNS = (
    "track_id, frame, and label or y, x (in volumes z, y, x; in pixels), and optionally parent_track_id"
)


def find_columns(names: Iterable[str]) -> dict[str, str]:
    """Which of a table's columns plays which part.

    Example:
        >>> find_columns(["ID", "T", "Y", "X"])
        {'track': 'ID', 'frame': 'T', 'y': 'Y', 'x': 'X'}
    """
    lower = {str(name).strip().lower(): str(name) for name in reversed(list(names))}
    found = {
        part: next((lower[name] for name in known if name in lower), "") for part, known in TRACK_COLUMN_NAMES.items()
    }
    centroids = [lower[name] for i in range(3) for name in (f"centroid-{i}", f"centroid_{i}") if name in lower]
    if len(centroids) in CENTROIDS and not found["y"]:
        found |= dict(zip(CENTROIDS[len(centroids)], centroids, strict=True))
    return {part: name for part, name in found.items() if name}


def are_tracks(names: Iterable[str]) -> bool:
    """Whether a table with these columns is one of tracks."""
    found = find_columns(names)
    return {"track", "frame"} <= set(found) and ("label" in found or {"y", "x"} <= set(found))


@dataclass(frozen=True, eq=False)
class GivenRows:
    """Rows of somebody's table or graph, in any order, and which of them are linked."""

    frame: Ints  # (N,) original frame index
    label: Ints | None  # (N,) the detection's label, 0 where it is not known; `None` where places are to be matched
    place: Floats | None  # (N, d) in pixels or µm; `None` where labels are known
    first: Ints  # (L,) the row of each link's earlier end, -1 where it is none of them
    second: Ints  # (L,) that of the later one
    problems: tuple[str, ...] = ()  # What cannot be told as links, in words
    name: Ints | None = None  # (N,) what the rows are called; their numbers where they have no names
    source: str = "the tracks"  # What they are from, in words
    in_pixels: bool = True  # Whether pixels are the first guess, where the unit of places is not known

    def labels(self, movie: Movie) -> Matched:
        """(N,) the label of each row's detection, 0 where there is none, and why."""
        if self.label is not None:
            return self.label, ()
        name = np.arange(len(self.frame)) if self.name is None else self.name
        place = np.asarray(self.place, np.float64)
        return match_in_either_unit(name, self.frame, place, movie, self.source, in_pixels=self.in_pixels)

    def links(self, movie: Movie) -> GivenLinks:
        """The links between the movie's detections."""
        label, unmatched = self.labels(movie)
        problems = (*self.problems, *unmatched)
        return links_between(self.frame, label, self.first, self.second, problems, matched=self.label is None)


def linked_rows(track: Ints, frame: Ints, parent: Mapping[int, int]) -> tuple[Ints, Ints, tuple[str, ...]]:
    """(L,) and (L,) rows of mothers and daughters: neighbours in a track, and a track's first row with its parent's last."""
    order = np.lexsort((frame, track))
    track, frame = track[order], frame[order]
    same = track[1:] == track[:-1]
    double = same & (frame[1:] == frame[:-1])
    problems = [
        f"track {track[i]} is twice in frame {frame[i]}; expected one row of a track in a frame"
        for i in np.flatnonzero(double).tolist()
    ]
    goes_on = np.flatnonzero(same & ~double)
    names, begins = np.unique(track, return_index=True)
    ends = np.append(begins[1:], len(track)) - 1
    row = {name: i for i, name in enumerate(names.tolist())}
    born = [(ends[row[old]], begins[row[new]]) for new, old in parent.items() if new in row and old in row]
    problems += [
        f"track {new} comes from track {old}, which is not there"
        for new, old in parent.items()
        if new in row and old not in row
    ]
    first = np.array([*goes_on.tolist(), *(int(mother) for mother, _ in born)], np.int64)
    second = np.array([*(goes_on + 1).tolist(), *(int(daughter) for _, daughter in born)], np.int64)
    return order[first], order[second], tuple(problems)


def rows_of(table: Mapping[str, Any], movie: Movie, where: str, parent: Mapping[int, int] | None = None) -> GivenRows:
    """Take a table's columns apart; `parent` says which track a track came from, where the table does not."""
    found = find_columns(table)
    axes = CENTROIDS[movie.n_dimensions]
    by_label = "label" in found
    needed = ["track", "frame", *(() if by_label else axes)]
    missing = [part for part in needed if part not in found]
    if missing:
        came = ", ".join(map(str, table)) or "no columns"
        raise InputError(
            f"{where}: has the columns {came}, but none for {', '.join(missing)}; expected {EXPECTED_TRACK_COLUMNS}"
        )
    track, frame = (_whole(table[found[part]], found[part], where) for part in ("track", "frame"))
    label = _whole(table[found["label"]], found["label"], where) if by_label else None
    place = None if by_label else np.column_stack([_numbers(table[found[axis]], found[axis], where) for axis in axes])
    if parent is not None:
        pass
    elif "parent" in found:
        parent = _parents(track, _numbers(table[found["parent"]], found["parent"], where))
    elif "tree" in found:
        parent = _parents_in_trees(track, frame, _whole(table[found["tree"]], found["tree"], where))
    else:
        parent = {}
    return GivenRows(frame, label, place, *linked_rows(track, frame, parent))


def _numbers(column: Any, name: str, where: str) -> Floats:
    try:
        return np.asarray(column, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{where}: the column {name} holds what is no number; expected numbers") from None


def _whole(column: Any, name: str, where: str) -> Ints:
    numbers = _numbers(column, name, where)
    odd = ~(np.isfinite(numbers) & (numbers == np.round(numbers)) & (np.abs(numbers) < 2**53))
    if odd.any():
        row = int(np.flatnonzero(odd)[0])
        raise InputError(f"{where}: the column {name} has {numbers[row]:g} in row {row}; expected whole numbers")
    return numbers.astype(np.int64)


def _parents(track: Ints, column: Floats) -> dict[int, int]:
    """Each track's parent; none where it is empty, negative, itself (btrack), or 0 without a track 0."""
    names, first = np.unique(track, return_index=True)
    known = set(names.tolist())
    parents = {}
    for name, value in zip(names.tolist(), column[first].tolist(), strict=True):
        if np.isfinite(value) and value >= 0 and value != name and (value != 0 or 0 in known):
            parents[name] = int(value)
    return parents


def _parents_in_trees(track: Ints, frame: Ints, tree: Ints) -> dict[int, int]:
    """LapTrack's tables name trees, not parents: a track's is the one of its tree that ends just before it begins."""
    order = np.lexsort((frame, track))
    names, begins = np.unique(track[order], return_index=True)
    ends = np.append(begins[1:], len(order)) - 1
    first, last, root = frame[order][begins], frame[order][ends], tree[order][begins]
    parents = {}
    for i in range(len(names)):
        before = np.flatnonzero((root == root[i]) & (last < first[i]))
        before = before[last[before] == last[before].max()] if len(before) else before
        if len(before) == 1:
            parents[int(names[i])] = int(names[before[0]])
    return parents


def labelled(rows: GivenRows, movie: Movie) -> Ints:
    """(N,) labels of rows that are detections of the movie, else 0."""
    label, _ = rows.labels(movie)
    kept = np.zeros(len(label), np.int64)
    for t, here in rows_by_frame(rows.frame, movie):
        kept[here] = np.where(np.isin(label[here], movie.detections(t).label), label[here], 0)
    return kept
