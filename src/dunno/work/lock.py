"""One process at a time: a lock on a file that ends with its process, however that ends."""

from __future__ import annotations

import json
import os
import socket
from contextlib import suppress
from pathlib import Path

from dunno.errors import InputError


class Lock:
    """Holds a file for one process; the file says who holds it.

    Args:
        path: The file; its folder exists.
        who: Whom to name to others.
        refused: What to tell them, with `{holder}` for who holds it.
        needed: Refuse to go on where a disk knows no locks, as some network disks do.

    Raises:
        OSError: Nothing can be written there.
    """

    def __init__(self, path: Path, who: str, refused: str, *, needed: bool = True) -> None:
        self.path = path
        self._file = path.open("ab+", buffering=0)
        try:
            free = _locked(self._file.fileno())
        except OSError as error:
            free = not needed
            refused = f"{path}: cannot be locked ({error.strerror}); use a copy on a local disk"
        if not free:
            message = refused.replace("{holder}", self._holder())
            self._file.close()
            raise InputError(message)
        with suppress(OSError):  # a full disk: the lock holds, but does not say whose it is
            self._file.truncate(0)
            self._file.write(json.dumps({"who": who, "process": os.getpid(), "machine": socket.gethostname()}).encode())

    def _holder(self) -> str:
        try:
            self._file.seek(0)
            content = json.loads(self._file.read())
            return f"{content['who']} (process {content['process']} on {content['machine']})"
        except (OSError, ValueError, KeyError, TypeError):
            return "another process"

    def release(self, *, remove: bool = False) -> None:
        """Let others in."""
        if remove:
            self.path.unlink(missing_ok=True)
        self._file.close()


def _locked(file: int) -> bool:
    """Lock an open file; false if somebody else has it. On Windows nobody is kept out."""
    try:
        import fcntl
    except ImportError:  # Windows
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
