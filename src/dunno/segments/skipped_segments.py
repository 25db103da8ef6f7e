"""Segments with every second frame left out: what is believed then, beside what all frames say of the same objects."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dunno.errors import InputError
from dunno.segments.answer import Answer
from dunno.segments.segments import Segments
from dunno.segments.time_arrow import Seen
from dunno.types import Floats, Ints
from dunno.types.records import Count, NonNegative

if TYPE_CHECKING:
    import scipy.sparse as sp

EVERY = 2  # frames; exact
"""Frames that are one step of the movie in which frames are left out."""


HAS_MOTHER, MOST_UNKNOWN = 0.5, 0.4  # probability, share; judged
"""Daughters are judged that have a mother more probably; no more segments are taken for unknown."""

UNKNOWN_SHARE, UNKNOWN_WORTH = 0.06, 200.0  # share, objects; docs/masks.md
"""Of the parts and unions that the model is sure of, how many are none, beforehand; worth so many. Settled on iPSC-07 01 and 02."""


@dataclass(frozen=True)
class SkippedSegments:
    """Of objects that both movies have: how much is promised to be wrong, and how much is, as all frames show."""

    links: Count  # Those whose daughter has a mother by all frames, too
    promised: NonNegative  # How many are promised to be wrong, given that there is a mother
    composed: NonNegative  # How many are wrong
    sets: Count  # Objects that are parts of masks, or unions
    promised_sets: NonNegative  # How many of these are promised to be no objects
    composed_sets: NonNegative  # How many are none

    def __post_init__(self) -> None:
        if self.promised_sets > self.sets + 0.5:
            raise InputError(f"promised_sets is {self.promised_sets:g}; expected at most {self.sets}, of sets")

    @property
    def unknown(self) -> float:
        """The share of parts and unions that are no objects, whatever the model says."""
        excess = max(self.composed_sets - self.promised_sets, 0.0) + UNKNOWN_SHARE * UNKNOWN_WORTH
        return min(excess / (self.sets - self.promised_sets + UNKNOWN_WORTH), MOST_UNKNOWN)


def every_second(segments: Segments) -> tuple[Segments, Ints]:
    """The segments of every second frame, and their rows."""
    own = segments.frame % EVERY == 0
    rows = np.flatnonzero(own)
    number = np.full(len(own) + 1, -1)
    number[rows] = np.arange(len(rows))
    columns = {
        name: getattr(segments, name)[rows] for name in ("place", "area", "at_border", "halves", "balance", "neck")
    }
    found = replace(
        segments,
        **columns,
        frame=segments.frame[rows] // EVERY,
        masks=number[segments.masks[rows]],
        cuts=number[segments.cuts[own[segments.cuts[:, 0]]]],
        n_frames=-(-segments.n_frames // EVERY),
    )
    return found, rows


def compared(all_frames: Seen, skipped: Seen, rows: Ints) -> SkippedSegments:
    """What the frames between say of what is promised without them.

    Args:
        all_frames: The movie, solved.
        skipped: Every second frame, solved.
        rows: The rows of the latter's segments among the former's.
    """
    segments, full, few = all_frames.structure.segments, all_frames.answer, skipped.answer
    chosen = np.full(len(segments.frame), -1)
    chosen[full.segment] = np.arange(len(full.segment))
    same = chosen[rows[few.segment]]
    composed = _two_steps(full, segments.frame[full.segment])
    has_mother = np.asarray(composed.sum(axis=0)).ravel()
    direct = np.bincount(few.edges.daughter, few.edges.probability, len(few.segment))
    link = np.flatnonzero(few.selected)
    mother, daughter = same[few.edges.mother[link]], same[few.edges.daughter[link]]
    judged = (mother >= 0) & (daughter >= 0)
    judged[judged] = has_mother[daughter[judged]] > HAS_MOTHER
    link, mother, daughter = link[judged], mother[judged], daughter[judged]
    right = np.asarray(composed[mother, daughter]).ravel() / has_mother[daughter]
    holdings = all_frames.structure.holdings
    p_segment = np.bincount(holdings.segment, all_frames.posterior.state[holdings.state], len(segments.frame))
    changed = few.segment >= skipped.structure.segments.n_masks
    return SkippedSegments(
        len(link),
        float((1 - few.edges.probability[link] / direct[few.edges.daughter[link]]).sum()),
        float((1 - right).sum()),
        int(changed.sum()),
        float((1 - few.p_segment[changed]).sum()),
        float((1 - p_segment[rows[few.segment[changed]]]).clip(min=0).sum()),
    )


def _two_steps(answer: Answer, frame: Ints) -> sp.csr_matrix:
    """(K, K) how probable it is that an object goes on as another one two frames later, whatever lies between."""
    import scipy.sparse as sp

    edges, n = answer.edges, len(answer.segment)

    def steps(gap: int) -> sp.csr_matrix:
        own = frame[edges.daughter] - frame[edges.mother] == gap
        probability: Floats = edges.probability[own]
        return sp.csr_matrix((probability, (edges.mother[own], edges.daughter[own])), (n, n))

    return (steps(1) @ steps(1) + steps(EVERY)).tocsr()
