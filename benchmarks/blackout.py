"""Frames that lost many masks at once: links wrong and promised to be wrong, with a P(missed) per frame and with one for all.

    python -m benchmarks.blackout [--seeds 4] [--cells 60] [--frames 24] [--motion 0.35]

A Markdown row per blackout, over simulated colonies.
"""

from __future__ import annotations

import argparse
from unittest.mock import patch

import numpy as np

from benchmarks.stage import seen
from dunno import Movie, Tracker, evaluation
from dunno.simulate import colony
from dunno.types import Truth

BLACKOUTS = (((10,), 0.4), ((10,), 0.7), ((10, 11), 0.7), ((7, 8, 9), 0.6), ((10,), 1.0), ((10, 11), 1.0))


def darkened(frames: tuple[int, ...], share: float, seed: int, given: argparse.Namespace) -> tuple[Movie, Truth]:
    """A colony, and its truth, of which a share of the masks is gone in some frames."""
    made, rng = colony(given.cells, given.frames, given.motion, seed), np.random.default_rng(seed)
    masks = [np.array(made.movie.masks(t)) for t in range(given.frames)]
    for t in frames:
        labels = made.truth.labels[t]
        masks[t][np.isin(masks[t], labels[rng.random(len(labels)) < share])] = 0
    movie = Movie(masks)
    present = made.truth.present  # of cells without masks too, unlike those that left the picture
    truth = seen(movie, made.truth)
    return movie, type(truth)(**{**vars(truth), "present": present})


def counted(movies: list[tuple[Movie, Truth]]) -> str:
    """Links promised to be wrong, found to be, and all."""
    scores = [evaluation.score(Tracker(workers=1, repair=False).track(movie), truth) for movie, truth in movies]
    totals = np.sum([[each.promised_wrong, each.found_wrong, each.n_links] for each in scores], axis=0)
    return f"{totals[0]:.0f} | {totals[1]:.0f} | {totals[2]:.0f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--cells", type=int, default=60)
    parser.add_argument("--frames", type=int, default=24)
    parser.add_argument("--motion", type=float, default=0.35)
    given = parser.parse_args()
    print("| frames | share | promised wrong | found | links | one for all: promised | found | links |")
    print("|---|---|---|---|---|---|---|---|")
    for frames, share in BLACKOUTS:
        movies = [darkened(frames, share, seed, given) for seed in range(1, given.seeds + 1)]
        own = counted(movies)
        with patch("dunno.types.stretch.unseen_shares", lambda counts, linked: None):
            print(f"| {', '.join(map(str, frames))} | {share:g} | {own} | {counted(movies)} |", flush=True)


if __name__ == "__main__":
    main()
