"""What bounds on candidates change: links, promises and memory, beside no bounds.

DUNNO_DATA=... python -m benchmarks.bounds [--every 10] [--embryo 6]

Each row is a run in a process of its own: of the clean movies at a low frame rate, where daughters have many candidates, and of the
embryo. Without bounds every mother within the gate is a candidate.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.scale import _peak_of_this_process

MOVIES = ("Fluo-N2DL-HeLa/01", "Fluo-N2DL-HeLa/02", "PhC-C2DL-PSC/01", "iPSC-07/03")
NO_BOUND = 10**6


def main(arguments: list[str]) -> None:
    """Print a row for each movie, with bounds and without."""
    every, embryo = (_given(arguments, name, usual) for name, usual in (("--every", "10"), ("--embryo", "6")))
    print("| movie | every | bounds | candidates | links | wrong | promised | −log P | MB |\n" + "|---" * 9 + "|")
    for movie, step in [*((movie, every) for movie in MOVIES), ("Celegans-embryo", embryo)]:
        for bounds in ("yes", "no"):
            command = [sys.executable, "-m", "benchmarks.bounds", "one", movie, step, bounds]
            found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            print(f"| {movie} | {step} | {bounds} | " + " | ".join(found) + " |", flush=True)


def _given(arguments: list[str], name: str, usual: str) -> str:
    return arguments[arguments.index(name) + 1] if name in arguments else usual


def one(movie: str, step: int, bounded: bool) -> list[str]:
    """One run's figures."""
    from dunno import Tracker, evaluation

    if not bounded:
        _unbind()
    frames, truth = _read(movie, step)
    tracking = Tracker(workers=1).track(frames)
    found = evaluation.score(tracking, truth)
    n_candidates = sum(len(pair.mother) for pair in tracking.pairs)
    figures = (found.n_links, found.swaps)
    told = [f"{found.promised_wrong:.1f}", f"{found.nll:.4f}", f"{_peak_of_this_process() / 1024:.0f}"]
    return [f"{n_candidates:,}", *(f"{each:,}" for each in figures), *told]


def _read(movie: str, step: int) -> tuple[Any, Any]:
    import dunno
    from dunno.io.truths import read_truth

    folder = Path(os.environ["DUNNO_DATA"]) / movie
    if (folder / "points.csv").exists():
        frames = dunno.read(folder / "points.csv", scale=(1, 1, 1)).every(step)
        return frames, read_truth(folder / "truth.csv", frames)
    whole, truth = dunno.read(folder, truth=True)
    return whole.every(step), truth.every(step)


def _unbind() -> None:
    """Every mother within the gate is a candidate, every pair of daughters may be a division's, and nothing is left out."""
    from dunno.models import model
    from dunno.tracking import gaps, gate, sampling, solver

    gate.find_candidates.__defaults__ = (None, NO_BOUND)
    sampling.MOST_MOTHERS_FITTED = model.MOST_DAUGHTERS = gaps.MOST_ACROSS = solver.MOST_MOTHERS = NO_BOUND
    solver.CROWDED_FROM = float("inf")


if __name__ == "__main__":
    if sys.argv[1:2] == ["one"]:
        print(json.dumps(one(sys.argv[2], int(sys.argv[3]), sys.argv[4] == "yes")))
    else:
        main(sys.argv[1:])
