"""The paper's calibration on HeLa: fitted on sequence 01, evaluated on 02, as Markdown tables.

    DUNNO_DATA=... python benchmarks/temperature.py [--speed]

Without an option: ECE before and after temperature scaling, T, and the motion that T should be, at four frame steps.
`--speed`: seconds to score and to fit.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from dunno import Movie, Tracker, evaluation, read
from dunno.calibration import TemperatureScaling
from dunno.tracking import Tracking
from dunno.truth import true_mothers
from dunno.types import Bools, Floats, Truth

EVENT_COSTS = {1: 450.0, 10: 1800.0, 30: 5000.0, 50: 7200.0}
"""What appearing and disappearing cost at each frame step, as in the reference."""

REPEATS = 5

Annotated = tuple[Movie, Truth]


def reference(train: Annotated, test: Annotated) -> None:
    """Print what temperature scaling does at several frame steps."""
    print("| every | links | accuracy | ECE SM | ECE SM+TS | floor | T | half the mean squared displacement |")
    print("|---|---|---|---|---|---|---|---|")
    for step, event in EVENT_COSTS.items():
        tracker = Tracker(
            "distance",
            "SM",
            max_distance=np.inf,
            appear_cost=event,
            disappear_cost=event,
            divide_cost=0.0,
            no_mother=False,
            calibration=None,
        )
        fitted_on, train_truth = tracker.track(train[0].every(step)), train[1].every(step)
        scaling = TemperatureScaling.fit(fitted_on, train_truth)
        plain, truth = tracker.track(test[0].every(step)), test[1].every(step)
        before, after = evaluation.score(plain, truth), evaluation.score(scaling(plain), truth)
        squares, divides = motion(fitted_on, train_truth)
        if step == 1:
            note = (
                f"every frame of 01: {divides.sum():,} of {len(divides):,} true links are to daughters of a division; "
                f"variance {squares[divides].mean():.0f} px² along each axis, {squares[~divides].mean():.0f} for the others"
            )
        print(
            f"| {step} | {before.n_links:,} | {before.accuracy:.3f} | {before.ece:.3f} | {after.ece:.3f} | "
            f"{after.ece_floor:.3f} | {scaling.temperature:.0f} | {squares.mean():.0f} |",
            flush=True,
        )
    print(f"\n{note}")


def motion(tracking: Tracking, truth: Truth) -> tuple[Floats, Bools]:
    """Of every true link, the squared displacement over the number of dimensions, and whether its mother divides."""
    squares, divides = [], []
    for pair in tracking.pairs:
        mother = true_mothers(truth, pair).mother
        linked = np.flatnonzero(mother >= 0)
        step = pair.daughters.centroid[linked] - pair.mothers.centroid[mother[linked]]
        squares.append((step**2).mean(axis=1))
        divides.append(np.bincount(mother[linked], minlength=1)[mother[linked]] > 1)
    return np.concatenate(squares), np.concatenate(divides)


def impossible(tracking: Tracking, truth: Truth) -> float:
    """Share of true links among the candidates that have probability exactly 0."""
    zero = []
    for pair in tracking.pairs:
        hit = true_mothers(truth, pair).mother[pair.daughter] == pair.mother
        zero.append(pair.probability[hit] == 0)
    return float(np.concatenate(zero).mean())


def speed(train: Annotated, test: Annotated) -> None:
    """Print how long scoring and fitting take on all of the second sequence."""
    movie, truth = test
    tracking = Tracker("distance", "SM", calibration=None).track(movie)
    print(f"score      {seconds(lambda: evaluation.score(tracking, truth)) * 1e3:6.1f} ms")
    print(f"fit        {seconds(lambda: TemperatureScaling.fit(tracking, truth)) * 1e3:6.1f} ms")


def seconds(work: Callable[[], object]) -> float:
    """Wall time of the fastest of a few runs."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    """Print the table that was asked for."""
    if "DUNNO_DATA" not in os.environ:
        sys.exit("needs real movies: set DUNNO_DATA to a folder with Fluo-N2DL-HeLa")
    warnings.simplefilter("ignore")
    folder = Path(os.environ["DUNNO_DATA"]) / "Fluo-N2DL-HeLa"
    tables = {"--speed": speed}
    table = next((tables[option] for option in sys.argv[1:] if option in tables), reference)
    table(read(folder / "01", truth=True), read(folder / "02", truth=True))


if __name__ == "__main__":
    main()
