"""Tables: `edges.csv`, `detections.csv` and `tracks.csv`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dunno.io.columns import detection_columns, edge_columns
from dunno.io.csv_rows import header, rows
from dunno.lineage.tracks import FrameRecord, TrackRow
from dunno.types import Cells, Detections, Movie, PairPosterior

WAITING = 1 << 13
"""Rows that wait in memory until they are written together."""

TRACK_COLUMNS = (
    "track",
    "first_frame",
    "last_frame",
    "mother_track",
    "confidence",
    "least_confidence",
    "ending",
    "p_ending",
)


class CsvWriter:
    """A folder of tables: `edges.csv` and `detections.csv`, row by row, and at the end `tracks.csv`."""

    name = "csv"
    needs_masks = False

    def __init__(self, folder: Path, about: Mapping[str, Any], movie: Movie | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._edges = _Table(folder / "edges.csv")
        self._detections = _Table(folder / "detections.csv")

    def write(self, record: FrameRecord, pair: PairPosterior | None) -> None:
        """Write one frame's cells, and their edges into the next."""
        self._detections.add(detection_columns(record))
        if pair is not None:
            self._edges.add(edge_columns(pair))

    def finish(self, tracks: Sequence[TrackRow]) -> None:
        """Write the tracks, with how sure each is and how it ends."""
        self._edges.write_waiting()
        self._detections.write_waiting()
        with (self._folder / "tracks.csv").open("w", newline="") as file:
            file.write(",".join(TRACK_COLUMNS) + "\n")
            file.writelines(map(_track_line, tracks))

    def close(self) -> None:
        """Close the files."""
        self._edges.close()
        self._detections.close()


class _Table:
    """A table that grows; rows wait until there are enough to format in one call."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        self._has_header = False
        self._waiting: list[dict[str, np.ndarray]] = []
        self._n_waiting = 0

    def add(self, columns: dict[str, np.ndarray]) -> None:
        """Add rows."""
        if not self._has_header:
            self._file.write(header(columns))
            self._has_header = True
        self._waiting.append(columns)
        self._n_waiting += len(next(iter(columns.values())))
        if self._n_waiting >= WAITING:
            self.write_waiting()

    def write_waiting(self) -> None:
        """Write what waits."""
        if self._waiting:
            names = self._waiting[0]
            self._file.write(rows({name: np.concatenate([part[name] for part in self._waiting]) for name in names}))
        self._waiting, self._n_waiting = [], 0

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _track_line(row: TrackRow) -> str:
    p_ending = "" if row.p_ending is None else f"{row.p_ending:.9g}"
    sure = f"{row.confidence:.9g},{row.least:.9g}"
    return f"{row.track},{row.first},{row.last},{row.mother},{sure},{row.ending},{p_ending}\n"


def write_cells(path: Path, frames: Iterable[Detections]) -> int:
    """Write a table with a row per cell, frame by frame, and return how many there are; `Cells.columns` says what is in it."""
    written = 0
    with path.open("wb") as file:
        for index, cells in enumerate(frames):
            columns = Cells.of([cells]).columns()
            file.write(header(columns) if index == 0 else b"")
            file.write(rows(columns))
            written += len(cells)
    return written
