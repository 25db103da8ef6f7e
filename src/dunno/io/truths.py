"""Truth in any form: annotated masks, or a table or graph of who is whose mother, which points have, too."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from dunno.errors import TruthError
from dunno.io import ctc
from dunno.io.images import one_line
from dunno.io.links.geff import GeffLinks, rows_of_geff
from dunno.io.links.tracks import TrackTableLinks, rows_of_tracks
from dunno.io.track_tables import GivenRows
from dunno.truth import AnnotatedCells, truth_of_graph
from dunno.types import Movie, Truth

DAUGHTER_COLUMNS = ("daughter", "id", "label")
"""What the column of cells is called; the first that is there counts."""

EXPECTED_TRUTH = (
    "expected the columns frame, id, mother_frame, mother (empty for cells that begin), a table of tracks, a GEFF, "
    "or a folder with man_track.txt"
)
Cell = tuple[int, int]
"""Its frame and its name there."""


def read_truth(path: str | Path, movie: Movie, whole_cells: Path | None = None) -> Truth:
    """Read an annotation and match it to the detections of a movie, or of every n-th frame of it.

    It is a `SEQ_GT` folder or its `TRA`; a `.csv` with a row per cell (frame, id, mother_frame, mother) whose names are those of
    the movie's cells; a table of tracks (`track_id`, frame, and label or place); or a GEFF, matched by place. Where a `SEQ_GT`
    holds markers, `whole_cells` are masks of whole cells with its labels.
    """
    path = Path(path)
    if GeffLinks().accepts(path):
        cells = _of_rows(rows_of_geff(path, movie), movie, path)
    elif TrackTableLinks().accepts(path):
        cells = _of_rows(rows_of_tracks(path, movie), movie, path)
    elif path.suffix.lower() == ".csv":
        cells = _of_links(path)
    else:
        return ctc.match_folder(path, movie, whole_cells)
    truth = truth_of_graph(cells, movie.frames, [movie.detections(t).label for t in range(len(movie))])
    if not any(each.any() for each in truth.tracks):
        raise TruthError(f"{path}: names no cell of {movie.name}; {EXPECTED_TRUTH}")
    return truth


def _of_links(path: Path) -> AnnotatedCells:
    """Every cell that a row is about, and every mother."""
    mother_of = dict(_rows(path))
    cells = sorted({*mother_of, *(mother for mother in mother_of.values() if mother is not None)})
    row = {cell: k for k, cell in enumerate(cells)}
    links = [(row[mother], row[cell]) for cell, mother in mother_of.items() if mother is not None]
    frame, label = np.array(cells, np.int64).reshape(-1, 2).T
    mother, daughter = np.array(links, np.int64).reshape(-1, 2).T
    return AnnotatedCells(frame, label, mother, daughter, str(path))


def _rows(path: Path) -> list[tuple[Cell, Cell | None]]:
    """Each row's cell and its mother."""
    found: dict[Cell, Cell | None] = {}
    try:
        with path.open(newline="", encoding="utf-8-sig", errors="replace") as file:
            reader = csv.DictReader(file, skipinitialspace=True)
            names = [name.strip() for name in reader.fieldnames or ()]
            reader.fieldnames = names
            cell = next((name for name in DAUGHTER_COLUMNS if name in names), None)
            if cell is None or not {"frame", "mother_frame", "mother"} <= set(names):
                raise TruthError(f"{path}: has the columns {', '.join(names)[:200] or '(none)'}; {EXPECTED_TRUTH}")
            for line, row in enumerate(reader, 2):
                if (row.get("selected") or "1").strip().lower() in ("0", "false"):
                    continue
                daughter, mother = _cell(row, "frame", cell, path, line), None
                if (row["mother"] or "").strip():
                    mother = _cell(row, "mother_frame", "mother", path, line)
                if found.get(daughter, mother) not in (None, mother):
                    raise TruthError(f"{path}, line {line}: cell {daughter[1]} in frame {daughter[0]} has two mothers")
                found[daughter] = mother if mother is not None else found.get(daughter)
    except (OSError, csv.Error) as error:
        raise TruthError(f"{path}: cannot be read as a table ({one_line(error)}); {EXPECTED_TRUTH}") from None
    return list(found.items())


def _cell(row: dict[str, str], frame: str, name: str, path: Path, line: int) -> Cell:
    try:
        return int(row[frame]), int(row[name])
    except (TypeError, ValueError):
        raise TruthError(
            f"{path}, line {line}: expected whole numbers, not {frame} {row[frame]!r:.40} and {name} {row[name]!r:.40}"
        ) from None


def _of_rows(rows: GivenRows, movie: Movie, path: Path) -> AnnotatedCells:
    """With rows by ascending frame; links lead to the later of their ends."""
    if rows.problems:
        raise TruthError(f"{path}: {rows.problems[0]}")
    order = np.argsort(rows.frame, kind="stable")
    row = np.empty(len(order), np.int64)
    row[order] = np.arange(len(order))
    one, other = row[rows.first], row[rows.second]
    label, _ = rows.labels(movie)
    return AnnotatedCells(rows.frame[order], label[order], np.minimum(one, other), np.maximum(one, other), str(path))
