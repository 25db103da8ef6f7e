"""How far answers take a colony whose self-calibration was refused: `dunno track --from-review` after 50, 100, 200 of them.

python -m benchmarks.learning [SEED ...]         (seeds 0 and 1 without names)

The page's desk asks, the truth answers, and the colony is tracked anew with what was learnt; the answers themselves are not put in.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

from benchmarks.correcting import take, truthful
from dunno import Movie, Tracker, evaluation, read
from dunno.review import Decision, Review
from dunno.review.desk import Desk
from dunno.review.learning import learn
from dunno.runs.run import track_into
from dunno.simulate import colony
from dunno.tracking import Tracking
from dunno.types import Truth

STOPS = (50, 100, 200)
REFUSED: dict[str, dict[str, float]] = {
    "masks that cover each other (motion .3, crowding 0)": {"motion": 0.3, "crowding": 0.0},
    "fast (motion .6, crowding .7)": {"motion": 0.6, "crowding": 0.7},
}
"""Colonies of which self-calibration says "untested", and "contradicted"."""


def main() -> None:
    """Each colony with each seed."""
    warnings.simplefilter("ignore")
    for name, choices in REFUSED.items():
        for seed in [int(each) for each in sys.argv[1:]] or [0, 1]:
            with tempfile.TemporaryDirectory() as folder:
                teach(name, seed, choices, Path(folder))


def teach(name: str, seed: int, choices: dict[str, Any], folder: Path) -> None:
    """Track, answer, learn, and track again."""
    made = colony(cells=40, frames=25, cycle=30, seed=seed, **choices)
    made.save(folder / "01")
    movie = read(folder / "01", masks=folder / "01_GT" / "TRA")
    track_into(Tracker(), movie, folder / "out")
    before = Tracking.read(folder / "out")
    print(f"\n{name}, seed {seed}: {before.about['verdict']}: {before.about['reason']}")
    tell("before", before, made.truth)
    with Review.open(folder / "out", who="truth", movie=movie) as review:
        desk = Desk(review)
        for asked, stop in zip((0, *STOPS), STOPS, strict=False):
            answer(desk, made.truth, stop - asked)
            learnt = learn(review).calibration
            tell(f"{stop} answers", tracked_again(learnt, movie, before), made.truth)


def answer(desk: Desk, truth: Truth, n: int) -> None:
    """Answer so many questions with the truth."""
    for _ in range(n):
        view = desk.ask()["view"]
        for decision in truthful(desk.review, truth, view["pair"], view["label"]):
            take(lambda said=decision: desk.answer(said))
        if desk.review.unanswered[view["row"]]:  # refused: a person would go on
            desk.answer(Decision("skip", view["frame"], view["label"]))


def tracked_again(calibration: Any, movie: Movie, before: Tracking) -> Tracking:
    """As `dunno track --from-review` does, within the same gate."""
    return Tracker(calibration=calibration, max_distance=before.about["max_distance"]).track(movie)


def tell(when: str, tracking: Tracking, truth: Truth) -> None:
    """One row of the table."""
    score, fitted = evaluation.score(tracking, truth), tracking.about["calibration"]
    links = f"promised {score.promised_wrong:.0f}, found {score.found_wrong}"
    print(
        f"{when:11} ECE {score.ece:.4f} (floor {score.ece_floor:.4f})  -log P {score.nll:.3f}  {links}  "
        f"tau {fitted['tempering']:.2f}, epsilon {fitted['unknown']:.4f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
