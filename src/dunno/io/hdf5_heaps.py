"""Where HDF5 keeps texts of any length: heaps whose damage makes its library go round for ever, so they are walked before.

A global heap is a collection of objects, each with a header that says how long it is; the last one, number 0, is free space. The
library follows these lengths without looking whether they lead on.
"""

from __future__ import annotations

from mmap import ACCESS_READ, mmap
from pathlib import Path
from struct import unpack_from

HEAP = b"GCOL\1\0\0\0"
HEADER = 16
"""Bytes before a heap's objects, and before each object's own, where lengths have eight bytes."""


def heaps_lead_on(file: Path) -> bool:
    """Whether every heap in a file can be walked to its end; for files whose lengths have eight bytes."""
    with file.open("rb") as opened, mmap(opened.fileno(), 0, access=ACCESS_READ) as content:
        at = content.find(HEAP)
        while at >= 0:
            if not _leads_on(content, at):
                return False
            at = content.find(HEAP, at + 1)
    return True


def _leads_on(content: mmap, at: int) -> bool:
    """Whether the objects of the heap at a place fill it."""
    if at + HEADER > len(content):
        return False
    place, end = at + HEADER, at + int(unpack_from("<Q", content, at + 8)[0])
    if end > len(content):
        return False
    while place + HEADER <= end:
        number, length = unpack_from("<H6xQ", content, place)
        step = HEADER + -(-length // 8) * 8 if number else length
        if step < HEADER or place + step > end:
            return False
        place += step
    return True
