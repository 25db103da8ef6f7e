"""What a file claims to hold, against what its bytes can hold and what memory is free; asked before anything is decoded."""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import Any

SMALL = 1 << 26
"""Claims of so few bytes are not looked at."""

MOST_PACKED = {1: 1, 5: 2800, 8: 1040, 32946: 1040, 32773: 64}
"""How many bytes a byte can hold, by TIFF's number of the compression: none, LZW, deflate (twice), PackBits. Others have no end."""

DEFLATE = 8


def check_claim(shape: tuple[int, ...], itemsize: int, what: str = "a frame", *, most: int | None = None) -> None:
    """Raise a `ValueError` where an array would be larger than `most` bytes, which its file can hold, or than the free memory."""
    size = prod(shape) * itemsize
    if size <= SMALL:
        return
    claim = f"{what} of {' × '.join(map(str, shape))} would take {_in_words(size)}"
    if most is not None and size > most:
        raise ValueError(f"{claim}, and the file cannot hold that")
    free = free_memory()
    if free is not None and size > free:
        raise ValueError(f"{claim}, and {_in_words(free)} of memory are free")


def check_page(page: Any) -> None:
    """Check what a TIFF's page claims; parts that are left out of the file, as of a background, are no claim."""
    most = MOST_PACKED.get(int(page.compression))
    held = page.databytecounts
    bounded = most is not None and len(held) > 0 and 0 not in held
    check_claim(page.shape, page.dtype.itemsize, most=most * sum(held) if bounded else None)


def check_graph(path: Path) -> None:
    """Check how many nodes and edges a GEFF claims; a handful of numbers of each will be read."""
    import zarr

    for name in ("nodes", "edges"):
        check_claim((8, *zarr.open_array(path / name / "ids", mode="r").shape), 8, f"a graph's {name}")


def free_memory() -> int | None:
    """How many bytes could be had; `None` where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        return None


def _in_words(size: int) -> str:
    """Bytes for people.

    Example:
        >>> _in_words(53_400_000_000_000)
        '53,400 GB'
    """
    return f"{size / 1e9:,.3g} GB" if size < 1e11 else f"{size // 10**9:,} GB"
