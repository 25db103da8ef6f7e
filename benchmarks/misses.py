"""JP self, one choice changed at a time, where the benchmark finds another row better calibrated.

    DUNNO_DATA=... python -m benchmarks.misses [DATASET:STEP ...]

Other evidence than places, and links across missing masks, are what could be missing; the default decides on both by itself.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dunno.benchmark.datasets import find_datasets
from dunno.errors import DunnoWarning
from dunno.evaluation import score
from dunno.evaluation.calibration_error import BINS
from dunno.tracking.tracker import Tracker

PLACES = (
    *("DIC-C2DH-HeLa:10", "BF-C2DL-MuSC:30", "Cglut-2min:50", "PhC-C2DL-PSC:50"),
    *("BF-C2DL-HSC:10", "BF-C2DL-HSC:30", "BF-C2DL-HSC:50", "iPSC-07:10"),
)
CHOICES: dict[str, dict[str, Any]] = {
    "default": {},
    "places alone": {"evidence": ("places",)},
    "no gaps": {"max_gap": 0},
    "gaps of two": {"max_gap": 2},
}


def lines(folder: Path, step: int) -> Iterator[str]:
    """A line per evaluated part: the calibration error, and found over promised wrong links, with each choice."""
    (dataset,) = find_datasets(folder)
    for part in (each.every(step) for each in dataset.parts()[1:]):
        told = []
        for choice in CHOICES.values():
            found = score(Tracker(workers=1, **choice).track(part.movie), part.truth, n_bins=BINS)
            told.append(f"{found.ece:.3f}, {found.found_wrong} / {found.promised_wrong:.1f}")
        yield f"| {dataset.name} {part.sequence} | {step} | {' | '.join(told)} |"


def main() -> None:
    """Measure and print."""
    warnings.simplefilter("ignore", DunnoWarning)
    print(f"| data | every | {' | '.join(CHOICES)} |\n|{'---|' * (2 + len(CHOICES))}")
    for place in sys.argv[1:] or PLACES:
        name, step = place.split(":")
        for line in lines(Path(os.environ["DUNNO_DATA"]) / name, int(step)):
            print(line, flush=True)


if __name__ == "__main__":
    main()
