"""Does a cell go on as it went? How much of its squared motion the step before foretells, on annotated movies.

    DUNNO_DATA=... python -m benchmarks.persistence [--movies NAME,...] [--every 1,5,10]

A Markdown row per movie and frame step: the share of squared displacements that the best multiple of the step before takes away,
as they are, and beyond what the cells around a cell foretell (the term `flow`).
"""

from __future__ import annotations

import argparse
import os
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np

from benchmarks.skipping import MOVIES
from dunno import Movie, read
from dunno.errors import DunnoWarning
from dunno.terms.flow import FLOW_NEIGHBOURS, local_field
from dunno.types import Truth
from dunno.types.neighbours import nearest_others

Steps = dict[int, np.ndarray]
"""By track, its displacement from one frame to the next."""


def steps_between(movie: Movie, truth: Truth, t: int) -> tuple[Steps, Steps]:
    """Displacements of the tracks that are in both frames, and what is left of them beyond the flow of the cells around."""
    places = []
    for each in (t, t + 1):
        cells, order = movie.detections(each), np.argsort(movie.detections(each).label)
        rows = order[np.searchsorted(cells.label[order], truth.labels[each])]
        places.append(dict(zip(truth.tracks[each].tolist(), cells.centroid[rows], strict=True)))
    tracks = [track for track in places[0] if track in places[1] and track > 0]
    if not tracks:
        return {}, {}
    here = np.array([places[0][track] for track in tracks])
    moved = np.array([places[1][track] for track in tracks]) - here
    near = nearest_others(here, np.array([0, len(tracks)]), FLOW_NEIGHBOURS)
    rest = moved - local_field(here, near, np.ones(len(tracks)), moved)
    return dict(zip(tracks, moved, strict=True)), dict(zip(tracks, rest, strict=True))


def saved(steps: list[Steps]) -> float:
    """Share of squared motion that the best multiple of the step before takes away."""
    both = [(a[track], b[track]) for a, b in pairwise(steps) for track in a if track in b]
    if not both:
        return float("nan")
    before, after = (np.array(each) for each in zip(*both, strict=True))
    return float((before * after).sum() ** 2 / ((before**2).sum() * (after**2).sum()))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", default="1,5,10")
    parser.add_argument("--movies", default=",".join(MOVIES))
    given = parser.parse_args()
    warnings.simplefilter("ignore", DunnoWarning)
    print("| movie | every | foretold by the step before | the same beyond flow |\n|---|---|---|---|")
    for name in given.movies.split(","):
        movie, truth = read(Path(os.environ["DUNNO_DATA"]) / MOVIES[name][0], truth=True)
        for step in map(int, given.every.split(",")):
            view, true = movie.every(step), truth.every(step)
            steps = [steps_between(view, true, t) for t in range(len(view) - 1)]
            plain, rest = (saved([each[k] for each in steps]) for k in (0, 1))
            print(f"| {name} | {step} | {plain:.2f} | {rest:.2f} |", flush=True)


if __name__ == "__main__":
    main()
