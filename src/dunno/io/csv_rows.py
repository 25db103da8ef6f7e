"""Columns as the lines of a CSV table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from dunno import _core


def header(names: Iterable[str]) -> bytes:
    """The first line."""
    return (",".join(names) + "\n").encode()


def rows(columns: Mapping[str, np.ndarray]) -> bytes:
    """Format columns as lines: whole numbers as such, others with nine digits, nothing for NaN."""
    return _core.format_rows([_plain(column) for column in columns.values()])


def table(columns: Mapping[str, np.ndarray]) -> bytes:
    """A whole table."""
    return header(columns) + (rows(columns) if columns else b"")


def _plain(column: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(column, np.float64 if column.dtype.kind == "f" else np.int64)
