"""Why FP+A and AS do not sparsify better than SM here: the paper's set-up with one choice changed at a time.

    DUNNO_DATA=... python -m benchmarks.sparsify [--every 10,30,50] [--costs distance,overlap,activity] [-o FILE.csv]

Every row is a choice that the paper does not tell: how numbers are kept (logarithms; double or single precision, in which a
probability within 1e-16 or 6e-8 of 1 is 1, and one below 1e-308 or 1e-38 is 0; something added to every probability, so that zeros
have a logarithm, and each daughter's distribution normalised again), how ties count (by their expected accuracy, or all links at
the threshold kept), K, the gate and ⊥. Numbers are mean gains in accuracy, over datasets that have any; without scaling, but
where a T is named. Last, the same for an order that knows nothing but how many mothers the frame before has.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dunno.benchmark.claims import interval
from dunno.benchmark.datasets import Part, find_datasets
from dunno.benchmark.one_pass import track_together
from dunno.benchmark.unit_scores import LEAST_LINKS_SCORED, make_cost, make_method
from dunno.benchmark.units import PAPER, SETUPS, USER, Experiment, plan_units
from dunno.evaluation.sparsification import SPARSIFICATION_STEPS, sparsify
from dunno.perturbations.gaussian import Gaussian
from dunno.tracking import Tracking
from dunno.truth import true_mothers
from dunno.types import Bools, Floats, Ints

SETS = (
    *("BF-C2DL-HSC", "BF-C2DL-MuSC", "Cglut-2min", "DIC-C2DH-HeLa"),
    *("Fluo-N2DL-HeLa", "Migration", "PhC-C2DL-PSC", "iPSC-07"),
)
METHODS = ("SM", "FP", "FP+A", "AS")


@dataclass(frozen=True)
class Variant:
    """One way to do it; the first is ours, and every other differs from it in what its name says.

    Attributes:
        name: What is different.
        setup: "paper" or "user".
        samples: K.
        variance: Of the noise on centres; the default's where `None`.
        precision: In which probabilities are kept; as logarithms where `None`.
        added: To every probability.
        temperature: T, after that.
        keeps_ties: Whether all links at the threshold stay.
    """

    name: str
    setup: str = PAPER
    samples: int = 10
    variance: float | None = None
    precision: type[np.floating[Any]] | None = None
    added: float = 0.0
    temperature: float = 1.0
    keeps_ties: bool = False

    def kept(self, log_probability: Floats, daughter: Ints, n: int) -> Floats:
        """What is left of the probabilities of edges into n daughters, as logarithms."""
        if self.precision is None:
            return log_probability
        with np.errstate(divide="ignore", under="ignore"):
            found = np.exp(log_probability.astype(self.precision))
            if self.added:
                found = (found + self.precision(self.added)) ** self.precision(1 / self.temperature)
                found = found / np.bincount(daughter, found, n)[daughter].astype(self.precision)
            return np.log(found.astype(np.float64))


DOUBLE, SINGLE = np.float64, np.float32
VARIANTS = (
    Variant("as here"),
    Variant("double precision", precision=DOUBLE),
    Variant("single precision", precision=SINGLE),
    Variant("ties at the threshold kept", keeps_ties=True),
    Variant("single precision, ties kept", precision=SINGLE, keeps_ties=True),
    Variant("1e-12 added, single precision", precision=SINGLE, added=1e-12),
    Variant("1e-12 added, single precision, T = 4", precision=SINGLE, added=1e-12, temperature=4.0),
    Variant("1e-8 added, double precision", precision=DOUBLE, added=1e-8),
    Variant("K = 100", samples=100),
    Variant("noise of 1 px² on centres", variance=1.0),
    Variant("noise of 10 px² on centres", variance=10.0),
    Variant("estimated gate and ⊥", setup=USER),
)


def links(tracking: Tracking, part: Part, variant: Variant) -> tuple[Floats, Floats, Floats, Bools]:
    """Of all links: −log P, the daughter's entropy, how many mothers there are, and whether it is right."""
    parts = []
    for pair in tracking.pairs:
        true, n = true_mothers(part.truth, pair), len(pair.daughters)
        logs = variant.kept(pair.log_probability, pair.daughter, n)
        with np.errstate(invalid="ignore"):
            terms = np.where(np.isneginf(logs), 0.0, -np.exp(logs) * logs)
        entropy = np.bincount(pair.daughter, terms, minlength=n)
        chosen = pair.selected & (true.known & ~np.isnan(pair.entropy))[pair.daughter]
        right = true.is_true(pair.mother, pair.daughter)
        crowd = np.full(chosen.sum(), float(len(pair.mothers)))
        parts.append((-logs[chosen], entropy[pair.daughter[chosen]], crowd, right[chosen]))
    return tuple(np.concatenate(each) for each in zip(*parts, strict=True))  # type: ignore[return-value]


