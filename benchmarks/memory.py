"""Peak memory of `dunno track` on a long and a short simulated movie of the same size.

python benchmarks/memory.py [--frames 2000]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

CHILD = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def peak_megabytes(command: list[str]) -> float:
    """Largest resident memory of a command."""
    asked = subprocess.run([sys.executable, "-c", CHILD, *command], check=True, capture_output=True, text=True)
    return int(asked.stdout) / 1024


def main() -> None:
    """Print both peaks and their ratio."""
    frames = int(sys.argv[sys.argv.index("--frames") + 1]) if "--frames" in sys.argv else 2000
    peaks = {}
    with tempfile.TemporaryDirectory() as folder:
        for length in (frames // 10, frames):
            movie = Path(folder) / f"{length}" / "01"
            dunno = [sys.executable, "-m", "dunno"]
            simulate = [*dunno, "simulate", str(movie), "--frames", str(length), "--motion", "0.2", "--quiet"]
            subprocess.run(simulate, check=True)
            peaks[length] = peak_megabytes([*dunno, "track", str(movie), "-o", f"{folder}/{length}/out", "--quiet"])
            print(f"{length:>6} frames: peak {peaks[length]:.0f} MB")
    print(f"ratio {peaks[frames] / peaks[frames // 10]:.2f}")


if __name__ == "__main__":
    main()
