"""Writing zarr (version 2) by hand: JSON files and compressed chunks, without importing zarr, which takes longer."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

CHUNK = 1 << 16
"""Rows in a chunk."""

COMPRESSION_LEVEL = 1
"""Of zlib: more saves little and takes long."""

SAMPLE, WORTH_IT = 1 << 13, 0.85
"""Bytes that are compressed first; where more than such a share of them is left, the array is written as it is."""


class ZarrFolder:
    """A zarr group that is being written.

    Args:
        path: Its folder, which must not exist.
        attributes: What its `.zattrs` holds.
    """

    def __init__(self, path: Path, attributes: Mapping[str, Any] | None = None) -> None:
        self.path = path
        path.mkdir(parents=True)
        _write_json(path / ".zgroup", {"zarr_format": 2})
        if attributes:
            _write_json(path / ".zattrs", attributes)

    def group(self, name: str, attributes: Mapping[str, Any] | None = None) -> ZarrFolder:
        """A group inside it."""
        return ZarrFolder(self.path / name, attributes)

    def copy(self, name: str, other: ZarrFolder) -> None:
        """Give another group the same array or group, without compressing it once more."""
        _copy(str(self.path / name), str(other.path / name))

    def add(self, name: str, dtype: np.dtype[Any], shape: tuple[int, ...], read: Callable[[int], bytes]) -> None:
        """Write an array, a chunk of rows in memory at a time.

        Args:
            name: Of the array.
            dtype: Of its numbers.
            shape: (rows, …).
            read: Gives the next so many bytes of its rows.
        """
        place = self.path / name
        place.mkdir()
        rows = min(max(shape[0], 1), CHUNK)
        about: dict[str, Any] = {
            "shape": shape,
            "chunks": (rows, *shape[1:]),
            "dtype": dtype.str,
            "fill_value": 0,
            "order": "C",
        }
        size = rows * dtype.itemsize * int(np.prod(shape[1:]))
        compressed = True
        for k in range(-(-shape[0] // rows)):
            content = read(size)
            compressed = _shrinks(content) if k == 0 else compressed
            content = content.ljust(size, b"\0")  # the last chunk is as long as the others
            chunk = place / ".".join([str(k), *["0"] * (len(shape) - 1)])
            chunk.write_bytes(zlib.compress(content, COMPRESSION_LEVEL) if compressed else content)
        about |= {"filters": None, "dimension_separator": "."}
        about["compressor"] = {"id": "zlib", "level": COMPRESSION_LEVEL} if compressed else None
        _write_json(place / ".zarray", {**about, "zarr_format": 2})


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
