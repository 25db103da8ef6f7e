"""The transformer against the distance tracker, with every method and dropout rate: the tables in docs/transformer.md.

    DUNNO_DATA=... python -m benchmarks.transformer [--every 30,10,1] [-o docs/figures/transformer.csv]

The models in benchmarks/models were trained on HeLa 01, one for each dropout rate:

    dunno transformer train $DUNNO_DATA/Fluo-N2DL-HeLa/01 -o benchmarks/models/hela-dropout-RATE
        --small --dropout RATE --largest-step 30 --epochs 24 --threads 1

All are used on HeLa 02. "+TS" is a temperature fitted on HeLa 01, as for any other tracker, although this one has seen that movie;
"×TS" one that is cross-fitted within HeLa 02, on every other frame pair for the rest. "JP truth" is the joint posterior with
tempering and event costs fitted on HeLa 01. A network is asked once for each movie, step and model; all methods share what it said.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dunno import Movie, Tracker, evaluation, read
from dunno.calibration import TemperatureScaling, fit_event_costs
from dunno.costs.transformer import TransformerCost
from dunno.tracking import Tracking
from dunno.types import EventCosts, Floats, FramePair, Ints, Truth

MODELS = Path(__file__).parent / "models"
RATES = ("0.125", "0.25", "0.5")
METHODS = ("SM", "FP", "FP+A", "AS", "JP")
COLUMNS = (
    "tracker",
    "every",
    "method",
    "links_right",
    "links_found",
    "daughters_right",
    "ece",
    "ece_floor",
    "nll",
    "auroc",
)
COLUMNS += ("gain_edge", "gain_entropy", "gain_oracle", "temperature", "seconds")


class Remembered:
    """A transformer cost that keeps what its network said about each pair."""

    name, window, perturbation = TransformerCost.name, 0, TransformerCost.perturbation

    def __init__(self, cost: TransformerCost) -> None:
        self.model, self.dropout, self.window = cost.model, cost.dropout, cost.window or 0
        self._cost = cost
        self._plain: dict[Any, np.ndarray] = {}
        self._drawn: dict[Any, list[np.ndarray]] = {}

    def __call__(self, pair: FramePair, mother: Ints, daughter: Ints) -> Floats:
        """(E,) the cost of each edge."""
        if pair.drawn is not None:
            return pair.drawn[mother, daughter]
        key = (pair.mothers.frame, pair.daughters.frame)
        if key not in self._plain:
            self._plain[key] = self._cost._costs(pair).astype(np.float32)
        return self._plain[key][mother, daughter].astype(np.float64)

    def drawn(self, pair: FramePair, k: int, rate: float | None, rng: np.random.Generator) -> Iterator[Floats]:
        """Yield k times the costs of all edges; the tracker seeds the generator by pair, so they are the same each time."""
        key = (pair.mothers.frame, pair.daughters.frame)
        if key not in self._drawn:
            self._drawn[key] = [each.astype(np.float32) for each in self._cost.drawn(pair, k, rate, rng)]
        yield from (each.astype(np.float64) for each in self._drawn[key])

    def event_costs(self, pair: FramePair) -> EventCosts:
        """As the cost itself has it."""
        return self._cost.event_costs(pair)


class Committee:
    """Several models as one: its cost is the mean of theirs, and its draws are what each of them says, in turn."""

    name, perturbation = TransformerCost.name, TransformerCost.perturbation

    def __init__(self, members: list[Remembered]) -> None:
        self.members = members
        self.model, self.window = members[0].model, max(member.window for member in members)

    def __call__(self, pair: FramePair, mother: Ints, daughter: Ints) -> Floats:
        """(E,) the cost of each edge."""
        if pair.drawn is not None:
            return pair.drawn[mother, daughter]
        return np.mean([member(pair, mother, daughter) for member in self.members], axis=0)

    def drawn(self, pair: FramePair, k: int, rate: float | None, rng: np.random.Generator) -> Iterator[Floats]:
        """Yield k times the costs of all edges."""
        everyone = np.indices((len(pair.mothers), len(pair.daughters)))
        for draw in range(k):
            yield self.members[draw % len(self.members)](pair, everyone[0], everyone[1])

    def event_costs(self, pair: FramePair) -> EventCosts:
        """As each of them has it."""
        return self.members[0].event_costs(pair)


ENSEMBLE_DRAWS = 9
"""Each of three models as often as the others."""


def cost_of(tracker: str) -> Any:
    """A tracker's cost, new, so that it remembers one movie only."""
    if tracker == "distance":
        return "distance"
    if tracker == "ensemble":
        return Committee([Remembered(TransformerCost(MODELS / f"hela-dropout-{rate}")) for rate in RATES])
    return Remembered(TransformerCost(MODELS / f"hela-dropout-{tracker.split()[-1]}"))


