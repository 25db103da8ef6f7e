"""Tables: `edges.csv`, `detections.csv` and `tracks.csv`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from dunno.io.columns import cell_columns, csv_header, csv_rows, edge_columns
from dunno.lineage.tracks import NumberedBlock, TrackRow
from dunno.types import Cells, Detections, Movie, RunInfo

TRACK_COLUMNS = (
    "track",
    "first_frame",
    "last_frame",
    "mother_track",
    "confidence",
    "least_confidence",
    "ending",
    "p_ending",
    "p_cell",
)


class CsvWriter:
    """A folder of tables: `edges.csv` and `detections.csv`, row by row, and at the end `tracks.csv`."""

    name = "csv"
    needs_masks = False

    def __init__(self, folder: Path, about: RunInfo, movie: Movie | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._edges = _Table(folder / "edges.csv")
        self._detections = _Table(folder / "detections.csv")

    def write(self, numbered: NumberedBlock) -> None:
        self._detections.write(cell_columns(numbered))
        self._edges.write(edge_columns(numbered.block))

    def finish(self, tracks: Sequence[TrackRow]) -> None:
        """Write the tracks, with how sure each is and how it ends."""
        with (self._folder / "tracks.csv").open("w", newline="") as file:
            file.write(",".join(TRACK_COLUMNS) + "\n")
            file.writelines(map(_track_line, tracks))

    def close(self) -> None:
        self._edges.close()
        self._detections.close()


class _Table:
    """A table that grows."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        self._has_header = False

    def write(self, columns: dict[str, np.ndarray]) -> None:
        """Write rows."""
        if not self._has_header:
            self._file.write(csv_header(columns))
            self._has_header = True
        self._file.write(csv_rows(columns))

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _track_line(row: TrackRow) -> str:
    p_ending, p_cell = ("" if p is None else f"{p:.9g}" for p in (row.p_ending, row.p_cell))
    sure = f"{row.confidence:.9g},{row.least:.9g}"
    return f"{row.track},{row.first},{row.last},{row.mother},{sure},{row.ending},{p_ending},{p_cell}\n"


def write_cells(path: Path, frames: Iterable[Detections]) -> int:
    """Write a table with a row per cell, frame by frame, and return how many there are; `Cells.columns` says what is in it."""
    written = 0
    with path.open("wb") as file:
        for index, cells in enumerate(frames):
            columns = Cells.of([cells]).columns()
            file.write(csv_header(columns) if index == 0 else b"")
            file.write(csv_rows(columns))
            written += len(cells)
    return written
