"""Does more evidence help? Annotated movies and simulated colonies, places alone against what skipping frames chose.

    DUNNO_DATA=... python -m benchmarks.evidence [--every 1,5,10] [--movies NAME,...] [--colonies 20] [--settings]
                                                 [--only auto] [--cells 10000] [--ablate]

A Markdown row per movie, frame step and evidence: daughters right, promised and found swaps, ECE, −log P, the verdict, what spoke,
and processor seconds of the fit, without measuring the cells. `--only auto` leaves out places alone; `--cells` says how many cells
of a movie fits look at. `--ablate` tracks every movie of `ABLATED` with what joins, and with each of these terms left out.
`--colonies` pools `make demo`'s colony over seeds; `--settings` runs 23 settings of colonies.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.skipping import MOVIES
from dunno import Movie, Tracker, evaluation, read
from dunno.errors import DunnoWarning
from dunno.simulate import colony
from dunno.tracking import sampling
from dunno.tracking.measured_blocks import with_measured_cells
from dunno.types import Truth

HEADER = (
    "| movie | every | evidence | daughters right | promised / found swaps | ECE (floor) | −log P | verdict | fit, s |"
)
BASE: dict[str, Any] = {"cells": 60, "frames": 25, "motion": 0.2, "crowding": 0.7, "cycle": 30}
SETTINGS: tuple[dict[str, Any], ...] = (
    *({"motion": motion} for motion in (0.15, 0.2, 0.25, 0.3, 0.4, 0.6)),
    *({"motion": motion, "crowding": 0.0} for motion in (0.2, 0.3, 0.5)),
    *({"motion": motion, "crowding": 0.9} for motion in (0.2, 0.3)),
    {"cycle": 8},
    {"cycle": 4, "motion": 0.1},
    {"tail": 3.0},
    {"tail": 2.0, "motion": 0.3, "crowding": 0.0},
    *({"cycle": float("inf"), "motion": 0.3, "crowding": crowding} for crowding in (0.7, 0.0)),
    {"division_distance": 1.2, "motion": 0.15},
    {"room": 4.0, "motion": 0.5},
    *({"room": 1.0, "motion": 0.3, "enter": enter} for enter in (0.2, 2.0)),
    {"cells": 6},
    {"cells": 200, "frames": 2, "motion": 0.3},
)
"""Colonies that push each other, that do not, that divide fast, far or never, sparse and dense ones."""

ABLATED = {
    **{name: place for name, (place, _) in MOVIES.items()},
    "DIC 01": "DIC-C2DH-HeLa/01",
    "DIC 02": "DIC-C2DH-HeLa/02",
    "HSC 01": "BF-C2DL-HSC/01",
    "HSC 02": "BF-C2DL-HSC/02",
    "MuSC 01": "BF-C2DL-MuSC/01",
    "MuSC 02": "BF-C2DL-MuSC/02",
    "Migration": "Migration/01",
}
"""Movies with annotated masks, on which terms are left out one by one."""


def measured(movie: Movie, truth: Truth, evidence: str) -> tuple[Any, dict[str, Any], float]:
    """Scores, what the result says of itself, and processor seconds of the fit."""
    tracker = Tracker(workers=1, evidence=evidence)
    with tracker.working() as pool:
        cells = with_measured_cells(movie, pool)
    begun = time.process_time()
    plan = tracker.plan(cells)
    seconds = time.process_time() - begun
    assert plan.calibration is not None
    tracking = plan.calibration(Tracker(workers=1, calibration=None, max_distance=plan.gate).track(movie))
    return evaluation.score(tracking, truth), tracker.about(movie, plan), seconds


def rows(name: str, step: int, movie: Movie, truth: Truth, kinds: Sequence[str] = ("places", "auto")) -> Iterator[str]:
    """One with places alone, one with what was chosen."""
    for evidence in kinds:
        s, about, seconds = measured(movie, truth, evidence)
        spoke = ", ".join(joined(about)) if evidence == "auto" else ""
        yield row(name, step, spoke or "places", s, about, seconds)


def row(name: str, step: int, spoke: str, s: Any, about: dict[str, Any], seconds: float) -> str:
    """In Markdown."""
    return (
        f"| {name} | {step} | {spoke} | {s.daughter_accuracy:.4f} | {s.promised_swaps:.1f} / {s.swaps} | "
        f"{s.ece:.4f} ({s.ece_floor:.4f}) | {s.nll:.4f} | {about['verdict']} | {seconds:.1f} |"
    )


def joined(about: dict[str, Any]) -> list[str]:
    """The terms that joined."""
    return [t["name"] for t in about["calibration"]["evidence"]["trials"] if t["joined"]]


def ablated(name: str, step: int, movie: Movie, truth: Truth) -> Iterator[str]:
    """One with what was chosen, and one without each of these terms."""
    s, about, seconds = measured(movie, truth, "auto")
    terms = joined(about)
    yield row(name, step, ", ".join(terms) or "places", s, about, seconds)
    for term in terms:
        evidence = ",".join(["places", *(other for other in terms if other != term)])
        yield row(name, step, f"without {term}", *measured(movie, truth, evidence))


def pooled_colonies(seeds: int) -> None:
    """The demo's colony over seeds: wrong links, promised and found."""
    for evidence in ("places", "auto"):
        promised, found, right, judged, worst = 0.0, 0, 0.0, 0, 0.0
        for seed in range(seeds):
            made = colony(motion=0.2, seed=seed)
            s, _, _ = measured(made.movie, made.truth, evidence)
            promised, found = promised + s.promised_wrong, found + s.found_wrong
            right, judged = right + s.daughter_accuracy, judged + 1
            worst = max(worst, s.found_wrong / max(s.promised_wrong, 1))
        print(
            f"colonies as in the demo, {seeds} seeds, {evidence}: {promised:.0f} promised, {found} found, "
            f"right {right / judged:.4f}, largest found / promised of a seed {worst:.2f}",
            flush=True,
        )


