"""`dunno track` end to end on HeLa 02: against decoding the masks alone, and against laptrack's linking alone; processor seconds.

DUNNO_DATA=... python benchmarks/track.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

REPEATS = 3

DECODE = """
import dunno.runs.run, dunno.cli.track, tifffile, imagecodecs, rich.table
from dunno.io import read
movie = read({path!r})
for t in range(len(movie)):
    movie.masks(t)
"""

LAPTRACK = """
import time, sys
import pandas, laptrack
from dunno.io import read
movie = read({path!r})
rows = []
for t in range(len(movie)):
    cells = movie.detections(t)
    rows += [(t, *centre) for centre in cells.centroid]
table = pandas.DataFrame(rows, columns=["frame", "y", "x"])
tracker = laptrack.LapTrack(cutoff=30**2, splitting_cutoff=30**2, gap_closing_max_frame_count=0)
start = time.process_time()
tracker.predict_dataframe(table, ["y", "x"], only_coordinate_cols=False)
print(time.process_time() - start)
"""


def seconds(command: list[str]) -> float:
    """Processor time of the fastest of a few runs of a command."""
    times = []
    for _ in range(REPEATS):
        start = sum(os.times()[2:4])
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        times.append(sum(os.times()[2:4]) - start)
    return min(times)


def main() -> None:
    """Print the comparison."""
    if "DUNNO_DATA" not in os.environ:
        sys.exit("needs real movies: set DUNNO_DATA to a folder with Fluo-N2DL-HeLa")
    path = str(Path(os.environ["DUNNO_DATA"]) / "Fluo-N2DL-HeLa" / "02")
    python = sys.executable
    with tempfile.TemporaryDirectory() as folder:
        track = [python, "-m", "dunno", "track", path, "-o", f"{folder}/out", "--overwrite", "--max-distance", "30"]
        ours = seconds([*track, "--method", "SM"])
        defaults = seconds(track[:-2])
    decode = seconds([python, "-c", DECODE.format(path=path)])
    linking = subprocess.run([python, "-c", LAPTRACK.format(path=path)], check=True, capture_output=True, text=True)
    laptrack = float(linking.stdout.split()[-1])
    print(f"dunno track, SM, gate 30        {ours:6.2f} s")
    print(f"dunno track, JP, self-calibrated{defaults:6.2f} s   → {defaults / ours:.1f}× SM")
    print(f"same imports and decoding       {decode:6.2f} s   → tracking and writing add {ours - decode:.2f} s")
    print(
        f"laptrack, linking alone         {laptrack:6.2f} s   → {laptrack / defaults:.1f}× our default, {laptrack / ours:.1f}× SM"
    )


if __name__ == "__main__":
    main()
