"""Writing zarr (version 2) by hand, as rows come: JSON files and compressed chunks, without importing zarr, which takes longer."""

from __future__ import annotations

import json
import os
import shutil
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

CHUNK_ROWS = 1 << 16
"""Rows in a chunk."""

COMPRESSION_LEVEL = 1
"""Of zlib: more saves little and takes long."""

SAMPLE, WORTH_IT = 1 << 13, 0.85
"""Bytes that are compressed first; where more than such a share of them is left, the array is written as it is."""


class ZarrFolder:
    """A zarr group that is being written, in a folder that does not exist yet."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True)
        _write_json(path / ".zgroup", {"zarr_format": 2})

    def describe(self, attributes: Mapping[str, Any]) -> None:
        """Say what it holds."""
        _write_json(self.path / ".zattrs", attributes)

    def group(self, name: str) -> ZarrFolder:
        """A group inside it."""
        return ZarrFolder(self.path / name)

    def copy(self, name: str, other: ZarrFolder) -> None:
        """Give another group the same array or group, without compressing it once more."""
        _copy(str(self.path / name), str(other.path / name))

    def array(self, name: str, example: np.ndarray) -> ZarrArray:
        """An array inside it that grows by rows like those of an example."""
        return ZarrArray(self.path / name, example.dtype, example.shape[1:])

    def drop(self, name: str) -> None:
        """Remove an array or a group."""
        shutil.rmtree(self.path / name)


class ZarrArray:
    """An array that grows: a chunk of rows waits in memory, the others are on disk."""

    def __init__(self, path: Path, dtype: np.dtype[Any], width: tuple[int, ...]) -> None:
        path.mkdir()
        self.dtype, self.bounds = dtype, (np.inf, -np.inf)
        self._path, self._width, self._length = path, width, 0
        self._waiting, self._chunks, self._compressed = bytearray(), 0, True

    def add(self, values: np.ndarray) -> None:
        """Add rows."""
        if len(values):
            self.bounds = (min(self.bounds[0], float(values.min())), max(self.bounds[1], float(values.max())))
        self._length += len(values)
        self._waiting += np.ascontiguousarray(values, self.dtype).tobytes()
        while len(self._waiting) >= self._size(CHUNK_ROWS):
            self._write(self._size(CHUNK_ROWS))

    def finish(self) -> None:
        """Write the rest, and what the array is; the last chunk is as long as the others."""
        rows = min(max(self._length, 1), CHUNK_ROWS)
        if self._waiting:
            self._write(self._size(rows))
        about: dict[str, Any] = {
            "shape": (self._length, *self._width),
            "chunks": (rows, *self._width),
            "dtype": self.dtype.str,
        }
        about |= {"fill_value": 0, "order": "C", "filters": None, "dimension_separator": "."}
        about["compressor"] = {"id": "zlib", "level": COMPRESSION_LEVEL} if self._compressed else None
        _write_json(self._path / ".zarray", {**about, "zarr_format": 2})

    def _size(self, rows: int) -> int:
        return rows * self.dtype.itemsize * int(np.prod(self._width))

    def _write(self, size: int) -> None:
        content = bytes(self._waiting[:size])
        del self._waiting[:size]
        self._compressed = self._compressed if self._chunks else _shrinks(content)
        content = content.ljust(size, b"\0")
        chunk = self._path / ".".join([str(self._chunks), *["0"] * len(self._width)])
        chunk.write_bytes(zlib.compress(content, COMPRESSION_LEVEL) if self._compressed else content)
        self._chunks += 1


class ZarrTable:
    """The ids and properties of nodes or edges in a group; of properties that can be NaN, `missing` says where."""

    def __init__(self, group: ZarrFolder, may_be_missing: Sequence[str] = ()) -> None:
        self._group, self._properties, self._may_be_missing = group, group.group("props"), may_be_missing
        self._ids: list[ZarrArray] = []  # one, as soon as there are rows
        self._missing: dict[str, ZarrArray] = {}
        self.columns: dict[str, ZarrArray] = {}

    def add(self, ids: np.ndarray, columns: Mapping[str, np.ndarray]) -> None:
        """Add rows; the first ones say which columns there are."""
        if not self._ids:
            self._begin(ids, columns)
        self._ids[0].add(ids)
        for name, column in self.columns.items():
            values = columns[name]
            if name in self._missing:
                missing = np.isnan(values)
                self._missing[name].add(missing)
                values = np.where(missing, 0.0, values)
            column.add(values)

    def _begin(self, ids: np.ndarray, columns: Mapping[str, np.ndarray]) -> None:
        self._ids = [self._group.array("ids", ids.astype(np.uint64))]
        for name, values in columns.items():
            place = self._properties.group(name)
            self.columns[name] = place.array("values", values)
            if name in self._may_be_missing:
                self._missing[name] = place.array("missing", np.empty(0, bool))

    def finish(self) -> None:
        """Write the rest, without what is missing in every row: some readers take a declared property for one that is there."""
        for name in [name for name, missing in self._missing.items() if missing.bounds[0] == 1]:
            self._properties.drop(name)
            del self.columns[name], self._missing[name]
        for array in (*self._ids, *self.columns.values(), *self._missing.values()):
            array.finish()


def _shrinks(content: bytes) -> bool:
    """Whether compressing is worth its time, by a look at the middle; the digits of most measured numbers are no pattern."""
    start = max(len(content) - SAMPLE, 0) // 2
    sample = content[start : start + SAMPLE]
    return len(zlib.compress(sample, COMPRESSION_LEVEL)) <= WORTH_IT * len(sample)


def _copy(folder: str, other: str) -> None:
    """Copy small files; `shutil.copytree` looks at so much else of each that it takes longer than compressing them."""
    os.mkdir(other)
    with os.scandir(folder) as entries:
        for entry in entries:
            place = os.path.join(other, entry.name)
            if entry.is_dir():
                _copy(entry.path, place)
            else:
                with open(entry.path, "rb") as file, open(place, "wb") as copy:
                    copy.write(file.read())


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(content, default=_plain), encoding="utf-8")


def _plain(value: Any) -> Any:
    """What JSON does not know, as something that it knows."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else str(value)
