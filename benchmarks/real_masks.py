"""A real program's masks, with the annotation of the same movies: divisions reported, right and expected.

    DUNNO_DATA=... python -m benchmarks.real_masks [--sequences 01,02,03] [--annotated] [--evidence auto] [--max-gap N]

A Markdown row per sequence of iPSC-07. `--annotated` takes the annotation's own masks instead.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from pathlib import Path

from dunno import Tracker, evaluation, read
from dunno.errors import DunnoWarning

HEADER = (
    "| sequence | max gap | evidence | divisions right / reported / true | F1 | Σ P(divide) | links right / made / true | "
    "promised / found | s |"
)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sequences", default="01,02,03")
    parser.add_argument("--annotated", action="store_true")
    parser.add_argument("--evidence", default="auto")
    parser.add_argument("--max-gap", type=int, default=None)
    given = parser.parse_args()
    warnings.simplefilter("ignore", DunnoWarning)
    data = Path(os.environ["DUNNO_DATA"]) / "iPSC-07"
    print(HEADER)
    print("|" + "---|" * (HEADER.count("|") - 1))
    for name in given.sequences.split(","):
        masks = None if given.annotated else data / f"{name}_RES"
        movie, truth = read(data / name, masks=masks, truth=True)
        begun = time.process_time()
        tracking = Tracker(workers=1, evidence=given.evidence, max_gap=given.max_gap).track(movie)
        seconds = time.process_time() - begun
        s = evaluation.score(tracking, truth)
        d = s.divisions
        assert d is not None
        about = tracking.about["calibration"]
        spoke = [t["name"] for t in about["evidence"]["trials"] if t["joined"]]
        right = round(s.accuracy * s.n_links)
        print(
            f"| {name} | {about['max_gap']} | {', '.join(spoke) or given.evidence} | "
            f"{d.right} / {d.reported} / {d.true} | {d.f1:.2f} | {d.expected:.0f} | "
            f"{right} / {s.n_links} / {s.n_true_links} | {s.promised_wrong:.0f} / {s.found_wrong} | {seconds:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
