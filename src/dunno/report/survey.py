"""All that a report says about a tracking, counted in one pass over its blocks.

Memory does not grow with the number of links: what is kept is a histogram, a few numbers per frame, and the least certain links.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from dunno.evaluation.calibration_error import bins
from dunno.report.doubts import Doubt, least_certain
from dunno.report.families import Families
from dunno.runs.summary import Summary
from dunno.types import Block, Floats, Ints

HISTOGRAM_BINS = 20
HISTOGRAM_EDGES = np.linspace(0, 1, HISTOGRAM_BINS + 1)
SURE_FROM = 0.99
SHOWN_DOUBTS = 24

MOST_CHECKED = 20_000
"""How many links somebody may think of checking by hand; beyond it the curve ends."""


@dataclass(frozen=True, eq=False)
class Survey:
    """What a report says about a tracking.

    Attributes:
        summary: Cells, links, divisions, and so on.
        n_sure: Links with a probability above 0.99.
        histogram: (20,) links per bin (a, b] of confidence, of equal width from 0 to 1.
        frame: (P,) original index of each pair's later frame.
        links: (P,) how many lead to it.
        wrong: (P,) how many of them are expected to be wrong.
        doubt: (K,) 1 − P of the least certain links, descending.
        doubts: The least certain of all, to be shown.
        families: The lineage forest.
    """

    summary: Summary
    n_sure: int
    histogram: Ints
    frame: Ints
    links: Ints
    wrong: Floats
    doubt: Floats
    doubts: tuple[Doubt, ...]
    families: Families

    @property
    def share_sure(self) -> float:
        """Share of links above 0.99; NaN without links."""
        return self.n_sure / self.summary.links if self.summary.links else float("nan")


def survey(blocks: Iterable[Block]) -> Survey:
    """Count everything while the blocks pass by."""
    summary, families, sure = Summary(), Families(), 0
    histogram = np.zeros(HISTOGRAM_BINS, np.int64)
    frames, links, wrong = [], [], []
    doubt, doubts = _Largest(MOST_CHECKED), list[Doubt]()
    for block in summary.watch(blocks):
        confidence = block.probability[block.links]
        histogram += np.bincount(bins(confidence, HISTOGRAM_EDGES), minlength=HISTOGRAM_BINS)
        sure += int((confidence > SURE_FROM).sum())
        doubt.add(1 - confidence)
        families.follow(block)
        for pair in block.pairs():
            frames.append(pair.daughter_frame)
            links.append(len(pair.link_probability))
            wrong.append(float((1 - pair.link_probability).sum()))
            doubts = least_certain(doubts, pair, SHOWN_DOUBTS)
    summary.tracks = families.n_tracks
    columns = np.array(frames, np.int64), np.array(links, np.int64), np.array(wrong)
    return Survey(summary, sure, histogram, *columns, doubt.values(), tuple(doubts), families)


@dataclass
class _Largest:
    """The k largest of a stream of numbers."""

    k: int
    parts: list[Floats] = field(default_factory=list)
    held: int = 0

    def add(self, values: Floats) -> None:
        """Take some more, and let go of the small ones now and then."""
        self.parts.append(values)
        self.held += len(values)
        if self.held > 4 * self.k:
            self.parts = [self.values()]
            self.held = self.k

    def values(self) -> Floats:
        """(≤ k,) descending."""
        return np.sort(np.concatenate([*self.parts, np.empty(0)]))[::-1][: self.k]
