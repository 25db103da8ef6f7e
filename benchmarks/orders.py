"""Which order of questions mends most: links found wrong after 0, 25, 50, 100 answers on several movies, the truth answering.

python -m benchmarks.orders [NAME:EVERY[:_RES] ...] [--only=ORDER]        (needs DUNNO_DATA)
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

from benchmarks.correcting import STOPS, at_stops, take, truthful
from dunno import Movie, Tracker, read
from dunno.review import Review
from dunno.runs.run import track_into
from dunno.types import Bools, Truth

MOVIES = ("Fluo-N2DL-HeLa/02:10", "PhC-C2DL-PSC/01:5", "iPSC-07/03:1:_RES")
Pick = Callable[[Review, Bools, int | None], int]
"""The row to ask about, among the open ones, after the one that was answered last."""


ORDERS: dict[str, Pick] = {
    "gain": lambda review, rows, before: review.queue.best(rows, "gain")[0],
    "gain, near ones together": lambda review, rows, before: review.queue.best_near(rows, "gain", before)[0],
    "entropy": lambda review, rows, before: review.queue.best(rows, "entropy")[0],
    "least certain link": lambda review, rows, before: review.queue.best(rows, "links")[0],
}


def main() -> None:
    """Each movie in each order."""
    if "DUNNO_DATA" not in os.environ:
        sys.exit("needs real movies: set DUNNO_DATA to their folder")
    warnings.simplefilter("ignore")
    only = [each.removeprefix("--only=") for each in sys.argv[1:] if each.startswith("--only=")] or list(ORDERS)
    for asked in [each for each in sys.argv[1:] if not each.startswith("--")] or MOVIES:
        name, every, *masks = asked.split(":")
        path = Path(os.environ["DUNNO_DATA"]) / name
        chosen = {"masks": path.with_name(path.name + masks[0])} if masks else {}
        movie, truth = read(path, truth=True, **chosen)
        compare(asked, movie.every(int(every)), truth.every(int(every)), only)


def compare(name: str, movie: Movie, truth: Truth, only: list[str]) -> None:
    """Review one movie in each of these orders."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        track_into(Tracker(), movie, out)
        print(f"\n{name}: links found wrong, and divisions' F1, after {', '.join(map(str, STOPS))} answers", flush=True)
        for order, pick in ((order, ORDERS[order]) for order in only):
            copy = Path(shutil.copytree(out, Path(folder) / "copy"))
            found = in_order(copy, movie, truth, pick)
            told = " | ".join(f"{each['wrong']}, {each['f1']:.3f}" for each in found)
            print(f"{order:26} {told}", flush=True)
            shutil.rmtree(copy)


def in_order(folder: Path, movie: Movie, truth: Truth, pick: Pick) -> list[dict[str, Any]]:
    """Answer questions in one order, without an audit."""
    with Review.open(folder, who="truth", movie=movie) as review:
        last: list[int] = []

        def more(n: int) -> None:
            for _ in range(n):
                rows = review.unanswered
                rows[last] = False  # also where the truth contradicts itself, and the answer was refused
                row = pick(review, rows, last[-1] if last else None)
                last.append(row)
                t = review.table.pair_of(row)
                for decision in truthful(review, truth, t, int(review.table.label[row])):
                    take(lambda said=decision: review.answer(said))

        return at_stops(review, truth, more)


if __name__ == "__main__":
    main()
