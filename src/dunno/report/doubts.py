"""The least certain links, each with the mothers that it could have had."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dunno.lineage.tracks import NumberedBlock
from dunno.runs.doubtful_links import DoubtfulLink
from dunno.types import Block, Ints

SHOWN_MOTHERS = 4
"""Candidate mothers that are shown for a link; the others are summed up."""

WORTH_SHOWING = 0.005
"""Least probability of a candidate that is shown, unless it was chosen: what rounds to 0 % tells nothing."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A mother that a daughter could have."""

    label: int  # Of the mother, in the earlier frame
    probability: float  # That it is the one
    selected: bool  # Whether the link was made
    bbox: Ints  # (2, d) in pixels
    area: float  # In physical units


@dataclass(frozen=True, order=True)
class Doubt:
    """A link that may be wrong, ordered so that the least certain comes first.

    All that is probable of the daughter adds up to 1: the shown mothers, the others, mothers in other frames, and none.
    """

    probability: float  # Of the link
    frame: int  # Original index of the daughter's frame
    daughter: int  # Its label
    mother_frame: int  # Original index of the mother's frame
    # The likeliest candidates and the selected one, likeliest first
    mothers: tuple[Candidate, ...] = field(compare=False)
    others: int = field(compare=False)  # How many more candidates there are in that frame
    p_others: float = field(compare=False)  # Their probability, together
    p_elsewhere: float = field(compare=False)  # That its mother is in another frame
    p_no_mother: float = field(compare=False)  # That the daughter appeared
    sister: int = field(compare=False)  # Label of the mother's other daughter, where it divides; 0 otherwise
    p_segment: float = field(compare=False)  # That the daughter's mask is one object; NaN where masks are trusted
    p_cell: float = field(compare=False)  # That the object is a cell; NaN likewise
    # Whether a person said that the mask holds two cells, each with a mother of its own
    holds_two: bool = field(compare=False)
    links: int = field(compare=False)  # How many doubtful links are about the same
    bbox: Ints = field(compare=False)  # (2, d) the daughter's, in pixels
    area: float = field(compare=False)  # Hers, in physical units

    @property
    def mother(self) -> Candidate:
        """The one that was chosen."""
        return next(each for each in self.mothers if each.selected)

    @property
    def has_likelier(self) -> bool:
        """Whether something else is more probable than the link."""
        others = (self.p_no_mother, self.p_elsewhere, self.mothers[0].probability)
        return max(others) > self.probability + WORTH_SHOWING


def doubt_of(numbered: NumberedBlock, link: DoubtfulLink) -> Doubt:
    """What is to be known about a doubtful link of a block."""
    block = numbered.block
    mother, daughter = _row(block, link.mother_frame, link.mother), _row(block, link.frame, link.daughter)
    into = block.into(int(block.frame_of[daughter]))
    edges = into.start + np.flatnonzero(block.daughter[into] == daughter)
    elsewhere = block.frame_of[block.mother[edges]] != block.frame_of[mother]
    p_elsewhere = float(block.probability[edges[elsewhere]].sum())
    edges = edges[~elsewhere]
    mothers, others, p_others = _candidates(block, edges)
    return Doubt(
        probability=link.probability,
        frame=link.frame,
        daughter=link.daughter,
        mother_frame=link.mother_frame,
        mothers=mothers,
        others=others,
        p_others=p_others,
        p_elsewhere=p_elsewhere,
        p_no_mother=max(1 - p_elsewhere - float(block.probability[edges].sum()), 0.0),
        sister=_sister(block, mother, daughter),
        p_segment=float(block.p_segment[daughter]),
        p_cell=float(block.p_cell[daughter]),
        holds_two=bool(block.two[daughter]),
        links=link.links,
        bbox=block.cells.bbox[daughter],
        area=float(block.cells.area[daughter]),
    )


def _row(block: Block, frame: int, label: int) -> int:
    rows = block.rows(int(np.flatnonzero(block.frames == frame)[0]))
    return int(rows.start + np.flatnonzero(block.cells.label[rows] == label)[0])


def _sister(block: Block, mother: int, daughter: int) -> int:
    """The label of another daughter of the same mother; 0 if there is none."""
    own = block.daughter[block.links[block.mother[block.links] == mother]]
    return int(block.cells.label[own[own != daughter][0]]) if (own != daughter).any() else 0


def _candidates(block: Block, edges: Ints) -> tuple[tuple[Candidate, ...], int, float]:
    """The mothers to show, how many are left out, and their probability together."""
    edges = edges[np.argsort(-block.log_probability[edges], kind="stable")]
    shown = block.probability[edges] >= WORTH_SHOWING
    shown[SHOWN_MOTHERS:] = False
    shown |= block.selected[edges]
    candidates = tuple(
        Candidate(
            label=int(block.cells.label[block.mother[edge]]),
            probability=float(np.exp(block.log_probability[edge])),
            selected=bool(block.selected[edge]),
            bbox=block.cells.bbox[block.mother[edge]],
            area=float(block.cells.area[block.mother[edge]]),
        )
        for edge in edges[shown]
    )
    return candidates, int((~shown).sum()), float(block.probability[edges[~shown]].sum())
