"""Who is who after two cells shared a mask: simulated colonies with joined masks, promised against found.

    python -m benchmarks.identities [--colonies 15] [--merged 0.04]

A Markdown row per range of probabilities: merged masks that two tracks run into and come out of, how many orders are promised to be
right, and how many are. Those of which a link is wrong already are counted apart.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

from dunno import Tracker
from dunno.errors import DunnoWarning
from dunno.simulate import FaultShares, colony, spoil
from dunno.tracking import Tracking
from dunno.types import Truth

MOTIONS = (0.15, 0.25, 0.35)
EDGES = (0.5, 0.7, 0.9, 0.99, 1.0)


def judged(tracking: Tracking, truth: Truth) -> tuple[list[bool], list[float], int]:
    """Whether each order is right, its probability, and how many cannot be judged."""
    found, cells = tracking.identities, tracking.cells
    owner = np.concatenate(truth.tracks)
    first = {track: row for row, track in reversed([*enumerate(cells.track.tolist())])}
    last = {track: row for row, track in enumerate(cells.track.tolist())}
    right: list[bool] = []
    promised: list[float] = []
    for before, after, p in zip(found.before, found.after, found.probability, strict=True):
        were, are = [owner[last[track]] for track in before], [owner[first[track]] for track in after]
        if set(were) == set(are):
            right.append(were == are)
            promised.append(float(p))
    return right, promised, len(found) - len(right)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--colonies", type=int, default=15)
    parser.add_argument("--merged", type=float, default=0.04)
    given = parser.parse_args()
    warnings.simplefilter("ignore", DunnoWarning)
    right, promised, odd = [], [], 0
    for seed in range(given.colonies):
        made = colony(cells=40, frames=30, motion=MOTIONS[seed % len(MOTIONS)], seed=seed, cycle=40.0)
        spoiled = spoil(made.movie, made.truth, FaultShares(merged=given.merged), seed=seed)
        found = judged(Tracker(evidence="places,masks", workers=1).track(spoiled.movie), spoiled.truth)
        right, promised, odd = [*right, *found[0]], [*promised, *found[1]], odd + found[2]
    print("| probability | merged masks | promised right | right |")
    print("|---|---|---|---|")
    bins = np.clip(np.digitize(promised, EDGES) - 1, 0, len(EDGES) - 2)
    for k in range(len(EDGES) - 1):
        own = bins == k
        print(
            f"| {EDGES[k]:g} – {EDGES[k + 1]:g} | {own.sum()} | {np.sum(promised, where=own):.1f} | {np.sum(right, where=own)} |"
        )
    print(f"| all | {len(right)} | {np.sum(promised):.1f} | {np.sum(right)} |")
    print(f"\n{odd} more have a wrong link.")


if __name__ == "__main__":
    main()
