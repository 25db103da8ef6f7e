"""The pixels that two masks share."""

from dataclasses import dataclass

import numpy as np

from dunno.costs import Cost
from dunno.perturbations.border import Border
from dunno.types import Bools, Candidates, EventCosts, Floats, FramePair, Ints
from dunno.types.labels import count_overlaps


@dataclass(frozen=True)
class Overlap(Cost):
    r"""Minus the number of pixels that mother and daughter share.

    $$w_{OL}(x_i, x'_j) = -\lvert x_i \cap x'_j \rvert \qquad\text{(appendix B of the paper)}$$

    Mothers within the gate that share nothing stay candidates at cost 0, as in the paper, but are never linked; those
    beyond the gate that share something are candidates too. By default events cost nothing, so that whatever overlaps
    is linked.
    """

    name = "overlap"
    perturbation = Border()

    def __call__(self, pair: FramePair, mother: Ints, daughter: Ints) -> Floats:
        """(E,) the cost of each edge."""
        edge, pixels = _shared(pair)
        asked = mother * len(pair.daughters) + daughter
        place = np.searchsorted(edge, asked)
        found = np.append(edge, -1)[place] == asked
        return np.where(found, -np.append(pixels, 0)[place].astype(np.float64), 0.0)

    def candidates(self, pair: FramePair) -> Candidates:
        """Every edge that shares pixels, however far apart its centres are."""
        edge, _ = _shared(pair)
        mother, daughter = np.divmod(edge, max(len(pair.daughters), 1))
        return Candidates(mother, daughter)

    def can_link(self, cost: Floats) -> Bools:
        """(E,) whether an edge may be a link: it must share at least one pixel."""
        return np.asarray(cost < 0)

    def event_costs(self, pair: FramePair) -> EventCosts:
        """Events cost nothing: any shared pixel is worth more."""
        return EventCosts(appear=0.0, disappear=0.0, divide=0.0)


def _shared(pair: FramePair) -> tuple[Ints, Ints]:
    """The edges that share pixels as ascending numbers mother · n + daughter, and how many pixels each."""
    shared: tuple[Ints, Ints] = pair.mothers.once((Overlap.name, pair.daughters.pixels), lambda: _count(pair))
    return shared


def _count(pair: FramePair) -> tuple[Ints, Ints]:
    label, other, pixels = count_overlaps(pair.mothers.masks, pair.daughters.masks)
    mother, daughter = np.searchsorted(pair.mothers.label, label), np.searchsorted(pair.daughters.label, other)
    return mother * len(pair.daughters) + daughter, pixels
