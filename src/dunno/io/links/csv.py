"""Tables like `edges.csv`."""

from __future__ import annotations

import csv
from array import array
from pathlib import Path

import numpy as np

from dunno.errors import InputError
from dunno.types import Movie
from dunno.types.links import GivenLinks

COLUMNS = ("mother_frame", "mother", "frame", "daughter")
NOT_SELECTED = ("0", "false", "")


class CsvLinks:
    """A table with columns mother_frame, mother, frame, daughter, and optionally selected."""

    name = "csv"
    form = "CSV table"
    order = 10

    def accepts(self, path: Path) -> bool:
        """Whether it is called a CSV."""
        return path.suffix.lower() == ".csv"

    def read(self, path: Path, movie: Movie) -> GivenLinks:
        """Read the selected rows."""
        columns = [array("q") for _ in COLUMNS]
        with path.open(newline="") as file:
            reader = csv.DictReader(file)
            missing = set(COLUMNS) - set(reader.fieldnames or ())
            if missing:
                raise InputError(
                    f"{path}: lacks the columns {', '.join(sorted(missing))}; expected a table like edges.csv"
                )
            for line, row in enumerate(reader, 2):
                if row.get("selected", "1").strip().lower() in NOT_SELECTED:
                    continue
                try:
                    numbers = [int(row[name]) for name in COLUMNS]
                    for column, number in zip(columns, numbers, strict=True):
                        column.append(number)
                except (TypeError, ValueError, OverflowError):
                    raise InputError(f"{path}, line {line}: expected whole numbers, not {row}") from None
        mother_frame, mother, frame, daughter = (np.array(column, np.int64) for column in columns)
        return GivenLinks(mother_frame, mother, frame, daughter)
