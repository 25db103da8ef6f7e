"""How time and memory grow, on movies that cost next to nothing to make. docs/scale.md has the tables.

python -m benchmarks.scale frames     100 cells a frame, 100 to 10,000 frames; SM, AS and JP
python -m benchmarks.scale cells      17 frames of 117 to 30,000 cells at one density; SM, AS and JP
python -m benchmarks.scale million    1,000 frames of 1,000 cells, JP with self-calibration; against decoding the masks
python -m benchmarks.scale stall      1,441 frames of 2304 × 4096 with 500 cells, as a compressed zarr
python -m benchmarks.scale well       500 frames of 200 cells on one core; a plate of 384 on many
python -m benchmarks.scale workers    1 worker and 2 threads, processes and Dask workers on a movie of 10,000 frames
python -m benchmarks.scale profile    where the time goes, one thread

Every run is a process of its own, so that its peak memory is its own. Time is processor time, which a busy machine does not
lengthen much, and wall time beside it. Add --quick for a small version in one process, where memory says nothing, --repeat 3 for
the fastest of three runs where others use the machine, and to `frames` and `cells` the names of methods.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.crowd import Crowd

STALL = (2304, 4096)
METHODS = ("SM", "AS", "JP")


def main(arguments: list[str]) -> None:
    """Run the measurement that is asked for."""
    quick = "--quick" in arguments
    measurements = {
        "frames": frames,
        "cells": cells,
        "million": million,
        "stall": stall,
        "well": well,
        "workers": workers,
        "profile": profile,
    }
    if arguments[:1] == ["one"]:
        print(json.dumps(one(json.loads(arguments[1]))))
    elif arguments and arguments[0] in measurements:
        measurements[arguments[0]](quick)
    else:
        sys.exit(__doc__)


def frames(quick: bool) -> None:
    """Growth with the length of the movie."""
    n, sizes = (10, (20, 40)) if quick else (100, (100, 1250, 2500, 5000, 10_000))
    for method in _methods():
        _growth(method, [{"cells": n, "frames": size, "method": method} for size in sizes], "frames")


def cells(quick: bool) -> None:
    """Growth with the number of cells in a frame, at one density."""
    sizes = (20, 40) if quick else tuple(30_000 // 2**k for k in range(8, -1, -1))
    for method in _methods():
        runs = [{"cells": size, "frames": 17, "method": method, "calibration": "none"} for size in sizes]
        _growth(f"{method} without self-calibration" if method == "JP" else method, runs, "cells")


def _methods() -> list[str]:
    return [method for method in METHODS if method in sys.argv] or list(METHODS)


def _growth(title: str, runs: list[dict[str, Any]], size: str) -> None:
    print(f"\n{title}\n{size:>8}  processor s  wall s  peak MB   µs per cell   per doubling")
    before: dict[str, Any] | None = None
    for run in runs:
        found = {**measured(run), **run}
        ratio = ""
        if before is not None:
            doublings = math.log2(found[size] / before[size])
            ratio = f"{(found['processor'] / before['processor']) ** (1 / doublings):.2f}"
        per_cell = 1e6 * found["processor"] / (run["cells"] * run["frames"])
        print(
            f"{run[size]:>8}  {found['processor']:>11.2f}  {found['wall']:>6.2f}  {found['peak']:>7.0f}   "
            f"{per_cell:>11.1f}   {ratio:>12}",
            flush=True,
        )
        before = found


def million(quick: bool) -> None:
    """A million cells with all defaults."""
    side = 20 if quick else 1000
    decoding, found = _from_disk(Crowd(side, side))
    print(f"{found['cells']:,} cells, JP with self-calibration, 2 threads")
    _compare(decoding, found)
    stages = ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in found["stages"].items())
    print(f"wall time of the stages: {stages}")


def stall(quick: bool) -> None:
    """The size at which peers stall."""
    crowd = Crowd(500, 4 if quick else 1441, STALL)
    decoding, found = _from_disk(crowd)
    print(
        f"{len(crowd)} frames of {STALL[0]} × {STALL[1]}, {found['cells']:,} cells, {found['megabytes']:.0f} MB of zarr"
    )
    _compare(decoding, found)


def _from_disk(crowd: Crowd, workers: int = 2) -> tuple[dict[str, Any], dict[str, Any]]:
    """Decode a movie, and track it with all defaults."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "crowd.zarr"
        crowd.save(path)
        size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
        decoding = measured({"path": str(path), "decode": True})
        found = measured({"path": str(path), "method": "JP", "workers": workers})
    return decoding, {**found, "megabytes": size / 1e6}


def _compare(decoding: dict[str, Any], found: dict[str, Any]) -> None:
    for name, run in (("decoding the masks", decoding), ("tracking, all told", found)):
        print(f"{name:<22}{run['processor']:>8.1f} processor s {run['wall']:>8.1f} wall s  {run['peak']:>6.0f} MB")
    per_cell, ratio = 1e6 * found["processor"] / found["cells"], found["processor"] / decoding["processor"]
    print(f"{per_cell:.1f} µs of processor a cell, {ratio:.1f} × decoding; main thread {found['main']:.1f} s")


def well(quick: bool) -> None:
    """One well of a plate on one core, and what many cores would do with 384 of them."""
    n, length = (10, 20) if quick else (200, 500)
    decoding, found = _from_disk(Crowd(n, length), workers=1)
    print(f"one well, {length} frames of {n} cells, one thread")
    _compare(decoding, found)
    for nodes, each in ((1, 64), (10, 64)):
        waves = math.ceil(384 / (nodes * each))
        print(f"384 wells on {nodes} × {each} cores: {waves} after each other, {waves * found['processor']:.0f} s")


