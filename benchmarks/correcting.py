"""How far answers take a movie with real masks: divisions' F1 and wrong links after 0, 25, 50, 100 of them, the truth answering.

python -m benchmarks.correcting [MOVIE ...]      (needs DUNNO_DATA; without names iPSC-07 03 with its `_RES` masks)
python -m benchmarks.correcting --napari         through the napari widget (needs a screen: xvfb-run -a)

The annotation answers as a person would: where a mask holds no annotated cell, that it is no cell; where it holds two, so, with the
second one's mother; where the mother's mask is missing, the mother in the latest earlier frame that shows it; else mother or none.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from dunno import Movie, Tracker, evaluation, read
from dunno.errors import DecisionError
from dunno.review import Decision, Review
from dunno.review.desk import Desk
from dunno.review.export import reviewed_tracking
from dunno.runs.run import track_into
from dunno.truth import earlier_mothers, position, true_mothers
from dunno.types import Truth

STOPS = (0, 25, 50, 100)
Answering = Callable[[Review, int], None]
"""Answers so many questions of a review."""


def main() -> None:
    """Correct each movie in every way, and print a table."""
    if "DUNNO_DATA" not in os.environ:
        sys.exit("needs real movies: set DUNNO_DATA to a folder with iPSC-07")
    warnings.simplefilter("ignore")
    names = [name for name in sys.argv[1:] if not name.startswith("--")] or ["iPSC-07/03"]
    for name in names:
        correct(name, "--napari" in sys.argv)


def correct(name: str, napari: bool) -> None:
    """Track one movie with its `_RES` masks, and correct it on the page's engine and at random, or in napari."""
    path = Path(os.environ["DUNNO_DATA"]) / name
    movie, truth = read(path, masks=path.with_name(f"{path.name}_RES"), truth=True)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        track_into(Tracker(), movie, out)
        ways: dict[str, Callable[[Path], list[dict[str, Any]]]] = {
            "gain, page": lambda place: by_desk(place, movie, truth, "gain"),
            "entropy, page": lambda place: by_desk(place, movie, truth, "entropy"),
            "random": lambda place: at_random(place, movie, truth),
        }
        if napari:
            ways = {"gain, napari": lambda place: by_widget(place, movie, truth)}
        print(f"\n{name}, _RES masks: after {', '.join(map(str, STOPS))} answers")
        for way, correcting in ways.items():
            copy = Path(shutil.copytree(out, Path(folder) / "copy"))
            tell(way, correcting(copy))
            shutil.rmtree(copy)


def tell(way: str, found: list[dict[str, Any]]) -> None:
    """One row of the table."""
    figures = " | ".join(f"{each['f1']:.3f}, {each['wrong']}, {each['promised']:.0f}" for each in found)
    kinds = ", ".join(f"{count} {kind}" for kind, count in found[-1]["said"].items())
    print(f"{way:14} divisions' F1, found wrong, promised: {figures}   ({kinds})", flush=True)


def by_desk(folder: Path, movie: Movie, truth: Truth, order: Any) -> list[dict[str, Any]]:
    """Through the desk that the page asks."""
    with Review.open(folder, who="truth", movie=movie) as review:
        desk = Desk(review)
        desk.order = order

        def more(n: int) -> None:
            for _ in range(n):
                view = desk.ask()["view"]
                for decision in truthful(review, truth, view["pair"], view["label"]):
                    take(lambda said=decision: desk.answer(said))
                if review.unanswered[view["row"]]:  # refused: a person would go on
                    desk.answer(Decision("skip", view["frame"], view["label"]))

        return at_stops(review, truth, more)


def at_random(folder: Path, movie: Movie, truth: Truth) -> list[dict[str, Any]]:
    """Daughters drawn at random."""
    with Review.open(folder, who="truth", movie=movie) as review:
        rows = iter(np.random.default_rng(0).permutation(len(review.table)).tolist())

        def more(n: int) -> None:
            for _ in range(n):
                row = next(rows)
                t = review.table.pair_of(row)
                for decision in truthful(review, truth, t, int(review.table.label[row])):
                    take(lambda said=decision: review.answer(said))

        return at_stops(review, truth, more)


def by_widget(folder: Path, movie: Movie, truth: Truth) -> list[dict[str, Any]]:
    """Through napari's widget."""
    import napari
    from dunno.napari.review_widget import ReviewWidget

    viewer = napari.Viewer(show=True)
    widget = ReviewWidget(viewer, folder)
    viewer.window.add_dock_widget(widget, name="Review")
    widget.open()
    assert widget.desk is not None, widget.told.text()
    review = widget.desk.review

    def more(n: int) -> None:
        for _ in range(n):
            assert widget.view is not None
            row = widget.view["row"]
            for decision in truthful(review, truth, widget.view["pair"], widget.view["label"]):
                widget.decide(decision)
            if review.unanswered[row]:
                widget.skip()

    found = at_stops(review, truth, more)
    widget.close_review()
    viewer.close()
    return found


def take(answering: Callable[[], Any]) -> None:
    """A truth that contradicts itself (three daughters, say) is refused, and the person goes on."""
    try:
        answering()
    except DecisionError:
        return


def at_stops(review: Review, truth: Truth, more: Callable[[int], None]) -> list[dict[str, Any]]:
    """Score the reviewed tracking after each number of questions."""
    found: list[dict[str, Any]] = []
    asked = 0
    for stop in STOPS:
        more(stop - asked)
        asked = stop
        kinds = [answer.decision.kind for answer in review.standing]
        score = evaluation.score(reviewed_tracking(review), truth)
        found.append(
            {
                "f1": score.divisions.f1,
                "wrong": score.found_wrong,
                "promised": review.table.expected_wrong_links,
                "said": {kind: kinds.count(kind) for kind in sorted(set(kinds))},
            }
        )
    return found


def truthful(review: Review, truth: Truth, t: int, label: int) -> list[Decision]:
    """What somebody who knows the annotation says about a mask, the answer to the question last."""
    pair = review.original(t)
    true = true_mothers(truth, pair)
    j = int(np.searchsorted(pair.daughters.label, label))
    frame = pair.daughter_frame
    if not true.known[j]:
        return [Decision("no cell", frame, label)]
    said: list[Decision] = []
    besides = truth.held_besides(position(truth, frame))
    if j in besides[0]:
        second = true.also[0][true.also[1] == j].tolist()
        named = [int(pair.mothers.label[i]) for i in second if i != true.mother[j]]
        said.append(Decision("two cells", frame, label, named[0] if named else None))
    mother = int(true.mother[j])
    if mother >= 0:
        return [*said, Decision("mother", frame, label, int(pair.mothers.label[mother]))]
    earlier = earlier_mothers(truth, pair, true)
    if earlier.frame[j] >= 0:
        return [*said, Decision("mother", frame, label, int(earlier.label[j]), int(earlier.frame[j]))]
    return [*said, Decision("no mother", frame, label)]


if __name__ == "__main__":
    main()
