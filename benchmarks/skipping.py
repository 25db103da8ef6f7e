"""Calibrated without truth? Annotated movies, tracked as is, self-calibrated by skipping frames, and calibrated with truth.

    DUNNO_DATA=... python -m benchmarks.skipping [--every 1,5,10] [--methods JP] [--movies NAME,...]

A Markdown row per movie, frame step and method: promised and found wrong links by kind, ECE with its floor, −log P, the verdict.
JP looks at places alone here, frame to frame; `benchmarks.evidence` has the defaults.
"With truth" is fitted on another sequence of the same dataset, where there is one.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dunno import Movie, Tracker, evaluation, read
from dunno.calibration import ModelCalibration, TemperatureScaling
from dunno.calibration.softening import Softening
from dunno.errors import DunnoError, DunnoWarning
from dunno.evaluation import Scores
from dunno.tracking import Tracking
from dunno.types import Truth

MOVIES = {
    "HeLa 01": ("Fluo-N2DL-HeLa/01", "Fluo-N2DL-HeLa/02"),
    "HeLa 02": ("Fluo-N2DL-HeLa/02", "Fluo-N2DL-HeLa/01"),
    "iPSC-07 01": ("iPSC-07/01", "iPSC-07/03"),
    "iPSC-07 02": ("iPSC-07/02", "iPSC-07/01"),
    "iPSC-07 03": ("iPSC-07/03", "iPSC-07/01"),
    "Cglut": ("Cglut-2min/01", None),
    "PSC 01": ("PhC-C2DL-PSC/01", None),
}
"""Each with the sequence that a calibration with truth is fitted on."""

HEADER = "| movie | every | method | how | verdict | promised / found swaps | missing masks | beginnings | ECE (floor) | −log P |"


@dataclass(frozen=True)
class Result:
    """One row."""

    how: str
    verdict: str
    scores: Scores
    seconds: float


def measured(movie: Movie, truth: Truth, other: tuple[Movie, Truth] | None, method: str) -> list[Result]:
    """As is, self-calibrated, and with truth from another sequence."""
    started = time.process_time()
    places: dict[str, Any] = (
        {"evidence": "places", "max_gap": 0} if method == "JP" else {}
    )  # what the softening does, alone
    tracker = Tracker("distance", method, workers=1, **places)
    plan = tracker.plan(movie)
    fitted: Any = plan.calibration
    seconds = time.process_time() - started
    plain = Tracker("distance", method, workers=1, calibration=None, max_distance=plan.gate)
    raw = plain.track(movie)
    rows = []
    if isinstance(fitted, ModelCalibration):
        as_is = replace(fitted, softening=Softening())(raw)
    else:
        as_is = raw
    rows.append(Result("as is", "", evaluation.score(as_is, truth), 0.0))
    rows.append(Result("self", fitted.verdict.word, evaluation.score(fitted(raw), truth), seconds))
    if other is not None and not isinstance(fitted, ModelCalibration):
        rows.append(Result("with truth", "", evaluation.score(with_truth(raw, plain, *other), truth), 0.0))
    return rows


def with_truth(raw: Tracking, tracker: Tracker, movie: Movie, truth: Truth) -> Tracking:
    """A temperature from another sequence."""
    return TemperatureScaling.fit(tracker.track(movie), truth)(raw)


def show(name: str, step: int, method: str, row: Result) -> None:
    """Print a row."""
    s = row.scores
    print(
        f"| {name} | {step} | {method} | {row.how} | {row.verdict} | {s.promised_swaps:.1f} / {s.swaps} | {s.unseen_mothers} | "
        f"{s.beginnings} | {s.ece:.4f} ({s.ece_floor:.4f}) | {s.nll:.4f} |",
        flush=True,
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", default="1,5,10")
    parser.add_argument("--methods", default="JP")
    parser.add_argument("--movies", default=",".join(MOVIES))
    given = parser.parse_args()
    data = Path(os.environ["DUNNO_DATA"])
    warnings.simplefilter("ignore", DunnoWarning)
    print(HEADER)
    print("|" + "---|" * (HEADER.count("|") - 1))
    for name in given.movies.split(","):
        path, partner = MOVIES[name]
        movie, truth = read(data / path, truth=True)
        other = None if partner is None else read(data / partner, truth=True)
        for step in map(int, given.every.split(",")):
            pair = None if other is None else (other[0].every(step), other[1].every(step))
            for method in given.methods.split(","):
                try:
                    rows = measured(movie.every(step), truth.every(step), pair, method)
                except DunnoError as error:
                    print(f"| {name} | {step} | {method} | {error} |", flush=True)
                    continue
                for row in rows:
                    show(name, step, method, row)


if __name__ == "__main__":
    main()
