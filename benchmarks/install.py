"""How long `pip install` of a wheel takes in an environment with nothing but Python, and the first commands in it.

python -m benchmarks.install dist/dunno-*.whl
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path


def seconds(*words: object, **options: object) -> float:
    """Of one command."""
    start = time.perf_counter()
    subprocess.run([str(word) for word in words], check=True, stdout=subprocess.DEVNULL, **options)  # type: ignore[call-overload]
    return time.perf_counter() - start


def main() -> None:
    """Print the three times."""
    wheel = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        programs = Path(folder) / ("Scripts" if sys.platform == "win32" else "bin")
        print(f"pip install {wheel.name}: {seconds(programs / 'python', '-m', 'pip', 'install', '-q', wheel):.0f} s")
        for command in ("--version", "demo"):
            print(f"dunno {command}: {seconds(programs / 'dunno', command, cwd=folder, env={'PATH': ''}):.1f} s")


if __name__ == "__main__":
    main()