def colonies_that_push(seeds: int = 2) -> None:
    """Settings of colonies: found over promised, and the verdict."""
    print("| setting | seed | promised / found | verdict | evidence |\n|---|---|---|---|---|")
    for setting in SETTINGS:
        for seed in range(seeds):
            made = colony(**{**BASE, **setting}, seed=seed)
            s, about, _ = measured(made.movie, made.truth, "auto")
            told = about["calibration"]["evidence"]["told"]
            ratio = f"{s.promised_wrong:.1f} / {s.found_wrong}"
            print(f"| {setting} | {seed} | {ratio} | {about['verdict']} | {told} |", flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", default="1,5,10")
    parser.add_argument("--movies", default="")
    parser.add_argument("--ablate", action="store_true")
    parser.add_argument("--colonies", type=int, default=0)
    parser.add_argument("--settings", action="store_true")
    parser.add_argument("--only", choices=("places", "auto"))
    parser.add_argument("--cells", type=int, default=sampling.MOST_CELLS)
    given = parser.parse_args()
    warnings.simplefilter("ignore", DunnoWarning)
    sampling.MOST_CELLS = given.cells
    kinds = ("places", "auto") if given.only is None else (given.only,)
    if given.colonies:
        pooled_colonies(given.colonies)
    if given.settings:
        colonies_that_push()
    if given.colonies or given.settings:
        return
    data = Path(os.environ["DUNNO_DATA"])
    print(HEADER)
    print("|" + "---|" * (HEADER.count("|") - 1))
    for name in given.movies.split(",") if given.movies else ABLATED if given.ablate else MOVIES:
        movie, truth = read(data / ABLATED[name], truth=True)
        for step in map(int, given.every.split(",")):
            of = name, step, movie.every(step), truth.every(step)
            for line in ablated(*of) if given.ablate else rows(*of, kinds):
                print(line, flush=True)


if __name__ == "__main__":
    main()
