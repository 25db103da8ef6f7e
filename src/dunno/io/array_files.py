"""Named arrays on disk (`.npz`), whole or not at all, with the number of their schema."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from dunno.errors import InputError, ProblemError
from dunno.io.plain_zip import Buffer, Member, content_of, members_of, pack
from dunno.io.schema import Schema

SCHEMA_ENTRY = "schema"
PLAIN_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '(?P<dtype>[<|=][\w]+)', 'fortran_order': False, 'shape': \((?P<shape>[\d, ]*)\), \}",
    re.S,
)
"""How an array of numbers, truths or texts begins in the first version of NumPy's format."""


def write_arrays(path: Path, schema: Schema, arrays: Mapping[str, Any]) -> None:
    """Write arrays; they are on the disk when this returns."""
    partial = path.with_suffix(".partial")
    named = {SCHEMA_ENTRY: np.int64(schema.number), **arrays}
    packed = pack({f"{name}.npy": _as_npy(np.asanyarray(array)) for name, array in named.items()})
    with partial.open("wb") as file:
        if packed is None:
            np.savez(file, **named)
        else:
            file.write(b"".join(packed))
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def _as_npy(array: np.ndarray) -> list[Buffer]:
    """An array in NumPy's format: a header and its numbers."""
    if array.dtype.hasobject or array.dtype.names is not None or not array.flags.c_contiguous:
        file = BytesIO()
        np.lib.format.write_array(file, array, allow_pickle=False)
        return [file.getvalue()]
    text = f"{{'descr': '{array.dtype.str}', 'fortran_order': False, 'shape': {array.shape}, }}".encode()
    filler = b" " * (-(len(text) + 11) % 64)
    header = b"\x93NUMPY\1\0" + (len(text) + len(filler) + 1).to_bytes(2, "little") + text + filler + b"\n"
    return [header, array.tobytes()]


class StoredArrays(Mapping[str, np.ndarray]):
    """The arrays of an `.npz` file, by name, each decoded when it is taken.

    `numpy.load` does the same, but evaluates every array's header as Python, which takes longer than all the rest.
    """

    def __init__(self, content: bytes) -> None:
        self._content = memoryview(content)
        members = members_of(content)
        self._members = members if members is not None else _unusual_members(content)

    def __getitem__(self, name: str) -> np.ndarray:
        file = f"{name}.npy"
        member = self._members[file]
        content = member if isinstance(member, bytes) else content_of(file, member, self._content)
        header = PLAIN_HEADER.match(content)
        if header is None:  # of another version of the format, or in another order
            return np.asarray(np.lib.format.read_array(BytesIO(content)))
        shape = tuple(int(size) for size in header["shape"].split(b",") if size.strip())
        flat = np.frombuffer(content, np.dtype(header["dtype"].decode()), offset=_data_begins(content))
        return flat.reshape(shape).copy()  # may be written to, unlike the bytes of the file

    def __iter__(self) -> Iterator[str]:
        return (name.removesuffix(".npy") for name in self._members)

    def __contains__(self, name: object) -> bool:
        return f"{name}.npy" in self._members

    def __len__(self) -> int:
        return len(self._members)


def _unusual_members(content: bytes) -> dict[str, Member | bytes]:
    """The members of an archive that somebody else packed."""
    import zipfile

    with zipfile.ZipFile(BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _data_begins(content: Buffer) -> int:
    """Where an array's numbers begin: after ten bytes, of which the last two say how long the header is."""
    return 10 + int.from_bytes(content[8:10], "little")


@contextmanager
def open_arrays(path: Path, schema: Schema) -> Iterator[Mapping[str, Any]]:
    """Arrays by name, each read when it is taken; a broken file and one of another schema are named with what to do."""
    try:
        arrays = StoredArrays(path.read_bytes())
        schema.check(int(arrays[SCHEMA_ENTRY]) if SCHEMA_ENTRY in arrays else 1, path)
        yield arrays
    except Exception as error:  # a damaged file can fail in any step of reading it
        if isinstance(error, InputError) and not isinstance(error, ProblemError):
            raise
        message = " ".join(str(error).split())[:200] or type(error).__name__
        raise InputError(f"{path}: cannot be read ({message}); {schema.cure}") from None
