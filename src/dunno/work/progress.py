"""How far work has come: frames per second, time left, memory.

Whoever works calls a `Tell` with what is being done and how far it is; whoever shows it makes a `Progress` of that with a `Meter`.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

Tell = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is (0: nobody knows)."""

MEGABYTE = 1 << 20


Say = Callable[[str], None]
"""Is told a line that is worth knowing."""


def ignore_note(line: str) -> None:
    """Keep it."""


def ignore_progress(stage: str, done: int, total: int) -> None:
    """Where nobody listens."""


@dataclass(frozen=True)
class Progress:
    """How far a stage of the work is."""

    stage: str  # What is being done, such as "tracking"
    done: int  # How much of it
    total: int  # How much there is; 0 where nobody knows
    seconds: float  # Since the whole work began
    per_second: float  # Speed in this stage, of what was not done before; 0 where nothing has been done yet
    seconds_left: float | None  # Of this stage, at that speed; `None` where there is no telling
    memory: int | None  # Bytes that the process and its own workers hold; `None` where the system does not say

    def __str__(self) -> str:
        parts = [f"{self.stage}: {self.done:,}" + (f" of {self.total:,}" if self.total else "")]
        if self.per_second > 0:
            parts.append(f"{self.per_second:,.3g} per second")
        if self.seconds_left is not None:
            parts.append(f"{clock(self.seconds_left)} left")
        if self.memory is not None:
            parts.append(f"{self.memory / MEGABYTE:,.0f} MB")
        return ", ".join(parts)


class Meter:
    """Turns what is told into `Progress`."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._stage = ""
        self._stage_began = self._began
        self._done_before = 0

    def read(self, stage: str, done: int, total: int) -> Progress:
        """Make a `Progress`; the first call for a stage says what was done before, by an earlier run."""
        now = time.monotonic()
        if stage != self._stage:
            self._stage, self._stage_began, self._done_before = stage, now, done
        fresh, passed = done - self._done_before, now - self._stage_began
        speed = fresh / passed if fresh > 0 and passed > 0 else 0.0
        left = (total - done) / speed if speed > 0 and total else None
        return Progress(stage, done, total, now - self._began, speed, left, memory_in_use())


def clock(seconds: float) -> str:
    """Tell a duration as a person would: `40 s`, `5:03 min`, `2:05 h`."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds) // 60
    return f"{minutes}:{round(seconds) % 60:02d} min" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02d} h"


def memory_in_use() -> int | None:
    """Bytes resident in this process and its children, where the system says; else the peak of this process alone."""
    try:
        children = Path("/proc/self/task").glob("*/children")
        pids = ["self", *(pid for file in children for pid in file.read_text().split())]
        return sum(_resident_pages(pid) for pid in pids) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return _peak()


def _resident_pages(pid: str) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        if pid == "self":
            raise
        return 0  # it has ended meanwhile


def _peak() -> int | None:
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak if sys.platform == "darwin" else peak * 1024)


Listener = Callable[[Progress], None]


def tell_all(*listeners: Listener) -> Tell:
    """A `Tell` that measures what it is told and passes it on."""
    meter = Meter()

    def tell(stage: str, done: int, total: int) -> None:
        progress = meter.read(stage, done, total)
        for listener in listeners:
            listener(progress)

    return tell


def now_and_then(listener: Listener, seconds: float) -> Listener:
    """Pass on a stage's first and last word, and between them no more than one in so many seconds."""
    last_stage, last_time = "", 0.0

    def listen(progress: Progress) -> None:
        nonlocal last_stage, last_time
        now = time.monotonic()
        if progress.stage != last_stage or progress.done == progress.total or now - last_time >= seconds:
            last_stage, last_time = progress.stage, now
            listener(progress)

    return listen


class LogFile:
    """A file that is added to: when what was done, how fast, and how it ended."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._is_new = not path.exists()

    def __call__(self, progress: Progress) -> None:
        """Note how far it is."""
        self.note(str(progress))

    def note(self, line: str) -> None:
        """Add a line with the time; a log that cannot be written stops nothing."""
        with suppress(OSError), self.path.open("a") as file:
            file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')}  {line}\n")

    def forget(self) -> None:
        """Remove a log that tells of nothing."""
        if self._is_new:
            self.path.unlink(missing_ok=True)
