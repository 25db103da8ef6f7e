"""Blocks with frames that cannot be read: the frames are left out, and the rest is tracked."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dunno.errors import MovieError
from dunno.tracking.plan import Plan, Span
from dunno.tracking.tracker import track_block
from dunno.types import Block, BrokenFrame, Movie


class Tracked(NamedTuple):
    """A block, and those of its frames that could not be read."""

    block: Block
    broken: list[BrokenFrame]

    @classmethod
    def without(cls, block: Block, movie: Movie, broken: Mapping[int, str]) -> Tracked:
        """A block that was tracked without some of a movie's frames, by position and with the reasons."""
        frames = {int(movie.frames[t]): problem for t, problem in broken.items()}
        own = sorted({*block.frames[block.first :].tolist()} & set(frames))
        return cls(undefined(block, frames) if own else block, [BrokenFrame(frame, frames[frame]) for frame in own])


def track_readable_frames(plan: Plan, span: Span) -> Tracked:
    """Track a span; a frame that cannot be read has no cells, and what would follow from that is undefined.

    Whether cells before such a frame disappeared, and those after it appeared, nobody knows: these probabilities are NaN, which
    the exports write as missing.
    """
    try:
        return Tracked(track_block(plan, span), [])
    except MovieError:
        broken = find_broken(span)
        if not broken:
            raise
        block = track_block(plan, replace(span, movie=span.movie.blanked(broken)))
        return Tracked.without(block, span.movie, broken)


def find_broken(span: Span) -> dict[int, str]:
    """Which frames cannot be read, by position, and why."""
    movie = span.movie
    broken: dict[int, str] = {}
    for t in range(len(movie)):
        try:
            movie.detections(t)
            if movie.has_images:
                movie.images(t)
        except MovieError as error:
            broken[t] = str(error)
    return broken


def undefined(block: Block, broken: Collection[int]) -> Block:
    """The block with NaN where its probabilities would rest on a frame that nobody has seen."""
    names = ("log_no_mother", "entropy", "log_disappear", "log_divide")
    columns = {name: getattr(block, name).copy() for name in names}
    for t in block.own:
        if int(block.frames[t - 1]) in broken:
            columns["log_no_mother"][block.rows(t)] = columns["entropy"][block.rows(t)] = np.nan
        if int(block.frames[t]) in broken:
            columns["log_disappear"][block.rows(t - 1)] = columns["log_divide"][block.rows(t - 1)] = np.nan
    return replace(block, **columns)
