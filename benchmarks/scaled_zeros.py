"""What the confidence of temperature-scaled FP+A, AS and MC follows: the number of candidates, as a Markdown table.

    DUNNO_DATA=... python benchmarks/scaled_zeros.py

They leave most edges at exactly 0, where a floor takes their place and is softened like the rest, so a link that had probability 1
keeps the less the more candidates its daughter has. HeLa, distance cost, fitted on 01, shown on 02.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from dunno import Movie, Tracker, read
from dunno.calibration import TemperatureScaling
from dunno.tracking import Tracking
from dunno.truth import true_mothers
from dunno.types import Truth

SHARE = 10

Annotated = tuple[Movie, Truth]


def table(train: Annotated, test: Annotated) -> None:
    """Print a row per step and method."""
    print("| every | method | rank correlation of confidence with candidates | right | right of the surest tenth |")
    print("|---|---|---|---|---|")
    for step in (10, 30):
        for method in ("AS", "FP+A", "MC"):
            tracker = Tracker("distance", method)
            scaling = TemperatureScaling.fit(tracker.track(train[0].every(step)), train[1].every(step))
            confidence, candidates, right = links(scaling(tracker.track(test[0].every(step))), test[1].every(step))
            surest = np.argsort(-confidence, kind="stable")[: len(confidence) // SHARE]
            correlation = spearmanr(confidence, candidates)[0]
            shares = f"{right.mean():.3f} | {right[surest].mean():.3f}"
            print(f"| {step} | {method}+TS | {correlation:.3f} | {shares} |", flush=True)


def links(tracking: Tracking, truth: Truth) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(L,) each link's confidence, its daughter's number of candidates, and whether it is right."""
    parts = []
    for pair in tracking.pairs:
        daughter = pair.daughter[pair.selected]
        true = true_mothers(truth, pair).mother[daughter]
        candidates = np.bincount(pair.daughter, minlength=len(pair.daughters))
        parts.append((pair.probability[pair.selected], candidates[daughter], true == pair.mother[pair.selected]))
    confidence, candidates, right = (np.concatenate(each) for each in zip(*parts, strict=True))
    return confidence, candidates, right


if __name__ == "__main__":
    if "DUNNO_DATA" not in os.environ:
        sys.exit("needs real movies: set DUNNO_DATA to a folder with Fluo-N2DL-HeLa")
    warnings.simplefilter("ignore")
    folder = Path(os.environ["DUNNO_DATA"]) / "Fluo-N2DL-HeLa"
    table(read(folder / "01", truth=True), read(folder / "02", truth=True))
