"""Quality of results against quality of masks: a movie whose masks are spoiled more and more, tracked in two ways.

    python -m benchmarks.mask_quality -o docs/figures/mask-quality.csv [--seeds 3] [--shares 0,0.005,0.01,0.02,0.04]
    DUNNO_DATA=... python -m benchmarks.mask_quality -o FILE.csv --movie Fluo-N2DL-HeLa/02 --seeds 1

Of each kind of fault (missing, false, joined, cut; for 1 to 5 frames each), the same share of all masks is spoiled. Without
`--movie`, simulated colonies. "judged" is the default (gaps and masks are judged where skipping frames says so); "as they are"
takes every mask for one cell and links neighbours, with the other evidence of the default. A CSV row per movie, share and way;
`docs/figures/make_mask_quality.py` draws it.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

from dunno import Tracker, evaluation, read
from dunno.errors import DunnoWarning
from dunno.simulate import FaultShares, Spoiled, colony, spoil
from dunno.terms.masks import Masks
from dunno.tracking import Tracking

JUDGED, AS_THEY_ARE = "judged", "as they are"
COLUMNS = (
    *("movie", "share", "seed", "way", "daughters_right", "links_right", "true_links", "divisions_f1"),
    *("divisions_true", "divisions_expected", "promised_wrong", "found_wrong", "verdict", "seconds"),
)


def movie_of(name: str | None, seed: int) -> Spoiled:
    """A movie with good masks."""
    if name is None:
        made = colony(cells=60, frames=40, motion=0.12, cycle=25.0, seed=seed)
        return Spoiled(made.movie, made.truth)
    return Spoiled(*read(Path(os.environ["DUNNO_DATA"]) / name, truth=True))


def rows_of(clean: Spoiled, share: float, seed: int) -> list[dict[str, Any]]:
    """A row for each way, but for the movie's name."""
    faults = FaultShares(missed=share, false=share, merged=share, split=share)
    spoiled = spoil(clean.movie, clean.truth, faults, seed) if share else clean
    judged, seconds = tracked(spoiled, Tracker(workers=1))
    trials = judged.about["calibration"]["evidence"]["trials"]
    spoke = [each["name"] for each in trials if each["joined"] and each["name"] != Masks.name]
    plain, other_seconds = tracked(spoiled, Tracker(workers=1, evidence=["places", *spoke], max_gap=0))
    about = {"share": share, "seed": seed}
    return [
        {**about, "way": JUDGED, **measured(judged, spoiled), "seconds": f"{seconds:.1f}"},
        {**about, "way": AS_THEY_ARE, **measured(plain, spoiled), "seconds": f"{other_seconds:.1f}"},
    ]


def tracked(spoiled: Spoiled, tracker: Tracker) -> tuple[Tracking, float]:
    """A tracking, and the seconds that a processor worked on it."""
    begun = time.process_time()
    return tracker.track(spoiled.movie), time.process_time() - begun


def measured(tracking: Tracking, spoiled: Spoiled) -> dict[str, Any]:
    """What is right, promised and found."""
    # a link past a missing mask is judged alike, whether or not it was looked for
    s = evaluation.score(replace(tracking, about=tracking.about.with_longest_gap(1)), spoiled.truth)
    assert s.divisions is not None
    return {
        "daughters_right": f"{s.daughter_accuracy:.4f}",
        "links_right": round(s.accuracy * s.n_links),
        "true_links": s.n_true_links,
        "divisions_f1": f"{s.divisions.f1:.4f}",
        "divisions_true": s.divisions.true,
        "divisions_expected": f"{s.divisions.expected:.1f}",
        "promised_wrong": f"{s.promised_wrong:.1f}",
        "found_wrong": s.found_wrong,
        "verdict": tracking.about["verdict"],
    }


def main() -> None:
    """Write the table row by row, and show it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--movie", default=None)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--shares", default="0,0.005,0.01,0.02,0.04")
    given = parser.parse_args()
    warnings.simplefilter("ignore", DunnoWarning)
    with given.output.open("w", newline="") as file:
        tables = [csv.DictWriter(each, COLUMNS, lineterminator="\n") for each in (file, sys.stdout)]
        for table in tables:
            table.writeheader()
        for seed in range(given.seeds):
            clean = movie_of(given.movie, seed)
            for share in map(float, given.shares.split(",")):
                for row in rows_of(clean, share, seed):
                    for table in tables:
                        table.writerow({"movie": given.movie or "colony", **row})
                file.flush()
                sys.stdout.flush()


if __name__ == "__main__":
    main()
