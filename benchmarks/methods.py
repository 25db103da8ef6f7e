"""Every cost with every method on real movies: accuracy, recall and run time, as Markdown tables.

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

from dunno import Movie, Tracker, evaluation, read, rooms
from dunno.errors import DunnoError
from dunno.types import Truth

MOVIES = ("Fluo-N2DL-HeLa/01", "Cglut-2min/01")
STEPS = (1, 10)
REPEATS = 3


def table(data: Path) -> None:
    """Print one table per movie and frame step: accuracy / recall / daughters decided right, and seconds."""
    methods = list(rooms.members("methods"))
    for name in MOVIES:
        movie, truth = read(data / name, truth=True)
        for step in STEPS:
            print(f"\n{name}, every {step}:\n\n| cost | {' | '.join(methods)} |\n|---{'|---' * len(methods)}|")
            for cost in rooms.members("costs"):
                cells = [cell(movie.every(step), truth.every(step), cost, method) for method in methods]
                print(f"| {cost} | {' | '.join(cells)} |", flush=True)


def cell(movie: Movie, truth: Truth, cost: str, method: str) -> str:
    """What one cost with one method gives, and the fastest of a few runs; or why it gives nothing."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        try:
            tracking = Tracker(cost, method).track(movie)
        except DunnoError as error:
            return str(error)
        times.append(time.perf_counter() - start)
    found = evaluation.score(tracking, truth)
    scores = f"{100 * found.accuracy:.2f} / {100 * found.recall:.2f} / {100 * found.daughter_accuracy:.2f}"
    return f"{scores}, {min(times):.2f} s"


def overhead(data: Path) -> None:
    """Print how much longer `dunno track` takes with each method than with SM, end to end."""
    print("| cost | method | seconds | over SM |\n|---|---|---|---|")
    methods = list(rooms.members("methods"))
    for cost in ("distance", "overlap", "activity"):
        # in turns, so that a busy minute of the machine hits all methods alike
        rounds = [{method: end_to_end(data, cost, method) for method in methods} for _ in range(REPEATS)]
        seconds = {method: min(each[method] for each in rounds) for method in methods}
        for method in methods:
            ratio = seconds[method] / seconds["SM"]
            print(f"| {cost} | {method} | {seconds[method]:.2f} | {ratio:.2f}× |", flush=True)


def end_to_end(data: Path, cost: str, method: str) -> float:
    """Seconds of one whole run on HeLa 02."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "dunno", "track", str(data / "Fluo-N2DL-HeLa/02"), "-o", f"{folder}/out", "-q"]
        start = time.perf_counter()
        subprocess.run([*command, "--cost", cost, "--method", method], check=True)
        return time.perf_counter() - start


if __name__ == "__main__":
    if "DUNNO_DATA" not in os.environ:
        sys.exit("needs real movies: set DUNNO_DATA to a folder with Fluo-N2DL-HeLa and Cglut-2min")
    warnings.simplefilter("ignore")
    (overhead if "--overhead" in sys.argv else table)(Path(os.environ["DUNNO_DATA"]))