def cross_fitted(tracking: Tracking, truth: Truth) -> tuple[Tracking, float] | None:
    """Every other pair at the temperature of the rest."""
    if len(tracking.pairs) < 2:
        return None
    parts = [tracking.block.part(k, k + 1) for k in range(len(tracking.pairs))]
    halves = [replace(tracking, blocks=tuple(parts[start::2])) for start in (0, 1)]
    scalings = [TemperatureScaling.fit(half, truth) for half in halves]
    scaled = tuple(scalings[1 - k % 2].apply(part) for k, part in enumerate(parts))
    return replace(tracking, blocks=scaled), float(np.sqrt(scalings[0].temperature * scalings[1].temperature))


def results(tracker: str, fit: tuple[Movie, Truth], use: tuple[Movie, Truth]) -> Iterator[dict[str, Any]]:
    """Score every method, and its calibrated versions."""
    on_fit, on_use = cost_of(tracker), cost_of(tracker)
    samples = ENSEMBLE_DRAWS if tracker == "ensemble" else None
    for method in METHODS:
        started = time.perf_counter()
        plain = Tracker(on_use, method, samples=samples, calibration=None).track(use[0])
        seconds = time.perf_counter() - started
        fitted_on = Tracker(on_fit, method, samples=samples, calibration=None).track(fit[0])
        yield scores(method, plain, use[1]) | {"seconds": round(seconds, 1)}
        scaling = TemperatureScaling.fit(fitted_on, fit[1])
        yield scores(f"{method}+TS", scaling(plain), use[1], scaling.temperature)
        crossed = cross_fitted(plain, use[1])
        if crossed is not None:
            yield scores(f"{method}×TS", crossed[0], use[1], crossed[1])
        if method == "JP":
            calibration = fit_event_costs(fitted_on, fit[1])
            yield scores("JP truth", Tracker(on_use, "JP", calibration=calibration).track(use[0]), use[1])
    if tracker == "distance":
        yield scores("JP self", Tracker().track(use[0]), use[1])


def scores(method: str, tracking: Tracking, truth: Truth, temperature: float | None = None) -> dict[str, Any]:
    """One row."""
    found = evaluation.score(tracking, truth)
    edge, entropy = (evaluation.sparsification(tracking, truth, by=by) for by in ("edge", "entropy"))
    return {
        "method": method,
        "links_right": found.accuracy,
        "links_found": found.recall,
        "daughters_right": found.daughter_accuracy,
        "ece": found.ece,
        "ece_floor": found.ece_floor,
        "nll": found.nll,
        "auroc": found.auroc,
        "gain_edge": edge.gain,
        "gain_entropy": entropy.gain,
        "gain_oracle": edge.oracle_gain,
        "temperature": temperature,
    }


def main() -> None:
    """Track, score, write the table row by row."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--every", default="30,10,1", help="frame steps")
    parser.add_argument("--rates", default=",".join(RATES), help="dropout rates")
    parser.add_argument("--trackers", default=None, help="distance, ensemble (of all rates); all by default")
    parser.add_argument("-o", "--output", type=Path, default=None, help="also as CSV, added to what is there")
    given = parser.parse_args()
    every_tracker = ("distance", *(f"transformer {rate}" for rate in given.rates.split(",") if rate), "ensemble")
    trackers = every_tracker if given.trackers is None else given.trackers.split(",")
    folder = Path(os.environ["DUNNO_DATA"]) / "Fluo-N2DL-HeLa"
    (fit, fit_truth), (use, use_truth) = (read(folder / name, truth=True) for name in ("01", "02"))
    print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|")
    for step in map(int, given.every.split(",")):
        pair = (fit.every(step), fit_truth.every(step)), (use.every(step), use_truth.every(step))
        for tracker in trackers:
            for row in results(tracker, *pair):
                write({"tracker": tracker, "every": step} | row, given.output)


def write(row: dict[str, Any], output: Path | None) -> None:
    """Print a row, and add it to the file."""
    cells = ["" if row.get(name) is None else row[name] for name in COLUMNS]
    cells = [f"{cell:.4f}" if isinstance(cell, float) else cell for cell in cells]
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)
    if output is not None:
        new = not output.exists()
        with output.open("a", newline="") as file:
            writer = csv.writer(file)
            writer.writerows([COLUMNS, cells] if new else [cells])


if __name__ == "__main__":
    if "DUNNO_DATA" not in os.environ:
        sys.exit("needs real movies: set DUNNO_DATA to a folder with Fluo-N2DL-HeLa")
    warnings.simplefilter("ignore")
    main()
