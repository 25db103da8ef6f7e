"""Results and truth of the Cell Tracking Challenge: `res_track.txt` or `man_track.txt` with masks, matched by overlap."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dunno.errors import InputError, MovieError
from dunno.io.ctc import frame_numbers, read_table
from dunno.io.images import image_files, read_image
from dunno.truth.matching import TrackTable
from dunno.types import Ints, Movie
from dunno.types.labels import as_labels, count_overlaps, measure
from dunno.types.links import GivenLinks

CTC_TABLES = ("res_track.txt", "man_track.txt")


class CtcLinks:
    """A Cell Tracking Challenge result: a track table, and a mask per frame whose labels are tracks."""

    name = "ctc"
    form = "CTC result folder"
    example = "dunno track masks.tif -o OUT --links 01_RES"
    order = 20

    def accepts(self, path: Path) -> bool:
        """Whether a folder has a track table."""
        return any((path / name).is_file() for name in CTC_TABLES)

    def read(self, path: Path, movie: Movie) -> GivenLinks:
        """Follow the tracks frame by frame; a track goes on where it is next seen, or from its mother's last cell."""
        table = read_table(next(path / name for name in CTC_TABLES if (path / name).is_file()))
        files = image_files(path)
        by_frame = dict(zip(frame_numbers(files).tolist(), files, strict=True))
        problems: list[str] = []
        tracks = _Tracks(table, problems)
        links = []
        for t, frame in enumerate(movie.frames.tolist()):
            if frame not in by_frame:
                raise InputError(f"{path}: has no mask for frame {frame}")
            links.append(tracks.follow(frame, *_matched(by_frame[frame], movie, t, problems)))
        mother_frame, mother, frames, daughter = np.concatenate(links).T
        return GivenLinks(mother_frame, mother, frames, daughter, tuple(problems), are_detections=True)


def _matched(file: Path, movie: Movie, t: int, problems: list[str]) -> tuple[Ints, Ints]:
    """A result's labels, ascending, and the detections that cover more than half of them."""
    masks = movie.masks(t)
    theirs = as_labels(read_image(file), str(file))
    if theirs.shape != masks.shape:
        raise MovieError(f"{file}: a frame of shape {theirs.shape}; the movie's have {masks.shape}")
    areas = measure(theirs, str(file))
    label, mine, shared = count_overlaps(theirs, masks)
    covered = 2 * shared > areas.area[np.searchsorted(areas.label, label)]
    label, mine = label[covered], mine[covered]
    for lonely in np.setdiff1d(areas.label, label):
        problems.append(f"{lonely} in {file.name}: no detection covers more than half of it")
    order = np.argsort(label)
    return label[order], mine[order]


class _Tracks:
    """Where each row of a track table was last seen: a few numbers per row, however long the movie is."""

    def __init__(self, table: TrackTable, problems: list[str]) -> None:
        self._table, self._problems = table, problems
        self._frame, self._label = np.zeros((2, len(table.track)), np.int64)  # label 0: not seen yet
        self._names = np.union1d(table.track, table.mother)
        self._last_frame, self._last_label = np.zeros((2, len(self._names)), np.int64)  # outside the row's frames too

    def follow(self, frame: int, track: Ints, label: Ints) -> Ints:
        """(L, 4) the links that lead into a frame, given its (n,) tracks, ascending, and their detections."""
        row, entry = _rows(self._table.track, track)
        inside = (self._table.first[row] <= frame) & (frame <= self._table.last[row])
        row, mine = row[inside], label[entry[inside]]
        goes_on, mother = self._label[row] > 0, np.searchsorted(self._names, self._table.mother[row])
        from_frame = np.where(goes_on, self._frame[row], self._last_frame[mother])
        from_label = np.where(goes_on, self._label[row], self._last_label[mother])
        for orphan in row[(from_label == 0) & (self._table.mother[row] != 0)].tolist():
            self._problems.append(
                f"track {self._table.track[orphan]} comes from track {self._table.mother[orphan]}, which matches no detection"
            )
        self._frame[row], self._label[row] = frame, mine
        name, entry = _rows(self._names, track)
        self._last_frame[name], self._last_label[name] = frame, label[entry]
        links = np.column_stack([from_frame, from_label, np.full(len(row), frame), mine])
        return links[from_label > 0]


def _rows(column: Ints, values: Ints) -> tuple[Ints, Ints]:
    """Every row of an ascending column that holds one of the values, and which value it holds."""
    begin, end = (np.searchsorted(column, values, side) for side in ("left", "right"))
    entry = np.repeat(np.arange(len(values)), end - begin)
    before = np.cumsum(end - begin) - (end - begin)
    return begin[entry] + np.arange(len(entry)) - before[entry], entry
