"""Blocks with frames that cannot be read: the frames are left out, and the rest is tracked."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from dunno.errors import MovieError
from dunno.tracking.blocks import Block
from dunno.tracking.plan import Plan
from dunno.tracking.tracker import track_block
from dunno.types import BrokenFrame, PairPosterior


@dataclass(frozen=True, eq=False)
class TrackedBlock:
    """A block's posteriors, and those of its frames that could not be read."""

    pairs: list[PairPosterior]
    broken: list[BrokenFrame]


def track_what_can_be(plan: Plan, block: Block) -> TrackedBlock:
    """Track a block; a frame that cannot be read has no cells, and what would follow from that is undefined.

    Whether cells before such a frame disappeared, and those after it appeared, nobody knows: these probabilities are NaN, which
    the exports write as missing.
    """
    try:
        return TrackedBlock(track_block(plan, block), [])
    except MovieError:
        broken = find_broken(block)
        if not broken:
            raise
        rest = replace(block, movie=block.movie.blanked(broken))
        frames = {int(block.movie.frames[t]): problem for t, problem in broken.items()}
        pairs = [_undefined(pair, frames) for pair in track_block(plan, rest)]
        own = {each.frame for pair in pairs for each in (pair.mothers, pair.daughters)}
        return TrackedBlock(pairs, [BrokenFrame(frame, frames[frame]) for frame in sorted(own & set(frames))])


def find_broken(block: Block) -> dict[int, str]:
    """Which frames cannot be read, by position, and why."""
    movie = block.movie
    broken: dict[int, str] = {}
    for t in range(len(movie)):
        try:
            movie.detections(t)
            if movie.has_images:
                movie.images(t)
        except MovieError as error:
            broken[t] = str(error)
    return broken


def _undefined(pair: PairPosterior, broken: Collection[int]) -> PairPosterior:
    """The pair with NaN where its probabilities would rest on a frame that nobody has seen."""
    unknown_mothers, unknown_daughters = np.full(len(pair.mothers), np.nan), np.full(len(pair.daughters), np.nan)
    if pair.daughter_frame in broken:
        known = pair.log_disappear is not None
        pair = replace(pair, log_disappear=unknown_mothers, log_divide=unknown_mothers) if known else pair
    if pair.mother_frame in broken:
        pair = replace(pair, log_no_mother=unknown_daughters, entropy=unknown_daughters)
    return pair
