"""A real server process, as `dunno review` starts it."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Served:
    address: str
    port: int
    token: str
    process: subprocess.Popen

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"


def buffered() -> dict[str, str]:
    """The environment of people whose Python does not write every line at once."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}


@contextmanager
def serving(output: Path, *options: str) -> Iterator[Served]:
    """Run `dunno review`, and end it when the test is done."""
    command = [sys.executable, "-m", "dunno", "review", str(output), "--no-browser", *options]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes, env=buffered()) as process:  # type: ignore[call-overload]
        assert process.stdout is not None and process.stderr is not None
        line = process.stdout.readline()
        found = re.search(r"http://[^/]*:(\d+)/\?token=(\S+)", line)
        assert found is not None, line + process.stderr.read()
        try:
            yield Served(found.group(0), int(found.group(1)), found.group(2), process)
        finally:
            process.kill()
