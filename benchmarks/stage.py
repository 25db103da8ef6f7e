"""What a stage that jumps costs: annotated movies in which the picture is moved now and then.

    DUNNO_DATA=... python -m benchmarks.stage [--movies NAME,...] [--every 1,5,10] [--jumps 4] [--farthest 60]

A Markdown row per movie and frame step: daughters right as recorded, with jumps, and with jumps that nobody looks for.
"""

from __future__ import annotations

import argparse
import os
import warnings
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np

from benchmarks.skipping import MOVIES
from dunno import Movie, Tracker, evaluation, read
from dunno.errors import DunnoWarning
from dunno.types import Truth

LOOKED_FROM = ("dunno.types.pairs", "dunno.tracking.gate", "dunno.tracking.sampling")


def with_jumps(movie: Movie, jumps: int, farthest: float, seed: int = 0) -> Movie:
    """The movie as a stage that jumps would have recorded it: from each jump on, masks are moved; what leaves is gone."""
    rng = np.random.default_rng(seed)
    when = np.linspace(0, len(movie), jumps + 2).astype(int)[1:-1].tolist()
    travel = np.zeros((len(movie), 2), np.int64)
    for t in when:
        angle = rng.uniform(0, 2 * np.pi)
        way = rng.uniform(0.5, 1.0) * farthest * np.array([np.sin(angle), np.cos(angle)])
        travel[t:] += way.astype(np.int64) * (1 if np.abs(travel[t] + way).max() < farthest else -1)
    return Movie([_moved(np.asarray(movie.masks(t)), travel[t]) for t in range(len(movie))])


def _moved(masks: np.ndarray, way: np.ndarray) -> np.ndarray:
    moved = np.zeros_like(masks)
    here = tuple(slice(max(w, 0), side + min(w, 0)) for w, side in zip(way.tolist(), masks.shape, strict=True))
    there = tuple(slice(max(-w, 0), side + min(-w, 0)) for w, side in zip(way.tolist(), masks.shape, strict=True))
    moved[here] = masks[there]
    return moved


def seen(movie: Movie, truth: Truth) -> Truth:
    """The truth of the cells that are still in the picture."""
    labels, tracks, present = [], [], []
    for t in range(len(movie)):
        kept = np.isin(truth.labels[t], movie.detections(t).label)
        labels.append(truth.labels[t][kept])
        tracks.append(truth.tracks[t][kept])
        present.append(np.intersect1d(truth.present[t], tracks[-1]))
    return replace(truth, labels=tuple(labels), tracks=tuple(tracks), present=tuple(present), others=())


def right(movie: Movie, truth: Truth) -> float:
    """Share of daughters right, with the defaults."""
    return evaluation.score(Tracker(workers=1).track(movie), truth).daughter_accuracy


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", default="1,5,10")
    parser.add_argument("--movies", default="HeLa 02,PSC 01")
    parser.add_argument("--jumps", type=int, default=4)
    parser.add_argument("--farthest", type=float, default=60.0)
    given = parser.parse_args()
    warnings.simplefilter("ignore", DunnoWarning)
    print("| movie | every | as recorded | jumps, not looked for | jumps |\n|---|---|---|---|---|")
    for name in given.movies.split(","):
        movie, truth = read(Path(os.environ["DUNNO_DATA"]) / MOVIES[name][0], truth=True)
        still = Movie([movie.masks(t) for t in range(len(movie))])
        jumping = with_jumps(still, given.jumps, given.farthest)
        shown = seen(jumping, truth)
        for step in map(int, given.every.split(",")):
            scores = [right(still.every(step), truth.every(step))]
            blind = [patch(f"{room}.stage_between", lambda *places: None) for room in LOOKED_FROM]
            for each in blind:
                each.start()
            scores.append(right(jumping.every(step), shown.every(step)))
            for each in blind:
                each.stop()
            scores.append(right(jumping.every(step), shown.every(step)))
            print(f"| {name} | {step} | " + " | ".join(f"{score:.4f}" for score in scores) + " |", flush=True)


if __name__ == "__main__":
    main()
