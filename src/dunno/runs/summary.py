"""What a run found, counted while the pairs pass by."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from dunno.types import Block, BrokenFrame, Floats, PairPosterior

LEAST_CERTAIN = 10
ROUNDING = 1e-12
"""By which the same exponential may differ between a number and an array."""


@dataclass(frozen=True, order=True)
class DoubtfulLink:
    """A link, ordered so that the least certain comes first."""

    probability: float
    mother_frame: int
    mother: int
    frame: int
    daughter: int


@dataclass
class Summary:
    """What a run found; cells of a broken frame's neighbours count as neither appearing nor disappearing.

    `expected_missing_links` is how many true links are not among somebody else's, and `expected_missing_divisions` how many of
    their mothers divide and are not linked to two daughters; `None` where the links are dunno's own, or the method knows no
    divisions. `repairs` is how many masks were split, joined and left out.
    """

    frames: int = 1
    cells: int = 0
    candidates: int = 0
    links: int = 0
    gap_links: int = 0
    divisions: int = 0
    appearing: int = 0
    disappearing: int = 0
    tracks: int = 0
    mean_confidence: float | None = None
    expected_wrong_links: float = 0.0
    expected_missing_links: float | None = None
    expected_missing_divisions: float | None = None
    least_certain: list[DoubtfulLink] = field(default_factory=list)
    broken: list[BrokenFrame] = field(default_factory=list)
    repairs: dict[str, int] = field(default_factory=dict)

    def note_broken(self, frames: Iterable[BrokenFrame]) -> None:
        """Note frames that could not be read, each once, before their pairs are counted."""
        known = {each.frame for each in self.broken}
        self.broken += [each for each in frames if each.frame not in known]

    def watch(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Count each block and hand it on."""
        total = 0.0
        for block in blocks:
            if self.frames == 1:
                self.cells = int(block.begin[block.first + 1])
            total += float(block.probability[block.links].sum())
            self._count(block)
            self.mean_confidence = total / self.links if self.links else None
            self.expected_wrong_links = self.links - total
            if self.expected_missing_links is not None:
                near = block.gap == 0
                self.expected_missing_links += float(np.nansum(block.probability[near & ~block.selected]))
            for pair in block.pairs():
                self._count_pair(pair)
            yield block

    def _count(self, block: Block) -> None:
        self.frames += len(block.own)
        self.cells += len(block.cells) - int(block.begin[block.first + 1])
        self.candidates += len(block.mother)
        self.links += len(block.links)
        self.gap_links += int((block.selected & (block.gap > 0)).sum())

    def _count_pair(self, pair: PairPosterior) -> None:
        divides, across = pair.divides, int(pair.block.selected[pair.far].sum())
        if self.expected_missing_links is not None and pair.log_divide is not None:
            missing = float(np.nansum(np.exp(pair.log_divide[~divides])))
            self.expected_missing_divisions = (self.expected_missing_divisions or 0.0) + missing
        linked = int(np.count_nonzero(np.bincount(pair.daughter[pair.links])))
        self.divisions += int(np.count_nonzero(divides))
        broken = {each.frame for each in self.broken}
        self.appearing += 0 if pair.mother_frame in broken else len(pair.daughters) - linked - across
        self.disappearing += 0 if pair.daughter_frame in broken else int(np.count_nonzero(pair.load == 0))
        self.disappearing -= across
        doubtful = [*_least_certain(pair, pair.probability[pair.links], self._highest_doubt)]
        if doubtful:
            self.least_certain = heapq.nsmallest(LEAST_CERTAIN, [*self.least_certain, *doubtful])

    @property
    def _highest_doubt(self) -> float:
        """A link that is more probable than this is not among the least certain."""
        return self.least_certain[-1].probability if len(self.least_certain) == LEAST_CERTAIN else np.inf


def _least_certain(pair: PairPosterior, probability: Floats, most: float) -> Iterator[DoubtfulLink]:
    doubtful = ~(probability > most + ROUNDING)  # those of unknown probability stay
    if not doubtful.any():
        return
    edges = pair.links[doubtful]
    for edge in edges[np.argsort(pair.log_probability[edges], kind="stable")[:LEAST_CERTAIN]]:
        yield DoubtfulLink(
            float(np.exp(pair.log_probability[edge])),
            pair.mother_frame,
            int(pair.mothers.label[pair.mother[edge]]),
            pair.daughter_frame,
            int(pair.daughters.label[pair.daughter[edge]]),
        )
