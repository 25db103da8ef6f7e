"""Tables like `edges.csv`."""

from __future__ import annotations

import csv
from array import array
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dunno.errors import InputError
from dunno.io.track_tables import EXPECTED_TRACK_COLUMNS
from dunno.types import Movie
from dunno.types.links import GivenLinks

EDGE_COLUMNS = ("mother_frame", "mother", "frame", "daughter")
NOT_SELECTED = ("0", "false", "")


class CsvLinks:
    """A table with columns mother_frame, mother, frame, daughter, and optionally selected."""

    name = "csv"
    form = "CSV table"
    example = "dunno track masks.tif -o OUT --links edges.csv"
    order = 10

    def accepts(self, path: Path) -> bool:
        return path.suffix.lower() == ".csv"

    def read(self, path: Path, movie: Movie) -> GivenLinks:
        """Read the selected rows."""
        columns = [array("q") for _ in EDGE_COLUMNS]
        for line, row in _rows(path):
            if (row.get("selected", "1") or "").strip().lower() in NOT_SELECTED:
                continue
            try:
                numbers = [int(row[name]) for name in EDGE_COLUMNS]
                for column, number in zip(columns, numbers, strict=True):
                    column.append(number)
            except (TypeError, ValueError, OverflowError):
                found = ", ".join(f"{name} {row[name]!r:.40}" for name in EDGE_COLUMNS)
                raise InputError(f"{path}, line {line}: expected whole numbers, not {found}") from None
        mother_frame, mother, frame, daughter = (np.array(column, np.int64) for column in columns)
        return GivenLinks(mother_frame, mother, frame, daughter)


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Each row by the names of its columns, with its line; Excel's mark at the beginning and other encodings do no harm."""
    try:
        with path.open(newline="", encoding="utf-8-sig", errors="replace") as file:
            reader = csv.DictReader(file)
            missing = set(EDGE_COLUMNS) - set(reader.fieldnames or ())
            if missing:
                raise InputError(
                    f"{path}: lacks the columns {', '.join(sorted(missing))}; expected a table like edges.csv, or one of tracks "
                    f"({EXPECTED_TRACK_COLUMNS}); it has {', '.join(map(str, reader.fieldnames or ()))[:200] or 'none'}"
                )
            yield from enumerate(reader, 2)
    except (OSError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read as a table ({error}); expected one like edges.csv") from None
