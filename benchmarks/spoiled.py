"""A real movie with masks that are spoiled on purpose: divisions, and whether sampled intervals hold the truth.

    DUNNO_DATA=... python -m benchmarks.spoiled [--seeds 10] [--every 1] [--evidence auto] [--movie Fluo-N2DL-HeLa/02]
        [--faults usual|heavy|false|merged|split|none]

HeLa 02 with 2 % of its masks deleted, 1 % cut in two and 1 % joined with a neighbour's, each for 1 to 5 frames; or another movie
with other faults (`FAULTS`). A Markdown row per
seed: divisions reported, right and true, Σ P(divide), the 95 % interval of their number from sampled lineages beside the true
number, and the same for the median of complete cell cycles, in frames.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from pathlib import Path

import numpy as np

from dunno import Tracker, evaluation, read
from dunno.errors import DunnoWarning
from dunno.simulate import FaultShares, Spoiled, spoil
from dunno.tracking import Tracking
from dunno.types import Truth

FAULTS = {
    "usual": FaultShares(missed=0.02, merged=0.01, split=0.01),
    "heavy": FaultShares(missed=0.05, false=0.03, merged=0.03, split=0.03),
    "false": FaultShares(false=0.03),
    "merged": FaultShares(merged=0.03),
    "split": FaultShares(split=0.03),
    "none": None,
}
SAMPLES = 50

HEADER = (
    "| seed | evidence | divisions right / reported / true | F1 | Σ P(divide) | number (95 %) | median cycle (95 %) | true | "
    "swaps promised / found | verdict | s |"
)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--movie", default="Fluo-N2DL-HeLa/02")
    parser.add_argument("--faults", choices=FAULTS, default="usual")
    parser.add_argument("--evidence", default="auto")
    given = parser.parse_args()
    warnings.simplefilter("ignore", DunnoWarning)
    movie, truth = read(Path(os.environ["DUNNO_DATA"]) / given.movie, truth=True)
    movie, truth = movie.every(given.every), truth.every(given.every)
    print(HEADER)
    print("|" + "---|" * (HEADER.count("|") - 1))
    faults = FAULTS[given.faults]
    for seed in range(1 if faults is None else given.seeds):
        spoiled = Spoiled(movie, truth) if faults is None else spoil(movie, truth, faults, seed)
        print(row(spoiled, truth, seed, given.evidence), flush=True)


def row(spoiled: Spoiled, truth: Truth, seed: int, evidence: str) -> str:
    """One movie."""
    begun = time.process_time()
    tracking = Tracker(workers=1, evidence=evidence).track(spoiled.movie)
    seconds = time.process_time() - begun
    score = evaluation.score(tracking, spoiled.truth)
    d = score.divisions
    assert d is not None
    drawn = [measured(each) for each in tracking.sample(SAMPLES, seed)]
    number, cycle = (np.percentile([each[k] for each in drawn], [2.5, 97.5]) for k in (0, 1))
    spoke = [t["name"] for t in tracking.about["calibration"]["evidence"]["trials"] if t["joined"]]
    return (
        f"| {seed} | {', '.join(spoke) or evidence} | {d.right} / {d.reported} / {d.true} | {d.f1:.2f} | {d.expected:.0f} | "
        f"{number[0]:.0f} – {number[1]:.0f} | {cycle[0]:.0f} – {cycle[1]:.0f} | {d.true}, {true_cycle(truth):.0f} | "
        f"{score.promised_swaps:.0f} / {score.swaps} | {tracking.about['verdict']} | {seconds:.1f} |"
    )


def measured(tracking: Tracking) -> tuple[int, float]:
    """The number of divisions of a forest, and the median length of its complete cycles in frames."""
    rows = tracking.tracks()
    children = np.bincount([each.mother for each in rows], minlength=len(rows) + 1)
    whole = [each.last - each.first + 1 for each in rows if each.mother and children[each.track] >= 2]
    return int((children[1:] >= 2).sum()), float(np.median(whole)) if whole else float("nan")


def true_cycle(truth: Truth) -> float:
    """The median length of complete annotated cycles."""
    divided = {int(track) for track in truth.mother if (truth.mother == track).sum() >= 2 and track > 0}
    rows = zip(truth.track.tolist(), truth.first.tolist(), truth.last.tolist(), truth.mother.tolist(), strict=True)
    whole = [last - first + 1 for track, first, last, mother in rows if mother in divided and track in divided]
    return float(np.median(whole))


if __name__ == "__main__":
    main()