def workers(quick: bool) -> None:
    """One worker and two, of every kind, on a long movie; the small version only shows that two work.

    One worker and the main thread share Python's lock, so on a free machine they take as long as their processor time. Processes
    have no lock in common: on two free cores they would take half of theirs, whatever others do to the wall times here.
    """
    side, length = (20, 40) if quick else (100, 10_000)
    base = {"cells": side, "frames": length, "method": "JP"}
    for repeat in range(1 if quick else 3):
        print(f"repeat {repeat + 1}: {length} frames of {side} cells, all defaults")
        alone = measured({**base, "workers": 1})
        for kind in ("threads", "processes", "dask"):
            pair = measured({**base, "kind": kind, "workers": 2})
            rest = (pair["processor"] - pair["main"]) / 2
            print(
                f"{kind:<10} 1: {alone['wall']:>6.2f} s   2: {pair['wall']:>6.2f} s   "
                f"{alone['wall'] / pair['wall']:.2f} times as fast; processor {alone['processor']:.1f} s and "
                f"{pair['processor']:.1f} s, of which the main thread's {pair['main']:.1f} s and each worker's {rest:.1f} s"
                + ("" if kind == "threads" else f": {2 * alone['processor'] / pair['processor']:.2f} on free cores"),
                flush=True,
            )


def profile(quick: bool) -> None:
    """Where the time goes, by function."""
    import cProfile
    import pstats

    from dunno import Movie, Tracker
    from dunno.runs.run import track_into

    movie = Movie(Crowd(100, 50) if quick else Crowd(1000, 200))
    with tempfile.TemporaryDirectory() as folder:
        for name in ("warm", "measured"):  # the first pays for imports
            profiler = cProfile.Profile(time.process_time)
            profiler.enable()
            track_into(Tracker(workers=1), movie, f"{folder}/{name}")
            profiler.disable()
    pstats.Stats(profiler).sort_stats("cumulative").print_stats("dunno", 40)


def measured(run: dict[str, Any]) -> dict[str, Any]:
    """A run in a process of its own, with its processor time, wall time and peak memory, workers included; the fastest of some."""
    if "--quick" in sys.argv:
        return one(run)
    repeats = int(sys.argv[sys.argv.index("--repeat") + 1]) if "--repeat" in sys.argv else 1
    command = [sys.executable, "-m", "benchmarks.scale", "one", json.dumps(run)]
    found: list[dict[str, Any]] = []
    for _ in range(repeats):
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        found.append(json.loads(done.stdout.splitlines()[-1]))
    return min(found, key=lambda each: float(each["processor"]))


def one(run: dict[str, Any]) -> dict[str, Any]:
    """Track, or only decode, and say what it took; the interpreter and its imports do not count."""
    import resource

    import geff_spec  # noqa: F401
    import zarr  # noqa: F401

    import dunno
    from dunno import Movie

    movie = dunno.read(run["path"]) if "path" in run else Movie(Crowd(run["cells"], run["frames"]))
    began, own, main_thread = time.perf_counter(), time.process_time(), time.thread_time()
    more: dict[str, Any] = {}
    if run.get("decode"):
        for t in range(len(movie)):
            movie.masks(t)
    else:
        more = _tracked(movie, run)
    found = {
        "wall": time.perf_counter() - began,
        "processor": time.process_time() - own,
        "main": time.thread_time() - main_thread,
    }
    children, mine = resource.getrusage(resource.RUSAGE_CHILDREN), resource.getrusage(resource.RUSAGE_SELF)
    found["processor"] += children.ru_utime + children.ru_stime
    found["peak"] = max(_peak_of_this_process() or mine.ru_maxrss, children.ru_maxrss) / 1024
    return {**found, **more}


def _peak_of_this_process() -> int:
    """In kilobytes, 0 where the system does not say; `ru_maxrss` begins with what the process was forked from."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0)


def _tracked(movie: Any, run: dict[str, Any]) -> dict[str, Any]:
    from dunno import Tracker
    from dunno.runs.run import track_into
    from dunno.work.schedule import open_pool

    began: dict[str, float] = {}

    def tell(stage: str, done: int, total: int) -> None:
        began.setdefault(stage, time.perf_counter())

    n = run.get("workers", 2)
    kind = run.get("kind", "threads")
    calibration = None if run.get("calibration") == "none" else "default"
    with (
        tempfile.TemporaryDirectory() as folder,
        _scheduler(kind, n, Path(folder)) as address,
        open_pool(n, address, processes=kind == "processes") as pool,
    ):
        if kind == "dask":
            for future in [pool.submit(abs, each) for each in range(n)]:
                future.result()  # a cluster is there before anybody uses it; processes are started for the movie
        tracker = Tracker(method=run["method"], calibration=calibration, executor=pool)
        found = track_into(tracker, movie, f"{folder}/out", tell=tell)
        ends = [*list(began.values())[1:], time.perf_counter()]
    stages = {stage: end - begin for (stage, begin), end in zip(began.items(), ends, strict=True)}
    return {"cells": found.summary.cells, "stages": stages, "wall": found.seconds}


@contextmanager
def _scheduler(kind: str, n: int, folder: Path) -> Iterator[str | None]:
    """A Dask scheduler with n worker processes of one thread each, or nothing."""
    if kind != "dask":
        yield None
        return
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=n, threads_per_worker=1, processes=True, dashboard_address=":0", local_directory=str(folder)
    ) as cluster:
        yield cluster.scheduler_address


if __name__ == "__main__":
    main(sys.argv[1:])
