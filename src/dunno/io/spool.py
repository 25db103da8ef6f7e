"""Tables that grow in temporary files, so that memory stays small, and become zarr arrays at the end."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from dunno.io.zarr_folder import ZarrFolder

IN_MEMORY = 1 << 18
"""Bytes of a column that wait in memory: a short movie needs no files."""


SPOOLED_BYTES = 1 << 24
"""Bytes of a table that are worth a second thread."""


class SpooledColumn:
    """An array that grows in a temporary file."""

    def __init__(self, folder: Path, example: np.ndarray) -> None:
        self.dtype = example.dtype
        self.bounds = (np.inf, -np.inf)
        self._width = example.shape[1:]
        self._length = 0
        self._file = tempfile.SpooledTemporaryFile(IN_MEMORY, dir=str(folder))

    @property
    def n_bytes(self) -> int:
        """How large it is so far."""
        return self._length * self.dtype.itemsize * int(np.prod(self._width))

    def add(self, values: np.ndarray) -> None:
        """Add rows."""
        if len(values):
            self.bounds = (min(self.bounds[0], float(values.min())), max(self.bounds[1], float(values.max())))
        self._length += len(values)
        self._file.write(np.ascontiguousarray(values, self.dtype).tobytes())

    def write(self, group: ZarrFolder, name: str) -> None:
        """Make an array of a zarr group."""
        self._file.seek(0)
        group.add(name, self.dtype, (self._length, *self._width), self._file.read)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()


class SpooledTable:
    """The ids and properties of nodes or edges.

    Args:
        folder: Where the temporary files are.
        may_be_missing: Properties that can be NaN; written with the array `missing` that says where.
    """

    def __init__(self, folder: Path, may_be_missing: Sequence[str] = ()) -> None:
        self._folder = folder
        self._may_be_missing = may_be_missing
        self._ids: SpooledColumn | None = None
        self._missing: dict[str, SpooledColumn] = {}
        self._columns: dict[str, SpooledColumn] = {}

    @property
    def columns(self) -> Mapping[str, SpooledColumn]:
        """The properties by name."""
        return self._columns

    def add(self, ids: np.ndarray, columns: Mapping[str, np.ndarray]) -> None:
        """Add rows; the first ones say which columns there are."""
        if self._ids is None:
            self._ids = self._begin(ids, columns)
        self._ids.add(ids)
        for name, column in self._columns.items():
            values = columns[name]
            if name in self._missing:
                missing = np.isnan(values)
                self._missing[name].add(missing)
                values = np.where(missing, 0.0, values)
            column.add(values)

    def _begin(self, ids: np.ndarray, columns: Mapping[str, np.ndarray]) -> SpooledColumn:
        self._columns = {name: SpooledColumn(self._folder, values) for name, values in columns.items()}
        self._missing = {
            name: SpooledColumn(self._folder, np.empty(0, bool)) for name in self._may_be_missing if name in columns
        }
        return SpooledColumn(self._folder, ids.astype(np.uint64))

    def drop_unknown(self) -> None:
        """Leave out properties that are missing in every row: some readers take a declared property for one that is there."""
        for name, missing in list(self._missing.items()):
            if missing.bounds[0] == 1:
                self._columns.pop(name).close()
                self._missing.pop(name).close()

    def write(self, group: ZarrFolder) -> None:
        """Make `ids` and `props` in a zarr group; of a large table two columns at a time, since compressing needs no lock."""
        arrays = [] if self._ids is None else [(self._ids, group, "ids")]
        properties = group.group("props")
        for name, column in self._columns.items():
            place = properties.group(name)
            arrays.append((column, place, "values"))
            if name in self._missing:
                arrays.append((self._missing[name], place, "missing"))
        if sum(column.n_bytes for column, *_ in arrays) < SPOOLED_BYTES:
            for column, place, name in arrays:
                column.write(place, name)
            return
        with ThreadPoolExecutor(2) as pool:
            for written in [pool.submit(column.write, place, name) for column, place, name in arrays]:
                written.result()

    def close(self) -> None:
        """Let go of the files."""
        for column in (*self._columns.values(), *self._missing.values(), *([self._ids] if self._ids else [])):
            column.close()
