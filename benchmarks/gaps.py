"""Missing masks: a movie with a share of its masks deleted at random, tracked with and without links across gaps.

    DUNNO_DATA=... python -m benchmarks.gaps [--movie Fluo-N2DL-HeLa/02] [--deleted 0.02] [--seeds 5] [--every 1] [--long]

A Markdown row per seed: daughters right (judged by the latest earlier frame that shows the cell), links across gaps made, right and
true, promised and found wrong links, mean track, and processor seconds. `--deleted 0` is the movie as it is; with
`--long`, masks are missing for 1 to 5 frames in a row.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np

from dunno import Movie, Tracker, evaluation, read
from dunno.errors import DunnoWarning
from dunno.simulate import FaultShares, spoil
from dunno.truth import earlier_mothers, true_mothers
from dunno.types import PairPosterior, Truth

HEADER = "| seed | max gap | daughters right | gap links right / made / true | promised / found | mean track | s |"


def with_deletions(movie: Movie, truth: Truth, share: float, seed: int) -> tuple[Movie, Truth]:
    """The movie with a share of its masks deleted, and its truth."""
    rng = np.random.default_rng(seed)
    frames, labels, tracks = [], [], []
    for t in range(len(movie)):
        masks = np.array(movie.masks(t))
        keep = rng.random(len(truth.labels[t])) >= share
        masks[np.isin(masks, truth.labels[t][~keep])] = 0
        frames.append(masks)
        labels.append(truth.labels[t][keep])
        tracks.append(truth.tracks[t][keep])
    return Movie(frames), replace(truth, labels=tuple(labels), tracks=tuple(tracks))


def _damaged(movie: Movie, truth: Truth, share: float, seed: int, long: bool) -> tuple[Movie, Truth]:
    if not share:
        return movie, truth
    if not long:
        return with_deletions(movie, truth, share, seed)
    spoiled = spoil(movie, truth, FaultShares(missed=share), seed)
    return spoiled.movie, spoiled.truth


def row(movie: Movie, truth: Truth, max_gap: int | None, seed: int) -> str:
    """Track, and judge with gaps in either case."""
    begun = time.process_time()
    tracking = Tracker(workers=1, max_gap=max_gap).track(movie)
    seconds = time.process_time() - begun
    s = evaluation.score(replace(tracking, about=tracking.about.with_longest_gap(1)), truth)
    made = int((tracking.edges.selected & (tracking.edges.gap > 0)).sum())
    right = sum(_right(pair, truth) for pair in tracking.pairs)
    lengths = [track.last - track.first + 1 for track in tracking.tracks()]
    found = tracking.about["calibration"]["max_gap"]
    return (
        f"| {seed} | {found} | {s.daughter_accuracy:.4f} | {right} / {made} / {s.counts['true_gap_links']} | "
        f"{s.promised_wrong:.0f} / {s.found_wrong} | {np.mean(lengths):.1f} | {seconds:.1f} |"
    )


def _right(pair: PairPosterior, truth: Truth) -> int:
    """How many of a pair's links across gaps are right."""
    earlier = earlier_mothers(truth, pair, true_mothers(truth, pair))
    cells, links = pair.block.cells, pair.earlier.selected
    mother, daughter = pair.earlier.mother[links], pair.earlier.daughter[links]
    hit = (cells.frame[mother] == earlier.frame[daughter]) & (cells.label[mother] == earlier.label[daughter])
    return int(hit.sum())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--movie", default="Fluo-N2DL-HeLa/02")
    parser.add_argument("--deleted", type=float, default=0.02)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--long", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore", DunnoWarning)
    movie, truth = read(Path(os.environ["DUNNO_DATA"]) / given.movie, truth=True)
    movie, truth = movie.every(given.every), truth.every(given.every)
    print(HEADER)
    print("|" + "---|" * (HEADER.count("|") - 1))
    for seed in range(given.seeds):
        damaged = _damaged(movie, truth, given.deleted, seed, given.long)
        for max_gap in (0, None):
            print(row(*damaged, max_gap, seed), flush=True)


if __name__ == "__main__":
    main()
