"""One reviewer at a time: a lock that ends with its process, however that ends."""

from __future__ import annotations

import fcntl
import json
import os
import socket
from pathlib import Path

from dunno.errors import InputError

LOCK_FILE = "review.lock"


class Lock:
    """Holds an output folder for one process; the file says who holds it."""

    def __init__(self, folder: Path, who: str) -> None:
        self._path = folder / LOCK_FILE
        try:
            self._file = self._path.open("a+")
        except OSError as error:
            raise InputError(
                f"{self._path}: cannot be written ({error.strerror}); a review keeps its log there"
            ) from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = self._holder()
            self._file.close()
            raise InputError(
                f"{folder}: is being reviewed already, by {holder}; use that window, or close it first"
            ) from None
        except OSError as error:
            self._file.close()
            raise InputError(
                f"{self._path}: cannot be locked ({error.strerror}); review a copy on a local disk"
            ) from None
        self._file.truncate(0)
        self._file.write(json.dumps({"who": who, "process": os.getpid(), "machine": socket.gethostname()}))
        self._file.flush()

    def _holder(self) -> str:
        try:
            self._file.seek(0)
            content = json.loads(self._file.read())
            return f"{content['who']} (process {content['process']} on {content['machine']})"
        except (OSError, ValueError, KeyError, TypeError):
            return "another process"

    def release(self) -> None:
        """Let others in."""
        self._file.close()
