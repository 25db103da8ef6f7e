"""Which forms of its own files this version reads: one number per kind of file, raised when its form changes.

`docs/files.md` says what is in each file and what becomes of older ones. A file without a number is of schema 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dunno.errors import InputError


@dataclass(frozen=True)
class Schema:
    """A kind of file."""

    file: str  # Its name in an output
    number: int  # What this version writes
    oldest: int  # The lowest number that it still reads
    cure: str  # What to do about a file that it does not read

    def check(self, number: Any, where: str | Path) -> None:
        """Refuse a file of another schema: what came, what is read and what to do, in one line."""
        if (problem := self.problem(number)) is not None:
            raise InputError(f"{where}: {problem}")

    def problem(self, number: Any) -> str | None:
        """Why a file of this schema is not read; `None` if it is."""
        if not isinstance(number, int) or isinstance(number, bool) or number < 1:
            return f"has the schema {number!r}, expected a whole number from 1; {self.cure}"
        known = f"schema {number}; this one reads {_span(self.oldest, self.number)}"
        if number < self.oldest:
            return f"was written by an older version of dunno ({known}); {self.cure}"
        if number > self.number:
            return f"was written by a newer version of dunno ({known}); update dunno, or {self.cure}"
        return None


def _span(oldest: int, newest: int) -> str:
    return str(newest) if oldest == newest else f"{oldest} to {newest}"


RUN_SCHEMA = Schema("run.json", 2, 1, "track the movie again")
CELL_FILES = Schema("cells/", 1, 1, "track the movie again")
PAIRS = Schema("pairs/", 4, 4, "track the movie again")
CALIBRATION = Schema("calibration.json", 3, 2, "fit it again with dunno calibrate")
REVIEW = Schema("review.jsonl", 1, 1, "export the review with the version that wrote it")

SCHEMAS = (RUN_SCHEMA, CELL_FILES, PAIRS, CALIBRATION, REVIEW)
