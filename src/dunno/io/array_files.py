"""Named arrays on disk (`.npz`), whole or not at all, with the number of their schema."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from dunno.errors import InputError, ProblemError
from dunno.io.schema import Schema

SCHEMA_ENTRY = "schema"


def write_arrays(path: Path, schema: Schema, arrays: Mapping[str, Any]) -> None:
    """Write arrays; they are on the disk when this returns."""
    partial = path.with_suffix(".partial")
    with partial.open("wb") as file:
        np.savez(file, **{SCHEMA_ENTRY: np.int64(schema.number), **arrays})
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


@contextmanager
def open_arrays(path: Path, schema: Schema) -> Iterator[Mapping[str, Any]]:
    """Arrays by name, each read when it is taken; a broken file and one of another schema are named with what to do."""
    try:
        with path.open("rb") as file, np.load(file) as arrays:
            schema.check(int(arrays[SCHEMA_ENTRY]) if SCHEMA_ENTRY in arrays else 1, path)
            yield arrays
    except Exception as error:  # a damaged file can fail in any step of reading it
        if isinstance(error, InputError) and not isinstance(error, ProblemError):
            raise
        message = " ".join(str(error).split())[:200] or type(error).__name__
        raise InputError(f"{path}: cannot be read ({message}); {schema.cure}") from None
