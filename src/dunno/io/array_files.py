"""Named arrays on disk (`.npz`), whole or not at all, with the number of their schema."""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import numpy as np

from dunno.errors import InputError, ProblemError
from dunno.io.schema import Schema

NUMBER = "schema"
PLAIN_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '(?P<dtype>[<|=][\w]+)', 'fortran_order': False, 'shape': \((?P<shape>[\d, ]*)\), \}",
    re.S,
)
"""How an array of numbers, truths or texts begins in the first version of NumPy's format."""


def write_arrays(path: Path, schema: Schema, arrays: Mapping[str, Any]) -> None:
    """Write arrays; they are on the disk when this returns."""
    partial = path.with_suffix(".partial")
    with partial.open("wb") as file:
        np.savez(file, **{NUMBER: np.int64(schema.number), **arrays})
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


class StoredArrays(Mapping[str, np.ndarray]):
    """The arrays of an `.npz` file, by name, each decoded when it is taken.

    `numpy.load` does the same, but evaluates every array's header as Python, which takes longer than all the rest.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._zip = zipfile.ZipFile(file)
        self._names = [name.removesuffix(".npy") for name in self._zip.namelist()]

    def __getitem__(self, name: str) -> np.ndarray:
        content = self._zip.read(f"{name}.npy")
        header = PLAIN_HEADER.match(content)
        if header is None:  # of another version of the format, or in another order
            return np.asarray(np.lib.format.read_array(BytesIO(content)))
        shape = tuple(int(size) for size in header["shape"].split(b",") if size.strip())
        flat = np.frombuffer(content, np.dtype(header["dtype"].decode()), offset=_data_begins(content))
        return flat.reshape(shape).copy()  # may be written to, unlike the bytes of the file

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _data_begins(content: bytes) -> int:
    """Where an array's numbers begin: after ten bytes, of which the last two say how long the header is."""
    return 10 + int.from_bytes(content[8:10], "little")


@contextmanager
def open_arrays(path: Path, schema: Schema) -> Iterator[Mapping[str, Any]]:
    """Arrays by name, each read when it is taken; a broken file and one of another schema are named with what to do."""
    try:
        with path.open("rb") as file:
            arrays = StoredArrays(file)
            schema.check(int(arrays[NUMBER]) if NUMBER in arrays else 1, path)
            yield arrays
    except Exception as error:  # a damaged file can fail in any step of reading it
        if isinstance(error, InputError) and not isinstance(error, ProblemError):
            raise
        message = " ".join(str(error).split())[:200] or type(error).__name__
        raise InputError(f"{path}: cannot be read ({message}); {schema.cure}") from None
