"""When masks are judged: what skipping frames says, and which share of the masks holds none or two by the fitted model.

    DUNNO_DATA=... python -m benchmarks.mask_shares [--steps 1,2,3] [--seeds 3] [--colonies 3]

The model of masks is fitted to every movie, also where tracking would not; `LEAST_SPOILED` in `tracking/judging.py` was settled by
these shares. The shared movies with their annotation's own masks at every 1st, 2nd and 3rd frame, iPSC-07 with a real program's
masks, spoiled HeLa 02 (as in `benchmarks.spoiled`), and simulated colonies clean, with missing masks only, and with 1 % of each
fault. A Markdown row per movie: how many more divisions all frames see than the skipped ones, the share, and what tracking does.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks import spoiled
from dunno import Movie, Tracker, read
from dunno.calibration.verdict import SkipTest
from dunno.errors import DunnoWarning
from dunno.models import Fit
from dunno.simulate import FaultShares, colony, spoil
from dunno.tracking import self_calibration
from dunno.tracking.judging import are_suspect, judged_masks, share_spoiled

CLEAN = (
    "Fluo-N2DL-HeLa/01",
    "Fluo-N2DL-HeLa/02",
    "PhC-C2DL-PSC/01",
    "iPSC-07/01",
    "iPSC-07/02",
    "iPSC-07/03",
    "Cglut-2min/01",
)
COLONY_FAULTS = {
    "clean": FaultShares(),
    "2 % missing": FaultShares(missed=0.02),
    "1 % of each fault": FaultShares(missed=0.01, false=0.01, merged=0.01, split=0.01),
}
HEADER = "| movie | masks | every | more divisions than skipped frames have | missing | masks that hold none or two | judged | s |"


class Told(Exception):
    """No error: the fit has said what is asked for."""


class Listener:
    """Stands where tracking decides, lets the model be fitted in any case, and keeps what was said."""

    test: SkipTest | None = None
    wanted: bool = False
    missing: float = 0.0
    share: float = float("nan")
    kept: bool = False

    def are_suspect(self, test: SkipTest | None, fit: Fit) -> bool:
        """What skipping frames says, and how many masks are missing."""
        self.test, self.wanted = test, are_suspect(test, fit)
        self.missing = float(np.mean(fit.model.value("p_missed"))) if fit.model.has("missed") else 0.0
        return True

    def judged_masks(self, *given: Any, **more: Any) -> None:
        """What the model says."""
        judged = judged_masks(*given, **more)
        self.share, self.kept = share_spoiled(judged.solution), judged.are_spoiled
        raise Told

    @property
    def excess(self) -> str:
        """How many more divisions are seen."""
        test = self.test
        if test is None or not test.divisions:
            return "no division"
        return f"{test.divisions_between / test.divisions - 1:+.1%} of {test.divisions:.0f}"


def movies(steps: Sequence[int], seeds: int, colonies: int) -> Iterator[tuple[str, str, int, Callable[[], Movie]]]:
    """Name, masks, step, and how to open each movie."""
    data = Path(os.environ["DUNNO_DATA"])
    for name in CLEAN:
        for step in steps:
            yield name, "annotation", step, lambda name=name, step=step: read(data / name).every(step)
    for name in ("01", "02", "03"):
        yield (
            f"iPSC-07/{name}", "a program", 1,
            lambda name=name: read(data / "iPSC-07" / name, masks=data / "iPSC-07" / f"{name}_RES"),
        )  # fmt: skip
    for seed in range(seeds):
        yield f"HeLa 02, seed {seed}", "spoiled", 1, lambda seed=seed: spoiled_hela(data, seed)
    for kind, faults in COLONY_FAULTS.items():
        for seed in range(colonies):
            yield f"colony {seed}", kind, 1, lambda faults=faults, seed=seed: spoiled_colony(faults, seed)


def spoiled_hela(data: Path, seed: int) -> Movie:
    """HeLa 02 with faults."""
    return spoil(*read(data / "Fluo-N2DL-HeLa" / "02", truth=True), spoiled.FAULTS["usual"], seed).movie


def spoiled_colony(faults: FaultShares, seed: int) -> Movie:
    """A simulated one."""
    made = colony(cells=60, frames=40, motion=0.12, cycle=25.0, seed=seed)
    return spoil(made.movie, made.truth, faults, seed).movie if faults else made.movie


def heard(movie: Movie) -> Listener:
    """Fit the model of masks to a movie, just as tracking does."""
    listener = Listener()
    with (
        patch.object(self_calibration, "are_suspect", listener.are_suspect),
        patch.object(self_calibration, "judged_masks", listener.judged_masks),
    ):
        try:
            Tracker(workers=1).plan(movie)
        except Told:
            pass
    return listener


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", default="1,2,3")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--colonies", type=int, default=3)
    given = parser.parse_args()
    warnings.simplefilter("ignore", DunnoWarning)
    print(HEADER)
    print("|" + "---|" * (HEADER.count("|") - 1))
    steps = [int(each) for each in given.steps.split(",")]
    for name, masks, step, opened in movies(steps, given.seeds, given.colonies):
        begun = time.process_time()
        said = heard(opened())
        seconds = time.process_time() - begun
        judged = "no" if not said.wanted else "yes" if said.kept else "fitted, not kept"
        print(
            f"| {name} | {masks} | {step} | {said.excess} | {said.missing:.4f} | {said.share:.4f} | {judged} | {seconds:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
