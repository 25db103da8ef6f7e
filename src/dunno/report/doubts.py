"""The least certain links, each with the mothers that it could have had."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from dunno.types import Ints, PairPosterior

SHOWN_MOTHERS = 4
"""Candidate mothers that are shown for a link; the others are summed up."""

WORTH_SHOWING = 0.005
"""Least probability of a candidate that is shown, unless it was chosen: what rounds to 0 % tells nothing."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A mother that a daughter could have.

    Attributes:
        label: Of the mother, in the earlier frame.
        probability: That it is the one.
        selected: Whether the link was made.
        bbox: (2, d) in pixels.
        area: In physical units.
    """

    label: int
    probability: float
    selected: bool
    bbox: Ints
    area: float


@dataclass(frozen=True, order=True)
class Doubt:
    """A link that may be wrong, ordered so that the least certain comes first.

    Attributes:
        probability: Of the link.
        frame: Original index of the daughter's frame.
        daughter: Its label.
        mother_frame: Original index of the mother's frame.
        mothers: The likeliest candidates and the selected one, likeliest first.
        others: How many more candidates there are.
        p_others: Their probability, together.
        p_no_mother: That the daughter appeared.
        sister: Label of the mother's other daughter, where it divides; 0 otherwise.
        bbox: (2, d) the daughter's, in pixels.
        area: Hers, in physical units.
    """

    probability: float
    frame: int
    daughter: int
    mother_frame: int
    mothers: tuple[Candidate, ...] = field(compare=False)
    others: int = field(compare=False)
    p_others: float = field(compare=False)
    p_no_mother: float = field(compare=False)
    sister: int = field(compare=False)
    bbox: Ints = field(compare=False)
    area: float = field(compare=False)

    @property
    def mother(self) -> Candidate:
        """The one that was chosen."""
        return next(each for each in self.mothers if each.selected)


def least_certain(doubts: list[Doubt], pair: PairPosterior, most: int) -> list[Doubt]:
    """The `most` least certain links among those known and a pair's, ascending."""
    links = np.flatnonzero(pair.selected)
    if len(doubts) == most:  # most links of a long movie are surer than all that are known
        links = links[pair.probability[links] <= doubts[-1].probability]
    order = np.lexsort((pair.daughter[links], pair.log_probability[links]))[:most]
    return heapq.nsmallest(most, [*doubts, *_doubts(pair, links[order])])


def _doubts(pair: PairPosterior, links: Ints) -> Iterator[Doubt]:
    divides = pair.divides
    for link in links.tolist():
        daughter, mother = int(pair.daughter[link]), int(pair.mother[link])
        mothers, others, p_others = _candidates(pair, daughter)
        together = pair.daughter[pair.selected & (pair.mother == mother)]
        yield Doubt(
            probability=float(np.exp(pair.log_probability[link])),
            frame=pair.daughter_frame,
            daughter=int(pair.daughters.label[daughter]),
            mother_frame=pair.mother_frame,
            mothers=mothers,
            others=others,
            p_others=p_others,
            p_no_mother=float(np.exp(pair.log_no_mother[daughter])),
            sister=int(pair.daughters.label[together[together != daughter][0]]) if divides[mother] else 0,
            bbox=pair.daughters.bbox[daughter],
            area=float(pair.daughters.area[daughter]),
        )


def _candidates(pair: PairPosterior, daughter: int) -> tuple[tuple[Candidate, ...], int, float]:
    """The mothers to show, how many are left out, and their probability together."""
    edges = np.flatnonzero(pair.daughter == daughter)
    edges = edges[np.argsort(-pair.log_probability[edges], kind="stable")]
    shown = pair.probability[edges] >= WORTH_SHOWING
    shown[SHOWN_MOTHERS:] = False
    shown |= pair.selected[edges]
    candidates = tuple(
        Candidate(
            label=int(pair.mothers.label[pair.mother[edge]]),
            probability=float(np.exp(pair.log_probability[edge])),
            selected=bool(pair.selected[edge]),
            bbox=pair.mothers.bbox[pair.mother[edge]],
            area=float(pair.mothers.area[pair.mother[edge]]),
        )
        for edge in edges[shown]
    )
    return candidates, int((~shown).sum()), float(pair.probability[edges[~shown]].sum())
