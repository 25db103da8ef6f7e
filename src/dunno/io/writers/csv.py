"""Tables: `edges.csv`, `detections.csv` and `tracks.csv`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dunno import _core
from dunno.io.columns import detection_columns, edge_columns
from dunno.lineage.tracks import FrameRecord, TrackRow
from dunno.types import Cells, Detections, Movie, PairPosterior

TRACK_COLUMNS = ("track", "first_frame", "last_frame", "mother_track", "confidence", "least_confidence")


class CsvWriter:
    """A folder of tables: `edges.csv` and `detections.csv`, row by row, and at the end `tracks.csv`."""

    name = "csv"
    needs_masks = False

    def __init__(self, folder: Path, about: Mapping[str, Any], movie: Movie | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._edges = (folder / "edges.csv").open("wb")
        self._detections = (folder / "detections.csv").open("wb")
        self._has_header = False

    def write(self, record: FrameRecord, pair: PairPosterior | None) -> None:
        """Write one frame's cells, and their edges into the next."""
        cells = detection_columns(record)
        if not self._has_header:
            self._detections.write(_header(cells))
            if pair is not None:
                self._edges.write(_header(edge_columns(pair)))
            self._has_header = True
        self._detections.write(_rows(cells))
        if pair is not None:
            self._edges.write(_rows(edge_columns(pair)))

    def finish(self, tracks: Sequence[TrackRow]) -> None:
        """Write the tracks, with how sure each is."""
        rows = (f"{t.track},{t.first},{t.last},{t.mother},{t.confidence:.9g},{t.least:.9g}\n" for t in tracks)
        with (self._folder / "tracks.csv").open("w", newline="") as file:
            file.write(",".join(TRACK_COLUMNS) + "\n")
            file.writelines(rows)

    def close(self) -> None:
        """Close the files."""
        self._edges.close()
        self._detections.close()


def write_cells(path: Path, frames: Iterable[Detections]) -> int:
    """Write a table with a row per cell, frame by frame, and return how many there are; `Cells.columns` says what is in it."""
    rows = 0
    with path.open("wb") as file:
        for index, cells in enumerate(frames):
            columns = Cells.of([cells]).columns()
            file.write(_header(columns) if index == 0 else b"")
            file.write(_rows(columns))
            rows += len(cells)
    return rows


def _header(names: Iterable[str]) -> bytes:
    return (",".join(names) + "\n").encode()


def _rows(columns: Mapping[str, np.ndarray]) -> bytes:
    """Format columns as lines: whole numbers as such, others with nine digits, nothing for NaN."""
    return _core.format_rows([_plain(column) for column in columns.values()])


def _plain(column: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(column, np.float64 if column.dtype.kind == "f" else np.int64)
