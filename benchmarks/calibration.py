"""How true are the probabilities, with truth and without: the table in docs/joint-posterior.md.

    DUNNO_DATA=... python benchmarks/calibration.py

Calibrations with truth are fitted on a dataset's first sequence and used on its last one; a single movie is cross-fitted in its
two halves, without the pair across the cut. "JP self" sees no truth at all. Distance cost, every setting at its default.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path

from dunno import Movie, Tracker, evaluation, read
from dunno.calibration import TemperatureScaling, fit_event_costs
from dunno.errors import DunnoError
from dunno.tracking import Tracking
from dunno.types import Truth

DATASETS = {"Fluo-N2DL-HeLa": ("01", "02"), "iPSC-07": ("01", "03"), "Cglut-2min": ("01", "01")}
STEPS = (1, 10, 30, 50)
HEAD = "| data | every | method | right | found | daughters | ECE (floor) | ECE daughters (floor) | −log P | s |"

Half = tuple[Movie, Truth]


def methods(fit: Half, use: Half) -> dict[str, Tracking]:
    """Every method's tracking of `use`, calibrated on `fit` where it needs truth."""
    found = {}
    for name in ("SM", "AS"):
        tracker = Tracker("distance", name)
        found[name] = tracker.track(use[0])
        found[f"{name}+TS"] = TemperatureScaling.fit(tracker.track(fit[0]), fit[1])(found[name])
    plain = Tracker("distance", "JP", calibration=None).track(fit[0])
    found["JP truth"] = Tracker("distance", "JP", calibration=fit_event_costs(plain, fit[1])).track(use[0])
    return found


def halves(movie: Movie, truth: Truth) -> tuple[Half, Half]:
    """The two halves of a movie."""
    cut = len(movie) // 2
    first, second = slice(0, cut), slice(cut, None)
    return (movie.part(first), truth.part(first)), (movie.part(second), truth.part(second))


def joined(one: Tracking, other: Tracking, movie: Movie) -> Tracking:
    """Two halves' trackings as one, for scoring."""
    return replace(one, movie=movie, pairs=(*one.pairs, *other.pairs))


def run(data: Path, dataset: str, step: int) -> None:
    """Print a dataset's rows at one frame step."""
    fit_name, use_name = DATASETS[dataset]
    movie, truth = read(data / dataset / use_name, truth=True)
    use = (movie.every(step), truth.every(step))
    started = time.perf_counter()
    trackings = {"JP self": Tracker().track(use[0])}
    seconds = time.perf_counter() - started
    try:
        if fit_name == use_name:
            one, other = halves(*use)
            if len(one[0]) < 2 or len(other[0]) < 2:
                raise DunnoError("too few frames to cross-fit")
            first, second = methods(other, one), methods(one, other)
            trackings |= {name: joined(first[name], second[name], use[0]) for name in first}
        else:
            other_movie, other_truth = read(data / dataset / fit_name, truth=True)
            trackings |= methods((other_movie.every(step), other_truth.every(step)), use)
    except DunnoError as error:
        print(f"| {dataset} | {step} | with truth | {error} | | | | | | |", flush=True)
    for name in ("SM", "SM+TS", "AS", "AS+TS", "JP truth", "JP self"):
        if name in trackings:
            row(f"{dataset} {use_name}", step, name, trackings[name], use[1], seconds if name == "JP self" else None)


def row(data: str, step: int, name: str, tracking: Tracking, truth: Truth, seconds: float | None) -> None:
    """Print one method's scores."""
    found = evaluation.score(tracking, truth)
    trusted = tracking.about["calibrated"] or name != "JP self"
    time_spent = "" if seconds is None else f"{seconds:.1f}"
    cells = (
        f"{found.accuracy:.4f} | {found.recall:.4f} | {found.daughter_accuracy:.4f} | {found.ece:.4f} ({found.ece_floor:.4f}) | "
        f"{found.ece_daughters:.4f} ({found.ece_daughters_floor:.4f}) | {found.nll:.3f} | {time_spent}"
    )
    print(f"| {data} | {step} | {name}{'' if trusted else ' (not to be trusted)'} | {cells} |", flush=True)


if __name__ == "__main__":
    if "DUNNO_DATA" not in os.environ:
        sys.exit("needs real movies: set DUNNO_DATA to a folder with Fluo-N2DL-HeLa, iPSC-07 and Cglut-2min")
    warnings.simplefilter("ignore")
    print(HEAD)
    print("|" + "---|" * 10)
    for dataset in DATASETS:
        for step in STEPS:
            run(Path(os.environ["DUNNO_DATA"]), dataset, step)
