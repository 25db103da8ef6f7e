"""TIFF's pages are a chain: one that leads back to a page before would be followed for ever."""

from __future__ import annotations

from mmap import ACCESS_READ, mmap
from pathlib import Path
from struct import unpack_from
from typing import Any

import numpy as np
from numpy.typing import NDArray

ENDIAN = {b"II": "<", b"MM": ">"}
CLASSIC, BIG = 42, 43
LINKS = {CLASSIC: (4, "I", "H", 12), BIG: (8, "Q", "Q", 20)}
"""Where the first page is told, the types of places and of counts, and how many bytes each of a page's tags has."""


def open_tiff(path: Path) -> Any:
    """A TIFF whose pages come to an end."""
    from tifffile import TiffFile

    if not _ends(path):
        raise ValueError("its pages lead in a circle")
    return TiffFile(path)


def _ends(path: Path) -> bool:
    """Whether no page leads to one before; what else may be wrong is left to tifffile."""
    with path.open("rb") as file:
        head = file.read(4)
        endian = ENDIAN.get(head[:2])
        kind = unpack_from(f"{endian}H", head, 2)[0] if endian and len(head) == 4 else None
        if kind not in LINKS:
            return True
        first, place, count, tag = LINKS[kind]
        known: set[int] = set()
        with mmap(file.fileno(), 0, access=ACCESS_READ) as content:
            link = first
            size = 8 if kind == BIG else 4
            while link + size <= len(content):
                at = unpack_from(f"{endian}{place}", content, link)[0]
                if at in known:
                    return False
                if not at or at + size > len(content):
                    break
                known.add(at)
                n = unpack_from(f"{endian}{count}", content, at)[0]
                link = at + (8 if kind == BIG else 2) + n * tag
    return True


LZW, LZW_CLEAR, LAST_LITERAL = 5, 256, 257
"""TIFF's number of the compression, the code that empties its table, and the last code that an empty table has."""


def read_page(page: Any) -> NDArray[Any]:
    """A page's pixels. Where an LZW stream begins with a code that its table has not, the decoder would end the program."""
    _check(page)
    return np.asarray(page.asarray())


def read_series(series: Any) -> NDArray[Any]:
    """The same of all pages of a series."""
    for page in series.pages:
        if page is not None:
            _check(page)
    return np.asarray(series.asarray())


def _check(page: Any) -> None:
    if page.compression != LZW:
        return
    file = page.parent.filehandle
    if not all(_begins_well(file, offset) for offset in page.dataoffsets if offset):
        raise ValueError("its compressed pixels begin with a code that stands for nothing")


def _begins_well(file: Any, offset: int) -> bool:
    file.seek(offset)
    start = int.from_bytes(file.read(3), "big")
    first, second = start >> 15, (start >> 6) & 511
    return first != LZW_CLEAR or second <= LAST_LITERAL
