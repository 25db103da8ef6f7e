"""Are surroundings enough? What follows from statements about masks near them, beside the same in the whole movie.

    DUNNO_DATA=… python -m benchmarks.surroundings OUT [--statements 12]

OUT is an output of `dunno track` with repaired masks. Masks drawn at random are said to hold two cells, or, where they were cut, to
be as they were given. For each: how long the answer takes (processor time; the second answer at a place finds its frames read), how
many objects change p_segment by more than .05 by it in the whole movie, how many of these change in the surroundings, too, and by
how much the two differ on average, among those of them that may change there.
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from pathlib import Path

import numpy as np

from dunno.errors import DecisionError
from dunno.review import Decision, Review
from dunno.review.nearby_segments import NearbySegments, Surroundings
from dunno.review.resolving import ResolvedBlocks
from dunno.segments.regions import UNCUT

FOLLOWS = 0.05


def main() -> None:
    """Print a line for each statement, and the sums."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path)
    parser.add_argument("--statements", type=int, default=12)
    asked = parser.parse_args()
    rows = []
    with Review.open(asked.output, read_only=True) as review:
        resolved = review.resolved
        assert resolved is not None
        for decision in drawn(review, resolved, asked.statements):
            try:
                rows.append(compared(review, resolved, decision))
            except DecisionError as refused:
                print(f"{decision.kind}, frame {decision.frame}: {refused}")
                continue
            print(
                f"{decision.kind:10} frame {decision.frame:3}: " + "  ".join(f"{each:.3g}" for each in rows[-1]),
                flush=True,
            )
    seconds, again, whole, both, apart = np.array(rows).T
    print(
        f"seconds of an answer: median {np.median(seconds):.2f}, most {seconds.max():.2f}; again {np.median(again):.2f}"
    )
    print(f"objects that change in the whole movie: {whole.sum():.0f}; in the surroundings, too: {both.sum():.0f}")
    print(f"difference: median {np.median(apart):.3f}, nine in ten below {np.quantile(apart, 0.9):.3f}")


def drawn(review: Review, resolved: ResolvedBlocks, n: int) -> list[Decision]:
    """Statements about masks, every second one about one that was cut."""
    rng, found = np.random.default_rng(0), []
    cut = [(t, mask) for t, masks in resolved.given.repairs.items() for mask, made in masks.items() if len(made) > 1]
    for k in range(n):
        if k % 2 and cut:
            t, mask = cut[int(rng.integers(len(cut)))]
            found.append(Decision("as given", int(resolved.frames[t]), mask))
            continue
        t = int(rng.integers(len(resolved.frames)))
        whole = [label for region, label in resolved.regions(t) if region.number == UNCUT and region.other < 0]
        large = resolved.given.model.seen.into(resolved.given.frame(t).cells.area)
        labels = [each for each in whole if large[resolved.given.row(t, each)] > 1]
        found.append(Decision("two cells", int(resolved.frames[t]), int(rng.choice(labels))))
    return found


def compared(review: Review, resolved: ResolvedBlocks, decision: Decision) -> list[float]:
    """Seconds, seconds again, objects that follow in the whole movie, and in the surroundings, and the mean difference."""
    seconds = []
    for _ in range(2):
        start = time.process_time()
        resolved.tried([decision])
        seconds.append(time.process_time() - start)
    n = len(resolved.frames)
    block = resolved.part(range(review.table.n_pairs))
    changes = []
    for around in (_last_surroundings(resolved, decision), Surroundings(range(n), range(n), ())):
        nearby = NearbySegments.of(resolved.given, around, block, [decision], resolved.masks_of)
        before, after = (_by_segment(nearby, nearby.solve(partial(nearby.clamps, said))) for said in ([], [decision]))
        changes.append((before, after, _changeable(nearby)))
    (old, new, inside), (whole_old, whole_new, _) = changes
    followed = {each for each in whole_new if abs(whole_new[each] - whole_old.get(each, 0.0)) > FOLLOWS}
    too = {each for each in followed if abs(new.get(each, 0.0) - old.get(each, 0.0)) > FOLLOWS}
    apart = [abs(new[each] - whole_new[each]) for each in inside & followed & new.keys()]
    return [*seconds, float(len(followed)), float(len(too)), float(np.mean(apart)) if apart else 0.0]


def _last_surroundings(resolved: ResolvedBlocks, decision: Decision) -> Surroundings:
    """Those in which an answer is solved in the end."""
    made: list[Surroundings] = []
    original = NearbySegments.of

    def noted(given: object, around: Surroundings, *rest: object) -> NearbySegments:
        made.append(around)
        return original(given, around, *rest)  # type: ignore[arg-type]

    NearbySegments.of = noted  # type: ignore[method-assign, assignment]
    try:
        resolved.tried([decision])
    finally:
        NearbySegments.of = original  # type: ignore[method-assign]
    return made[-1]


def _by_segment(nearby: NearbySegments, seen: object) -> dict[tuple[int, ...], float]:
    """p_segment of all that may be an object, by frame, masks and part."""
    structure, posterior = seen.structure, seen.posterior  # type: ignore[attr-defined]
    segments, holdings = nearby.table.segments, structure.holdings
    p = np.bincount(holdings.segment, posterior.state[holdings.state], len(segments.frame))
    rows = np.array([*nearby._given_rows, -1])
    names = zip(
        (segments.frame + nearby.around.frames.start).tolist(),
        rows[segments.masks[:, 0]].tolist(),
        rows[segments.masks[:, 1]].tolist(),
        nearby.table.number.tolist(),
        strict=True,
    )
    return dict(zip(names, p.tolist(), strict=True))


def _changeable(nearby: NearbySegments) -> set[tuple[int, ...]]:
    """The objects of masks that may be cut and joined."""
    rows, frame = nearby._given_rows, nearby.table.segments.frame
    start = nearby.around.frames.start
    return {(start + int(frame[mask]), rows[mask], -1, UNCUT) for mask in np.flatnonzero(nearby.free)}


if __name__ == "__main__":
    main()
