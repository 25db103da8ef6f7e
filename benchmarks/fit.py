"""The fit of the default run: what its parts cost, and how far a sample's parameters are from those of all frames.

    DUNNO_DATA=... python -m benchmarks.fit [DATASET/SEQUENCE] [EVERY] [--whole] [--plain]

Processor seconds of the fastest of a few runs, without imports. With `--whole`, the same model is fitted to every frame as
well, and each parameter's difference is printed in halves of its interval. With `--plain`, places are fitted without each of
the things that hurry the fit, and what that costs is printed, with the largest change of a parameter on the scale of its link.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from dunno.assignment.marginals import Method
from dunno.io import read
from dunno.models import Fit, Model, fast_em, fit
from dunno.models.expectation import Expected, expect
from dunno.models.fast_em import FastEM
from dunno.tracking import sampling, self_calibration
from dunno.tracking.gate import estimate_gate
from dunno.tracking.measured_blocks import with_measured_cells
from dunno.tracking.sampling import Sample, fit_sample, take_sample
from dunno.tracking.tracker import Tracker
from dunno.types import Movie
from dunno.types.stretch import Stretch
from dunno.work.progress import ignore_progress

REPEATS = 4
PARTS = ("fit_sample", "skip", "choose_evidence", "calibration_of", "tested", "with_gaps")


def timed(function: Callable[..., Any], seconds: dict[str, float]) -> Callable[..., Any]:
    """The same function, whose processor seconds are added up; those of parts inside parts count for both."""

    @wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        start = time.process_time()
        try:
            return function(*given, **named)
        finally:
            name = function.__name__
            seconds[name] = seconds.get(name, 0.0) + time.process_time() - start

    return call


def time_parts(tracker: Tracker, movie: Movie) -> None:
    """Print what each part costs."""
    seconds: dict[str, float] = {}
    for name in PARTS:
        setattr(self_calibration, name, timed(getattr(self_calibration, name), seconds))
    runs = []
    for _ in range(REPEATS):
        seconds.clear()
        start = time.process_time()
        tracker.plan(movie)
        runs.append((time.process_time() - start, ", ".join(f"{name} {s:.2f}" for name, s in seconds.items())))
    print("all {:.2f} s; {}".format(*min(runs)))


def _rounds(method: Method, *, kept: bool) -> Callable[..., Expected]:
    """An E step of `FastEM` with other marginals, or without the messages of the round before."""

    def look(em: FastEM, model: Model, stretch: Stretch, _: Method = "rough") -> Expected:
        em._count()
        expected = expect(model, stretch, method=method, rounds=em._kept[method] if kept else None)
        return expected if em._correction is None else replace(expected, found=em._correction.of(expected.found))

    return look


WITHOUT: dict[str, list[Any]] = {
    "nothing": [],
    "rough marginals": [patch.object(FastEM, "expect", _rounds("auto", kept=True))],
    "messages of the round before": [patch.object(FastEM, "expect", _rounds("rough", kept=False))],
    "likely edges": [patch.object(each, "ROUGH_EDGES_FROM", -1.0) for each in (fast_em, fit)],
    "leaps": [patch.object(FastEM, "_leap", lambda em, trail, model: None)],
    "a first look at drift": [patch.object(fit, "HOPELESS_GAIN", -np.inf)],
}


def time_without(tracker: Tracker, movie: Movie) -> None:
    """Print what each thing that hurries the fit saves, and changes."""
    sample, gate = _sample(tracker, movie), estimate_gate(movie)
    seconds: dict[str, float] = {}
    free: dict[str, Any] = {}
    for name, patches in [*WITHOUT.items()] * REPEATS:
        with ExitStack() as stack:
            for each in patches:
                stack.enter_context(each)
            start = time.process_time()
            free[name] = fit_sample(sample, 1, gate, True, ignore_progress)[0].model.free
            seconds[name] = min(seconds.get(name, np.inf), time.process_time() - start)
    print("| without | seconds | more | largest change |\n|---|---|---|---|")
    for name, took in seconds.items():
        alike = len(free[name]) == len(free["nothing"])
        change = f"{np.abs(free[name] - free['nothing']).max():.2g}" if alike else "another model"
        print(f"| {name} | {took:.2f} | {took / seconds['nothing'] - 1:+.0%} | {change} |")


def compare_with_whole(tracker: Tracker, movie: Movie) -> None:
    """Print how far parameters of the sample are from those of all frames, in halves of their intervals."""
    found = []
    for most in ((sampling.MOST_FRAMES, sampling.MOST_CELLS), (len(movie), 10**9)):
        sampling.MOST_FRAMES, sampling.MOST_CELLS = most
        found.append(_fit(tracker, movie))
    part, whole = found
    intervals = part.intervals()
    print("| parameter | sample | all frames | difference / half an interval |\n|---|---|---|---|")
    for name, each in part.model.parameters.items():
        low, high = intervals[name]
        other = whole.model.parameters[name].value
        print(
            f"| {name} | {each.value:.4g} | {other:.4g} | {2 * abs(other - each.value) / max(high - low, 1e-12):.2f} |"
        )


def _sample(tracker: Tracker, movie: Movie) -> Sample:
    with tracker.working() as pool:
        return take_sample(tracker.cost, movie, pool, ignore_progress)


def _fit(tracker: Tracker, movie: Movie) -> Fit:
    sample = _sample(tracker, movie)
    start = time.process_time()
    fit, _ = fit_sample(sample, 1, estimate_gate(movie), True, ignore_progress)
    print(f"{len(sample.cells)} frames, {sample.n_rows} cells: {time.process_time() - start:.2f} s")
    return fit


def main() -> None:
    """Print both."""
    if "DUNNO_DATA" not in os.environ:
        sys.exit("needs real movies: set DUNNO_DATA to a folder with Fluo-N2DL-HeLa")
    given = [word for word in sys.argv[1:] if not word.startswith("-")]
    name, every = given[0] if given else "Fluo-N2DL-HeLa/02", int(given[1]) if len(given) > 1 else 1
    movie = read(Path(os.environ["DUNNO_DATA"]) / name).every(every)
    tracker = Tracker(workers=1)
    with tracker.working() as pool:
        movie = with_measured_cells(movie, pool)
    np.seterr(all="ignore")
    import scipy.sparse
    import scipy.spatial  # noqa: F401  (imported before the clock runs)

    if "--plain" in sys.argv:
        time_without(tracker, movie)
        return
    time_parts(tracker, movie)
    if "--whole" in sys.argv:
        compare_with_whole(tracker, movie)


if __name__ == "__main__":
    main()
