"""How time and memory grow, on movies that cost next to nothing to make. docs/scale.md has the tables.

python -m benchmarks.scale frames     100 cells a frame, 100 to 10,000 frames; SM, AS and JP
python -m benchmarks.scale cells      17 frames of 117 to 30,000 cells at one density; SM, AS and JP
python -m benchmarks.scale million    1,000 frames of 1,000 cells, JP with self-calibration; against decoding the masks
python -m benchmarks.scale stall      1,441 frames of 2304 × 4096 with 500 cells, as a compressed zarr
python -m benchmarks.scale workers    1 and 2 threads, processes and Dask workers on one movie
python -m benchmarks.scale profile    where the time goes, one thread

Every run is a process of its own, so that its peak memory is its own. Time is processor time, which a busy machine does not
lengthen much, and wall time beside it. Add --quick for a small version.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.crowd import Crowd

STALL = (2304, 4096)


def main(arguments: list[str]) -> None:
    """Run the measurement that is asked for."""
    quick = "--quick" in arguments
    measurements = {
        "frames": frames,
        "cells": cells,
        "million": million,
        "stall": stall,
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
    sizes = (100, 200, 400) if quick else (100, 1250, 2500, 5000, 10_000)
    for method in ("SM", "AS", "JP"):
        _growth(method, [{"cells": 100, "frames": size, "method": method} for size in sizes], "frames")


def cells(quick: bool) -> None:
    """Growth with the number of cells in a frame, at one density."""
    sizes = (117, 234) if quick else tuple(30_000 // 2**k for k in range(8, -1, -1))
    for method in ("SM", "AS", "JP"):
        runs = [{"cells": size, "frames": 17, "method": method, "calibration": "none"} for size in sizes]
        _growth(f"{method} without self-calibration" if method == "JP" else method, runs, "cells")


def _growth(title: str, runs: list[dict[str, Any]], size: str) -> None:
    print(f"\n{title}\n{size:>8}  processor s  wall s  peak MB   µs per cell   per doubling")
    before: dict[str, Any] | None = None
    for run in runs:
        found = measured(run)
        ratio = ""
        if before is not None:
            doublings = (run[size] / before[size]) ** -1
            ratio = f"{(found['processor'] / before['processor']) ** (1 / _log2(1 / doublings)):.2f}"
        per_cell = 1e6 * found["processor"] / (run["cells"] * run["frames"])
        print(
            f"{run[size]:>8}  {found['processor']:>11.2f}  {found['wall']:>6.2f}  {found['peak']:>7.0f}   "
            f"{per_cell:>11.1f}   {ratio:>12}",
            flush=True,
        )
        before = {**run, **found}


def _log2(ratio: float) -> float:
    import math

    return math.log2(ratio)


def million(quick: bool) -> None:
    """A million cells with all defaults."""
    side = 100 if quick else 1000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "crowd.zarr"
        Crowd(side, side).save(path)
        decoding = measured({"path": str(path), "decode": True, "workers": 1})
        found = measured({"path": str(path), "method": "JP", "workers": 2})
    n = found["cells"]
    print(f"{n:,} cells, JP with self-calibration, 2 threads")
    for name, run in (("decoding the masks", decoding), ("tracking, all told", found)):
        print(f"{name:<22}{run['processor']:>8.1f} processor s {run['wall']:>8.1f} wall s  {run['peak']:>6.0f} MB")
    print(
        f"{1e6 * found['processor'] / n:.1f} µs of processor a cell; {found['processor'] / decoding['processor']:.1f} × decoding"
    )
    print("of that: " + ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in found["stages"].items()) + " (wall)")


def stall(quick: bool) -> None:
    """The size at which peers stall."""
    length = 40 if quick else 1441
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "crowd.zarr"
        Crowd(500, length, STALL).save(path)
        size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
        decoding = measured({"path": str(path), "decode": True, "workers": 1})
        found = measured({"path": str(path), "method": "JP", "workers": 2})
    print(f"{length} frames of {STALL[0]} × {STALL[1]}, {found['cells']:,} cells, {size / 1e6:.0f} MB of zarr")
    for name, run in (("decoding the masks", decoding), ("tracking, all told", found)):
        print(f"{name:<22}{run['processor']:>8.1f} processor s {run['wall']:>8.1f} wall s  {run['peak']:>6.0f} MB")
    print(f"peak memory {found['peak']:.0f} MB; {found['processor'] / decoding['processor']:.1f} × decoding")


def workers(quick: bool) -> None:
    """One worker and two, of every kind."""
    side, length = (100, 64) if quick else (1000, 400)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "crowd.zarr"
        Crowd(side, length).save(path)
        for repeat in range(1 if quick else 3):
            print(f"repeat {repeat + 1}: {length} frames of {side} cells, JP without self-calibration")
            for kind in ("threads", "processes", "dask"):
                base = {"path": str(path), "method": "JP", "calibration": "none", "kind": kind}
                alone, pair = (measured({**base, "workers": n}) for n in (1, 2))
                print(
                    f"{kind:<10} 1: {alone['wall']:>6.2f} s   2: {pair['wall']:>6.2f} s   "
                    f"{alone['wall'] / pair['wall']:.2f} times as fast; processor {pair['processor']:.1f} s",
                    flush=True,
                )


def profile(quick: bool) -> None:
    """Where the time goes, by function."""
    import cProfile
    import pstats

    from dunno import Movie, Tracker
    from dunno.run import track_into

    movie = Movie(Crowd(100, 50) if quick else Crowd(1000, 200))
    with tempfile.TemporaryDirectory() as folder:
        for name in ("warm", "measured"):  # the first pays for imports
            profiler = cProfile.Profile(time.process_time)
            profiler.enable()
            track_into(Tracker(workers=1), movie, f"{folder}/{name}")
            profiler.disable()
    pstats.Stats(profiler).sort_stats("cumulative").print_stats("dunno", 40)


def measured(run: dict[str, Any]) -> dict[str, Any]:
    """One run in a process of its own, with its processor time, wall time and peak memory, workers included."""
    command = [sys.executable, "-m", "benchmarks.scale", "one", json.dumps(run)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def one(run: dict[str, Any]) -> dict[str, Any]:
    """Track, or only decode, and say what it took; the interpreter and its imports do not count."""
    import resource

    import geff_spec  # noqa: F401
    import zarr  # noqa: F401

    import dunno
    from dunno import Movie
    from dunno.progress import memory_in_use

    movie = dunno.read(run["path"]) if "path" in run else Movie(Crowd(run["cells"], run["frames"]))
    if "path" not in run:
        movie.masks(0)
    began, own = time.perf_counter(), time.process_time()
    more: dict[str, Any] = {}
    if run.get("decode"):
        for t in range(len(movie)):
            movie.masks(t)
    else:
        more = _tracked(movie, run)
    wall, processor = time.perf_counter() - began, time.process_time() - own
    workers = resource.getrusage(resource.RUSAGE_CHILDREN)
    peak = max(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, workers.ru_maxrss) / 1024
    assert memory_in_use() is not None
    return {"wall": wall, "processor": processor + workers.ru_utime + workers.ru_stime, "peak": peak, **more}


def _tracked(movie: Any, run: dict[str, Any]) -> dict[str, Any]:
    from dunno import Tracker
    from dunno.run import track_into
    from dunno.schedule import open_executor

    stages: dict[str, list[float]] = {}

    def tell(stage: str, done: int, total: int) -> None:
        stages.setdefault(stage, []).append(time.perf_counter())

    began = time.perf_counter()
    n = run.get("workers", 2)
    kind = run.get("kind", "threads")
    with tempfile.TemporaryDirectory() as folder, _scheduler(kind, n, Path(folder)) as address:
        with open_executor(n, address, processes=kind == "processes") as (executor, workers):
            if kind == "processes":
                list(executor.map(abs, range(n)))
            calibration = None if run.get("calibration") == "none" else "default"
            tracker = Tracker(method=run["method"], calibration=calibration, executor=executor, workers=workers)
            began = time.perf_counter()
            found = track_into(tracker, movie, f"{folder}/out", tell=tell)
    starts = [(stage, times[0]) for stage, times in stages.items()]
    ends = [begin for _, begin in starts[1:]] + [time.perf_counter()]
    spent = {stage: end - begin for (stage, begin), end in zip(starts, ends, strict=True)}
    return {"cells": found.summary.cells, "stages": spent, "wall": found.seconds, "began": began}


def _scheduler(kind: str, n: int, folder: Path) -> Any:
    """A Dask scheduler with n worker processes of one thread each, or nothing."""
    from contextlib import contextmanager

    @contextmanager
    def opened() -> Any:
        if kind != "dask":
            yield None
            return
        from distributed import LocalCluster

        with LocalCluster(
            n_workers=n, threads_per_worker=1, processes=True, dashboard_address=None, local_directory=str(folder)
        ) as cluster:
            yield cluster.scheduler_address

    return opened()


if __name__ == "__main__":
    main(sys.argv[1:])
