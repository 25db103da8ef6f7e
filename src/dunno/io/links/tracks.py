"""Tables of tracks: napari's, LapTrack's, btrack's, trackpy's, Ultrack's."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from dunno.errors import InputError
from dunno.io.images import one_line
from dunno.io.track_tables import NAPARI_AXES, GivenRows, are_tracks, find_columns, rows_of
from dunno.types import Movie
from dunno.types.links import GivenLinks

TABLE_SUFFIXES = (".csv", ".tsv", ".txt")


class TrackTableLinks:
    """A table with a row per track and frame (napari, LapTrack, btrack, trackpy, Ultrack), or napari's array (`.npy`)."""

    name = "tracks"
    form = "table of tracks"
    example = "dunno track masks.tif -o OUT --links tracks.csv"
    order = 5

    def accepts(self, path: Path) -> bool:
        if path.suffix.lower() == ".npy":
            return path.is_file()
        return path.suffix.lower() in TABLE_SUFFIXES and path.is_file() and _kind(path) is not None

    def read(self, path: Path, movie: Movie) -> GivenLinks:
        """Link neighbouring rows of every track, and its first with the last of its parent."""
        return rows_of_tracks(path, movie).links(movie)


def rows_of_tracks(path: Path, movie: Movie) -> GivenRows:
    """The rows of a table or an array of tracks."""
    columns = _of_array(path) if path.suffix.lower() == ".npy" else _of_table(path)
    return rows_of(columns, movie, str(path))


def _first_line(path: Path) -> str:
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            return file.readline(10_000).strip()
    except OSError:
        return ""


def _delimiter(line: str) -> str:
    return next((mark for mark in ("\t", ";", ",") if mark in line), " ")


def _kind(path: Path) -> str | None:
    """`named`, `napari` for a table of numbers without names, or neither."""
    line = _first_line(path)
    cells = [cell.strip().strip('"') for cell in line.split(_delimiter(line))]
    if are_tracks(cells):
        return "named"
    try:
        return "napari" if len([float(cell) for cell in cells]) in NAPARI_AXES else None
    except ValueError:
        return None


def _of_table(path: Path) -> dict[str, Any]:
    """The columns that play a part, as numbers where they are; empty cells are not a number."""
    line, is_named = _first_line(path), _kind(path) == "named"
    header = [name.strip() for name in next(csv.reader([line], delimiter=_delimiter(line)))]
    names = header if is_named else list(NAPARI_AXES[len(header)])
    kept = {name: names.index(name) for name in find_columns(names).values()}
    columns: dict[str, list[str]] = {name: [] for name in kept}
    try:
        with path.open(newline="", encoding="utf-8-sig", errors="replace") as file:
            reader = csv.reader(file, delimiter=_delimiter(line), skipinitialspace=True)
            for n, row in enumerate(row for row in reader if row):
                if n == 0 and is_named:
                    continue
                if len(row) < len(names):
                    raise InputError(
                        f"{path}: row {n - is_named} ends early; expected {len(names)} columns: {line[:200]}"
                    )
                for name, index in kept.items():
                    columns[name].append(row[index].strip() or "nan")
    except (OSError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read as a table ({one_line(error)})") from None
    return dict(columns)


def _of_array(path: Path) -> dict[str, np.ndarray]:
    try:
        array = np.load(path, allow_pickle=False)
        return dict(zip(NAPARI_AXES[array.shape[1]], array.T, strict=True))
    except (OSError, ValueError, EOFError, KeyError, IndexError) as error:
        raise InputError(
            f"{path}: cannot be read as napari tracks ({one_line(error)}); "
            f"expected an array (N, 4 or 5): {', '.join(NAPARI_AXES[5])}"
        ) from None
