"""All that a report says about a tracking, counted in one pass over its blocks.

Memory does not grow with the number of links: what is kept is a histogram, a few numbers per frame, and the least certain links.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from dunno.evaluation.calibration_error import bins
from dunno.lineage.tracks import TrackNumbers, numbered
from dunno.report.doubts import Doubt, doubt_of
from dunno.report.families import Families, Family
from dunno.runs.doubtful_links import DoubtfulLink
from dunno.runs.summary import Census, Summary
from dunno.types import Block, Bools, Floats, Ints, RunInfo

HISTOGRAM_BINS = 20
HISTOGRAM_EDGES = np.linspace(0, 1, HISTOGRAM_BINS + 1)
SURE_FROM = 0.99
SHOWN_DOUBTS = 24

MOST_CHECKED = 20_000
"""How many links somebody may think of checking by hand; beyond it the curve ends."""


@dataclass(frozen=True, eq=False)
class Survey:
    """What a report says about a tracking."""

    summary: Summary  # Cells, links, divisions, and so on
    n_sure: int  # Links with a probability above 0.99
    histogram: Ints  # (20,) links per bin (a, b] of confidence, of equal width from 0 to 1
    frame: Ints  # (P,) original index of each pair's later frame
    links: Ints  # (P,) how many lead to it
    wrong: Floats  # (P,) how many of them are expected to be wrong
    doubt: Floats  # (K,) 1 − P of the least certain links, descending
    doubts: tuple[Doubt, ...]  # The least certain of all, one for each doubt, to be shown
    families: Families  # The lineage forest
    debris: frozenset[int] = frozenset()  # Numbers of the tracks that are taken for debris

    @property
    def shown_families(self) -> list[Family]:
        """Those that do not begin with debris, unless that is counted."""
        left_out = frozenset() if self.summary.with_debris else self.debris
        return [family for family in self.families.listed() if family.root not in left_out]

    @property
    def share_sure(self) -> float:
        """Share of links above 0.99; NaN without links."""
        return self.n_sure / self.summary.links if self.summary.links else float("nan")


def survey(blocks: Iterable[Block], about: RunInfo, kept: Bools | None = None, with_debris: bool = False) -> Survey:
    """Count everything while the blocks pass by: tracks that are `kept` because they are no debris, or all."""
    kept = None if with_debris else kept
    census, families, sure = Census(about, with_debris), Families(), 0
    histogram = np.zeros(HISTOGRAM_BINS, np.int64)
    frames, links, wrong = list[int](), list[int](), list[float]()
    doubt, details = _Largest(MOST_CHECKED), dict[tuple[int, int, int, int], Doubt]()

    for part in numbered(blocks, TrackNumbers()):
        block = part.block
        families.follow(block)
        own = block.links if kept is None else block.links[kept[part.track[block.daughter[block.links]]]]
        confidence, frame = block.probability[own], block.frame_of[block.daughter[own]]
        histogram += np.bincount(bins(confidence, HISTOGRAM_EDGES), minlength=HISTOGRAM_BINS)
        sure += int((confidence > SURE_FROM).sum())
        doubt.add(1 - confidence)
        frames += block.frames[block.own.start :].tolist()
        links += np.bincount(frame, minlength=len(block.frames))[block.own.start :].tolist()
        wrong += np.bincount(frame, 1 - confidence, len(block.frames))[block.own.start :].tolist()
        census.write(part)
        details |= {_key(link): doubt_of(part, link) for link in census.noted}
    census.finish(families.table())
    columns = np.array(frames, np.int64), np.array(links, np.int64), np.array(wrong)
    doubts = tuple(replace(details[_key(each)], links=each.links) for each in census.doubts(SHOWN_DOUBTS))
    return Survey(census.summary, sure, histogram, *columns, doubt.values(), doubts, families, census.debris)


def _key(link: DoubtfulLink) -> tuple[int, int, int, int]:
    return link.mother_frame, link.mother, link.frame, link.daughter


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
