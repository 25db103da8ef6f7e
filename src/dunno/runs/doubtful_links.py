"""The least certain links, one for each doubt: a doubt about one cell shows in several links, in neighbouring frames."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from dunno.lineage.tracks import NumberedBlock
from dunno.types import Ints

KEPT_LINKS = 400  # links; judged: a few dozen for each doubt that is listed
"""The least certain links that are kept, of which doubts are made."""

DOUBTED_BELOW = 0.9  # probability; judged
"""A link that is surer does not count as part of somebody else's doubt."""

ONE_DOUBT_WITHIN = 5  # frames; judged
"""Links of the same cell that are no farther apart belong to one doubt."""


@dataclass(frozen=True, order=True)
class DoubtfulLink:
    """A link, ordered so that the least certain comes first."""

    probability: float  # That it is right
    mother_frame: int  # Original index
    mother: int  # Label
    frame: int  # Original index
    daughter: int  # Label
    track: int = 0  # Of the daughter
    instead: int = 0  # The likeliest other mother, of any frame; 0 where having none is likelier than any
    p_instead: float = 0.0  # How probable that is
    links: int = 1  # How many links the same doubt is about
    instead_frame: int = -1  # Original index of the other mother's frame; -1 where there is none


@dataclass(frozen=True, order=True)
class _Kept:
    """A link with the tracks that it concerns: its daughter's, its mother's, and that of the likeliest other mother."""

    order: tuple[float, int, int]
    link: DoubtfulLink = field(compare=False)
    tracks: frozenset[int] = field(compare=False)

    def is_of(self, other: _Kept) -> bool:
        """Whether both belong to one doubt."""
        near = abs(self.link.frame - other.link.frame) <= ONE_DOUBT_WITHIN
        return near and bool(self.tracks & other.tracks)


class DoubtfulLinks:
    """Gathers them while blocks arrive in frame order."""

    def __init__(self) -> None:
        self._kept: list[_Kept] = []

    def follow(self, numbered: NumberedBlock) -> list[DoubtfulLink]:
        """Look at a block's links; returns those of them that are among the least certain so far."""
        block = numbered.block
        links = block.links[~(block.p_cell[block.daughter[block.links]] < 0.5)]
        if len(self._kept) == KEPT_LINKS:
            links = links[block.probability[links] <= self._kept[-1].order[0]]
        order = np.lexsort((block.cells.label[block.daughter[links]], block.log_probability[links]))
        found = [*_looked_at(numbered, links[order[:KEPT_LINKS]])]
        self._kept = heapq.nsmallest(KEPT_LINKS, [*self._kept, *found])
        last = self._kept[-1] if self._kept else None
        return [each.link for each in found if last is not None and each <= last]

    def listed(self, most: int, debris: frozenset[int] = frozenset()) -> list[DoubtfulLink]:
        """The least certain link of each doubt, none of them about a track of debris."""
        waiting = [each for each in self._kept if each.link.track not in debris]
        found: list[DoubtfulLink] = []
        while waiting and len(found) < most:
            head = waiting[0]
            doubted = sum(each.is_of(head) and each.link.probability < DOUBTED_BELOW for each in waiting)
            found.append(replace(head.link, links=max(doubted, 1)))
            waiting = [each for each in waiting if not each.is_of(head)]
        return found


def _looked_at(numbered: NumberedBlock, links: Ints) -> Iterator[_Kept]:
    block, label = numbered.block, numbered.label
    for link in links.tolist():
        mother, daughter = int(block.mother[link]), int(block.daughter[link])
        instead, p_instead = _likeliest_other(numbered, link)
        others = set() if instead is None else {int(numbered.track[instead])}
        probability = float(np.exp(block.log_probability[link]))
        found = DoubtfulLink(
            probability,
            int(numbered.frame[mother]),
            int(label[mother]),
            int(numbered.frame[daughter]),
            int(label[daughter]),
            int(numbered.track[daughter]),
            0 if instead is None else int(label[instead]),
            p_instead,
            instead_frame=-1 if instead is None else int(numbered.frame[instead]),
        )
        tracks = frozenset({found.track, int(numbered.track[mother]), *others} - {0})
        yield _Kept((probability, found.frame, found.daughter), found, tracks)


def _likeliest_other(numbered: NumberedBlock, link: int) -> tuple[int | None, float]:
    """The row of the likeliest other mother, in whatever frame, or `None` where having none is likelier."""
    block, daughter = numbered.block, int(numbered.block.daughter[link])
    into = block.into(int(block.frame_of[daughter]))
    edges = into.start + np.flatnonzero(block.daughter[into] == daughter)
    p_none = max(1 - float(block.probability[edges].sum()), 0.0)
    edges = edges[edges != link]
    best = int(edges[np.argmax(block.log_probability[edges])]) if len(edges) else None
    p_best = 0.0 if best is None else float(np.exp(block.log_probability[best]))
    return (None, p_none) if best is None or p_none > p_best else (int(block.mother[best]), p_best)
