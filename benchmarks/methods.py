"""Every cost with every method on real movies: accuracy, recall and run time, as a Markdown table.

    DUNNO_DATA=... python benchmarks/methods.py [--overhead]

`--overhead` instead times whole `dunno track` runs on HeLa 02 against SM: the paper's run-time figure.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

from dunno import Tracker, evaluation, read, rooms
from dunno.errors import DunnoError

MOVIES = ("Fluo-N2DL-HeLa/01", "Cglut-2min/01")
STEPS = (1, 10)
REPEATS = 3


def table(data: Path) -> None:
    """Print accuracy, recall, daughters decided right and seconds."""
    print("| movie | every | cost | method | links right | true links found | daughters right | seconds |")
    print("|---|---|---|---|---|---|---|---|")
    for name in MOVIES:
        movie, truth = read(data / name, truth=True)
        for step in STEPS:
            for cost in rooms.members("costs"):
                for method in rooms.members("methods"):
                    row(name, movie.every(step), truth.every(step), step, cost, method)


def row(name: str, movie: object, truth: object, step: int, cost: str, method: str) -> None:
    """Print one row, or why there is none."""
    start = time.perf_counter()
    try:
        tracking = Tracker(cost, method).track(movie)
    except DunnoError as error:
        print(f"| {name} | {step} | {cost} | {method} | {error} | | | |", flush=True)
        return
    seconds = time.perf_counter() - start
    found = evaluation.score(tracking, truth)
    scores = f"{found.accuracy:.4f} | {found.recall:.4f} | {found.daughter_accuracy:.4f}"
    print(f"| {name} | {step} | {cost} | {method} | {scores} | {seconds:.2f} |", flush=True)


def overhead(data: Path) -> None:
    """Print how much longer `dunno track` takes with each method than with SM, end to end."""
    print("| cost | method | seconds | over SM |")
    print("|---|---|---|---|")
    for cost in ("distance", "overlap", "activity"):
        base = end_to_end(data, cost, "SM")
        for method in rooms.members("methods"):
            seconds = base if method == "SM" else end_to_end(data, cost, method)
            print(f"| {cost} | {method} | {seconds:.2f} | {seconds / base:.2f}× |", flush=True)


def end_to_end(data: Path, cost: str, method: str) -> float:
    """Seconds of the fastest of a few whole runs on HeLa 02."""
    times = []
    for _ in range(REPEATS):
        with tempfile.TemporaryDirectory() as folder:
            movie, out = str(data / "Fluo-N2DL-HeLa/02"), f"{folder}/out"
            command = [
                sys.executable,
                "-m",
                "dunno",
                "track",
                movie,
                "-o",
                out,
                "-q",
                "--cost",
                cost,
                "--method",
                method,
            ]
            start = time.perf_counter()
            subprocess.run(command, check=True)
            times.append(time.perf_counter() - start)
    return min(times)


if __name__ == "__main__":
    if "DUNNO_DATA" not in os.environ:
        sys.exit("needs real movies: set DUNNO_DATA to a folder with Fluo-N2DL-HeLa and Cglut-2min")
    warnings.simplefilter("ignore")
    (overhead if "--overhead" in sys.argv else table)(Path(os.environ["DUNNO_DATA"]))
