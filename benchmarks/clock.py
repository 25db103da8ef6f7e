"""How long a call takes."""

from __future__ import annotations

import time
from collections.abc import Callable


def fastest(repeats: int, action: Callable[..., object], *arguments: object) -> float:
    """Milliseconds of this thread in the fastest of a few calls; what else the machine does counts little."""
    times = []
    for _ in range(repeats):
        start = time.thread_time()
        action(*arguments)
        times.append(time.thread_time() - start)
    return 1e3 * min(times)
