"""TIFF's pages are a chain: one that leads back to a page before would be followed for ever."""

from __future__ import annotations

from mmap import ACCESS_READ, mmap
from pathlib import Path
from struct import unpack_from
from typing import Any

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
