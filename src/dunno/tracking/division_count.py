"""How many divisions there are, with an interval: what the screen, the report, `dunno measure` and notebooks say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dunno.lineage.resting import rest_frames
from dunno.lineage.tracks import NumberedBlock, TrackRow
from dunno.tracking.forests import SUREST_IN_DOUBT, shifted_odds, spread_evenly
from dunno.types import Bools, Floats, Ints

COUNT_DRAWS = 4000  # draws; judged: the ends of the interval then hardly depend on them
LIKE_BINS = 200  # bins; exact within rounding: tracks that divide as probably are drawn together
LEAST_DIVIDING = 1e-5  # probability; judged: a million cells then miss ten divisions at the most


class DivisionCount(NamedTuple):
    """How many divisions there are."""

    expected: float  # The sum of their probabilities
    low: int  # Of the 95 % interval
    high: int  # Its other end

    @property
    def about(self) -> int:
        """The expected number as a whole one, in its interval."""
        return min(max(round(self.expected), self.low), self.high)


class DivisionBeliefs(NamedTuple):
    """K cells that may divide.

    A division that may have happened in this frame or in the next is one event, believed of the mother now, and of a daughter
    then. What is believed of a cell that rests is its mother's.
    """

    track: Ints  # (K,) of each, counted from 1
    position: Ints  # (K,) of its frame in the movie
    p_divide: Floats  # (K,)

    @classmethod
    def of(cls, numbered: NumberedBlock, first_frame: int = 0) -> DivisionBeliefs:
        """Of a block's own cells; its first frame's position is given."""
        rows = numbered.rows
        p = np.nan_to_num(numbered.p_divide[rows])
        some = np.flatnonzero(p > LEAST_DIVIDING)
        return cls(numbered.track[rows][some], first_frame + numbered.block.frame_of[rows][some], p[some])

    @classmethod
    def joined(cls, parts: Sequence[DivisionBeliefs]) -> DivisionBeliefs:
        """Of several blocks."""
        none = cls(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
        return cls(*map(np.concatenate, zip(none, *parts, strict=True)))

    def among(self, tracks: Bools) -> DivisionBeliefs:
        """Only those of some tracks, (T,) of which count."""
        kept = np.append(False, tracks)[self.track]
        return DivisionBeliefs(*(column[kept] for column in self))

    def by_track(self, tracks: Sequence[TrackRow], frames: Sequence[int], cells: float) -> Floats:
        """(T + 1,) how probably each track ends in a division.

        Args:
            tracks: All of them, in order.
            frames: Original indices of the movie's frames.
            cells: How many there are in all of them.
        """
        event = self.event(tracks, frames, cells)
        return np.minimum(np.bincount(event, self.p_divide, len(tracks) + 1), 1.0)

    def event(self, tracks: Sequence[TrackRow], frames: Sequence[int], cells: float) -> Ints:
        """(K,) the track that ends in the division that is believed of each; the arguments are those of `by_track`."""
        place = {frame: k for k, frame in enumerate(frames)}
        first = np.array([0, *(place[row.first] for row in tracks)])
        mother = np.array([0, *(row.mother for row in tracks)])
        rest = rest_frames(cells, float(self.p_divide.sum()), len(frames))
        rests = (mother[self.track] > 0) & (self.position - first[self.track] < rest)
        return np.where(rests, mother[self.track], self.track)


def count_divisions(probability: Floats, doubt: float = 0.0) -> DivisionCount:
    """How many there are, if each track divides with its probability; see `count_interval`."""
    return DivisionCount(float(probability.sum()), *count_interval(probability, doubt))


def count_interval(probability: Floats, doubt: float = 0.0) -> tuple[int, int]:
    """Between which numbers 95 % of the draws lie, if each track divides independently with its probability.

    Args:
        probability: (T,) that each track divides.
        doubt: How well the odds are known: the standard deviation of their common logarithm.

    Example:
        >>> count_interval(np.array([1.0, 1.0, 0.5, 0.0]))
        (2, 3)
    """
    p = np.clip(probability, 0.0, SUREST_IN_DOUBT if doubt > 0 else 1.0)
    bins = np.minimum((p * LIKE_BINS).astype(np.int64), LIKE_BINS - 1)
    n = np.bincount(bins, minlength=LIKE_BINS)
    mean = np.bincount(bins, p, minlength=LIKE_BINS) / np.maximum(n, 1)
    rng, shifts = np.random.default_rng(0), spread_evenly(8 if doubt > 0 else 1)
    drawn = [
        rng.binomial(n, shifted_odds(mean, doubt * shift), (COUNT_DRAWS // len(shifts), LIKE_BINS)).sum(axis=1)
        for shift in shifts
    ]
    low, high = np.quantile(np.concatenate(drawn), [0.025, 0.975], method="nearest")
    return int(low), int(high)
