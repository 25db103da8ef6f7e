"""One process at a time: a lock on a file that ends with its process, however that ends."""

from __future__ import annotations

import json
import os
import socket
from contextlib import suppress
from pathlib import Path

from dunno.errors import InputError

FIRST = 1
"""Where a lock's file says who holds it: Windows locks the byte before, which nobody else can read then."""


class Lock:
    """Holds a file for one process; the file says who holds it.

    The operating system's own locks (flock, LockFileEx), by `filelock`: a process that is killed leaves none behind. Others are
    told `refused`, with `{holder}`; `needed` refuses to go on where a disk knows no locks, as some network disks do.

    Raises:
        OSError: Nothing can be written there.
    """

    def __init__(self, path: Path, who: str, refused: str, *, needed: bool = True) -> None:
        from filelock import FileLock, Timeout

        self.path = path
        path.open("ab").close()
        self._lock = FileLock(path, thread_local=False, fallback_to_soft=False)
        try:
            self._lock.acquire(blocking=False)
        except Timeout:
            raise InputError(refused.replace("{holder}", _holder(path))) from None
        except OSError as error:
            if needed:
                told = f"{path}: cannot be locked ({error.strerror}); use a copy on a local disk"
                raise InputError(told) from None
        with suppress(OSError):  # a full disk: the lock holds, but does not say whose it is
            _sign(path, who)

    def release(self, *, remove: bool = False) -> None:
        """Let others in."""
        if remove:
            with suppress(PermissionError):  # Windows removes it with the lock, not before
                self.path.unlink(missing_ok=True)
        self._lock.release()


def _sign(path: Path, who: str) -> None:
    with path.open("r+b") as file:
        file.truncate(FIRST)
        file.seek(FIRST)
        file.write(json.dumps({"who": who, "process": os.getpid(), "machine": socket.gethostname()}).encode())


def _holder(path: Path) -> str:
    try:
        with path.open("rb") as file:
            file.seek(FIRST)
            content = json.loads(file.read())
        return f"{content['who']} (process {content['process']} on {content['machine']})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
