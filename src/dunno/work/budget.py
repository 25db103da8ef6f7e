"""How much memory work may take: what is beyond it is refused with a word, and not by the system's killer."""

from __future__ import annotations

import re
from pathlib import Path

from dunno.errors import InputError

BYTES_IN = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
SHARE_OF_FREE = 0.5  # share; judged
"""Of what is free, where nobody says how much may be taken; the rest is for others, and for files that are read."""

LEAST_BUDGET = 10**9  # bytes; judged
"""Nobody is refused so much, unless it was asked for."""

LEAST_ASKED = 200 * 10**6  # bytes; benchmarks.memory
"""Less than this holds no run."""


def limit_memory(asked: str | None) -> int | None:
    """Let this process and those that it starts take no more memory each; says how many bytes, `None` where no system can tell.

    Args:
        asked: Such as `2GB` or `500MB`; `None` for half of what is free.
    """
    limit = bytes_of(asked) if asked is not None else usual_limit()
    if limit is None:
        return None
    try:
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
    except (ImportError, AttributeError, OSError, ValueError):
        return None
    return limit


def bytes_of(text: str) -> int:
    """Bytes from a number with a unit.

    Example:
        >>> bytes_of("2GB"), bytes_of("1.5 G"), bytes_of("300000000")
        (2000000000, 1500000000, 300000000)
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)I?B?", text.strip().upper())
    if match is None:
        raise InputError(f"--memory {text}: expected a number with a unit, such as 2GB or 500MB")
    found = int(float(match.group(1)) * BYTES_IN[match.group(2)])
    if found < LEAST_ASKED:
        raise InputError(f"--memory {text}: is less than any run needs; expected {LEAST_ASKED // 10**6}MB or more")
    return found


def usual_limit(processes: int = 1) -> int | None:
    """What each of some processes may take where nobody says: of half of what the system could give now; `None` if it is silent."""
    told = Path("/proc/meminfo")
    lines = told.read_text().splitlines() if told.exists() else []
    free = next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable")), None)
    return None if free is None else max(int(SHARE_OF_FREE * free) // processes, LEAST_BUDGET)
