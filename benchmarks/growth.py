"""How time and memory grow with cells in a frame, cells within the gate, and frames; docs/scale.md has the tables.

python -m benchmarks.growth [cells] [gate] [frames] [judged] [aims] [--quick]

Points walk about at random, one in a unit of area or volume, a sixth of that unit at a step; masks that are judged are drawn discs.
Every row is all defaults, everything written, in a process of its own; seconds are of the processor. `aims` are a
pair of frames with 50,000 cells each, and one in which 20,000 cells lie within one gate of each other.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np

from benchmarks.crowd import Crowd
from benchmarks.scale import _peak_of_this_process

KINDS = ("cells", "gate", "frames", "judged", "aims")
STEP = 1 / 6
REACH = 3.0
"""Radius of the gate where its crowd is not what grows: some 28 cells in two dimensions lie within it, and 113 in three."""


def main(arguments: list[str]) -> None:
    """Print a table for each kind of growth."""
    if arguments[:1] == ["one"]:
        print(json.dumps(one(json.loads(arguments[1]))))
        return
    quick, named = "--quick" in arguments, [each for each in arguments if each in KINDS]
    for kind in named or KINDS:
        print(
            f"\n**{kind}**\n\n| cells a frame | frames | axes | within the gate | candidates | s | peak MB | µs each |"
        )
        print("|---" * 8 + "|")
        for run in runs(kind, quick):
            print(row(run, one(run) if quick else measured(run)), flush=True)


def runs(kind: str, quick: bool) -> list[dict[str, Any]]:
    """What is measured."""
    if kind == "cells":
        sizes = (30, 60) if quick else (100, 1_000, 10_000, 100_000)
        return [{"cells": n, "frames": 5, "axes": d, "reach": REACH} for d in (2, 3) for n in sizes]
    if kind == "gate":
        crowds = (2, 10) if quick else (2, 5, 20, 50, 200)
        n = 60 if quick else 3_000
        return [{"cells": n, "frames": 9, "axes": d, "reach": reach_of(k, d)} for d in (2, 3) for k in crowds]
    if kind == "frames":
        sizes = (8, 16) if quick else (100, 1_000, 10_000)
        return [{"cells": 20 if quick else 100, "frames": n, "axes": d, "reach": REACH} for d in (2, 3) for n in sizes]
    if kind == "judged":
        sizes = (20, 40) if quick else (100, 400, 1_600, 6_400)
        return [{"cells": n, "frames": 9, "axes": 2, "judged": True} for n in sizes]
    n, crowd = (300, 200) if quick else (50_000, 20_000)
    return [{"cells": n, "frames": 2, "axes": d} for d in (2, 3)] + [
        {"cells": crowd, "frames": 2, "axes": d, "reach": 2 * crowd ** (1 / d)} for d in (2, 3)
    ]


def reach_of(crowd: float, axes: int) -> float:
    """The radius within which so many cells lie."""
    return float(np.sqrt(crowd / np.pi)) if axes == 2 else float((crowd * 3 / (4 * np.pi)) ** (1 / 3))


def swarm(cells: int, frames: int, axes: int, seed: int = 0) -> Any:
    """A movie of points that walk about in a box and are turned back at its walls."""
    from dunno import Movie
    from dunno.types.points import Points

    rng, side = np.random.default_rng(seed), cells ** (1 / axes)
    place, places = rng.uniform(0, side, (cells, axes)), {}
    for t in range(frames):
        places[t] = place
        place = np.abs(place + rng.normal(0, STEP, place.shape))
        place = side - np.abs(side - place)
    label = np.arange(1, cells + 1)
    return Movie(Points(dict.fromkeys(range(frames), label), places, 0.5), name="swarm")  # type: ignore[arg-type]


def measured(run: dict[str, Any]) -> dict[str, Any]:
    """A run in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.growth", "one", json.dumps(run)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def one(run: dict[str, Any]) -> dict[str, Any]:
    """Track a movie with all defaults, and say what that took, or the line with which it was refused."""
    import geff_spec  # noqa: F401
    import zarr  # noqa: F401

    from dunno import Movie, Tracker
    from dunno.errors import DunnoError
    from dunno.runs.run import track_into

    judged = run.get("judged", False)
    movie = Movie(Crowd(run["cells"], run["frames"])) if judged else swarm(run["cells"], run["frames"], run["axes"])
    began, own, refused = time.perf_counter(), time.process_time(), ""
    with tempfile.TemporaryDirectory() as folder:
        try:
            tracker = Tracker(max_distance=run.get("reach"), repair=True if judged else None, workers=1)
            gate = track_into(tracker, movie, f"{folder}/out").about.max_distance
        except (DunnoError, MemoryError) as error:
            refused, gate = str(error), run.get("reach")
    took = {"processor": time.process_time() - own, "wall": time.perf_counter() - began}
    return {**took, "peak": _peak_of_this_process() / 1024, "refused": refused, "gate": gate, **_edges(movie, gate)}


def _edges(movie: Any, gate: float) -> dict[str, float]:
    """How many cells a gate holds, and how many candidates there are in all, by what the first pair has."""
    from dunno.tracking.gate import find_candidates

    first, second = movie.detections(0), movie.detections(1)
    candidates = len(find_candidates(first, second, gate).mother)
    some = second.centroid[:: max(len(second) // 200, 1)]
    near = [(np.linalg.norm(first.centroid - place, axis=1) <= gate).sum() for place in some]
    return {"within": float(np.mean(near)), "candidates": candidates * (len(movie) - 1)}


def row(run: dict[str, Any], found: dict[str, Any]) -> str:
    """A line of a table."""
    size = f"| {run['cells']:,} | {run['frames']:,} | {run['axes']} | {found['within']:,.1f} | {found['candidates']:,} "
    if found["refused"]:
        return f"{size}| {found['processor']:.1f} | {found['peak']:.0f} | {found['refused']} |"
    each = 1e6 * found["processor"] / found["candidates"]
    return f"{size}| {found['processor']:.1f} | {found['peak']:.0f} | {each:.0f} |"


if __name__ == "__main__":
    main(sys.argv[1:])