def gain(doubt: Floats, right: Bools, keeps_ties: bool) -> float:
    """Mean gain in accuracy over thresholds."""
    if not keeps_ties:
        return sparsify(-doubt, right).gain
    limits = np.quantile(doubt, 1 - np.arange(SPARSIFICATION_STEPS) / SPARSIFICATION_STEPS, method="inverted_cdf")
    return float(np.mean([right[doubt <= limit].mean() for limit in limits]) - right.mean())


def rows_of(folder: Path, costs: tuple[str, ...], steps: tuple[int, ...]) -> Iterator[dict[str, Any]]:
    """A row per variant, cost, step, sequence and method of a dataset."""
    (dataset,) = find_datasets(folder)
    for unit in plan_units([dataset], Experiment(costs=costs, steps=steps)):
        for part in (each.every(unit.step) for each in dataset.parts()[1:]):
            if len(part) < 2 or (unit.cost == "activity" and not part.movie.has_images):
                continue
            cost = make_cost(unit)
            tracked: dict[Any, dict[str, Tracking]] = {}
            for variant in VARIANTS:
                key = variant.setup, variant.samples, variant.variance
                if variant.variance is not None and unit.cost == "overlap":
                    continue
                if key not in tracked:
                    methods = {name: make_method(replace(unit, samples=variant.samples), name) for name in METHODS}
                    noise = None if variant.variance is None else Gaussian(variant.variance)
                    found = track_together(methods, part.movie, cost, perturbation=noise, **SETUPS[variant.setup])
                    tracked[key] = {name: each.tracking for name, each in found.items()}
                for method, tracking in tracked[key].items():
                    surprise, entropy, crowd, right = links(tracking, part, variant)
                    if len(right) >= LEAST_LINKS_SCORED:
                        told = {"variant": variant.name, "dataset": dataset.name, "cost": unit.cost, "step": unit.step}
                        told |= {"cells": len(right) / len(tracking.pairs), "method": method}
                        doubts = {"edge": surprise, "entropy": entropy, "crowd": crowd}
                        yield told | {by: gain(doubt, right, variant.keeps_ties) for by, doubt in doubts.items()}


def table(rows: pd.DataFrame, by: str) -> Iterator[str]:
    """A row per variant and cost: the methods' gains, and by how much FP+A and AS are above SM and FP."""
    yield "| choice | cost | SM | FP | FP+A | AS | FP+A, AS − SM, FP (95 % interval) |\n|---|---|---|---|---|---|---|"
    for (variant, cost), own in rows.groupby(["variant", "cost"], sort=False):
        wide = own.groupby(["dataset", "step", "method"])[by].mean().unstack("method").groupby("dataset").mean()
        more = (wide[["FP+A", "AS"]].mean(axis=1) - wide[["SM", "FP"]].mean(axis=1)).to_numpy()
        mean, low, high = interval(more)
        told = " | ".join(f"{wide[name].mean():.3f}" for name in METHODS)
        yield f"| {variant} | {cost} | {told} | {mean:+.3f} ({low:+.3f} … {high:+.3f}) |"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", default="10,30,50")
    parser.add_argument("--costs", default="distance,overlap,activity")
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    steps, costs = tuple(map(int, given.every.split(","))), tuple(given.costs.split(","))
    data = Path(os.environ["DUNNO_DATA"])
    rows = pd.DataFrame(row for name in SETS for row in rows_of(data / name, costs, steps))
    if given.output:
        rows.to_csv(given.output, index=False, float_format="%.5g")
    for by in ("edge", "entropy", "crowd"):
        shown = rows[rows.variant == VARIANTS[0].name] if by == "crowd" else rows
        print(f"\nBy {by}:\n", *table(shown, by), sep="\n")


if __name__ == "__main__":
    main()
