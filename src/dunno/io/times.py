"""A file that says when each frame was taken."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from dunno.errors import InputError
from dunno.types import Floats

FORM = "expected a line for each frame: minutes, or the frame's number and minutes"


def read_times(path: str | Path) -> Floats:
    """(T,) minutes: a line for each frame, with the minutes alone or last, after the frame's number; a header is passed over."""
    path = Path(path)
    try:
        text = path.read_text()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); {FORM}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not a text file; {FORM}") from None
    lines = [line for line in text.splitlines() if line.strip()]
    separator = next((mark for mark in (",", ";", "\t") if lines and mark in lines[0]), None)
    rows = list(csv.reader(lines, delimiter=separator)) if separator else [line.split() for line in lines]
    if rows and not _numbers(rows[0]):
        rows = rows[1:]
    bad = next((k for k, row in enumerate(rows) if not _numbers(row) or not 1 <= len(row) <= 2), None)
    if not rows or bad is not None:
        came = "it is empty" if not rows else f"{' '.join(rows[bad or 0])!r:.60} came"
        raise InputError(f"{path}: {came}; {FORM}")
    return np.array([float(row[-1]) for row in rows])


def _numbers(row: list[str]) -> bool:
    try:
        return bool([float(each) for each in row])
    except ValueError:
        return False
