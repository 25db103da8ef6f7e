"""What a default run of a short movie costs beyond imports, and what its parts cost on HeLa 02; processor seconds, one worker.

    [DUNNO_DATA=...] python -m benchmarks.short

150 frames of 100 cells on a lattice, the colony of `make demo` (40 frames, drawn while they are read), and with real movies the
stages of SM and of the default on HeLa 02, its GEFF and its report.
"""

from __future__ import annotations

import os
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import tifffile  # noqa: F401  (imported before the clock runs)

from benchmarks.crowd import Crowd
from dunno import Movie, Tracker, read
from dunno.errors import DunnoWarning
from dunno.report import write_report
from dunno.runs import run
from dunno.runs.run import track_into
from dunno.simulate import colony

STAGES = {"_measured": "measuring", "_plan": "plan and fit", "_track": "tracking and writing"}


def seconds(work: Callable[[], Any]) -> float:
    """Processor time of one call."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def timed(name: str, found: dict[str, float]) -> None:
    """Count what a stage of a run costs."""
    function = getattr(run, name)

    @wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        begun = time.process_time()
        try:
            return function(*given, **named)
        finally:
            found[STAGES[name]] = time.process_time() - begun

    setattr(run, name, call)


def main() -> None:
    """Print them."""
    warnings.simplefilter("ignore", DunnoWarning)
    found: dict[str, float] = {}
    for name in STAGES:
        timed(name, found)
    with tempfile.TemporaryDirectory() as folder:
        for what, movie in (("lattice, 150 × 100 cells", Movie(Crowd(100, 150))), ("demo", colony(motion=0.2).movie)):
            out = Path(folder) / what[:4]
            took = seconds(lambda out=out, movie=movie: track_into(Tracker(workers=1), movie, out))  # type: ignore[misc]
            print(f"{what}: {took:.2f} s", {stage: round(each, 2) for stage, each in found.items()})
        if "DUNNO_DATA" not in os.environ:
            return
        movie = read(Path(os.environ["DUNNO_DATA"]) / "Fluo-N2DL-HeLa" / "02")
        for tracker in (Tracker(workers=1, method="SM", max_distance=30.0), Tracker(workers=1)):
            out = Path(folder) / tracker.method.name
            took = seconds(lambda out=out, tracker=tracker: track_into(tracker, movie, out))  # type: ignore[misc]
            stages = {stage: round(each, 2) for stage, each in found.items()}
            print(f"HeLa 02, {tracker.method.name}: {took:.2f} s", stages)
        print(f"its report: {seconds(lambda: write_report(out)):.2f} s")
        tracking = Tracker(workers=1, calibration=None, max_distance=30.0).track(movie)
        print(f"its GEFF: {seconds(lambda: tracking.to_geff(Path(folder) / 'a.geff')):.2f} s")


if __name__ == "__main__":
    main()
