"""Two frames to be linked, and what is believed about them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dunno.assignment import Problem
from dunno.types.arrays import Bools, Floats, Ints
from dunno.types.detections import Detections
from dunno.types.stage import stage_between

if TYPE_CHECKING:
    from dunno.types.block import Block, Edges


@dataclass(frozen=True, eq=False)
class FramePair:
    """Two frames to be linked."""

    mothers: Detections  # The earlier frame's detections
    daughters: Detections  # The later frame's detections
    max_distance: float  # How far a cell may move between them; what an event costs is often derived from it
    scale: tuple[float, ...] = (1.0, 1.0)  # (d,) size of a pixel along each axis
    # The frames around the pair, both of its own among them, for a cost that asks for them; else empty. A perturbation changes
    # `mothers` and `daughters` and leaves the window as it was
    window: tuple[Detections, ...] = ()
    # (m, n) what every edge costs, where a perturbation has drawn it from the cost itself
    drawn: Floats | None = field(default=None, repr=False)

    @property
    def pixel(self) -> float:
        """The shortest side of a pixel: a length that is in the movie, whatever its unit is called."""
        return min(self.scale)

    @cached_property
    def stage(self) -> Floats | None:
        """(d,) by how much the stage jumped between the frames; `None` if it did not."""
        return stage_between(self.mothers, self.daughters)


@dataclass(frozen=True, eq=False)
class Candidates:
    """The edges worth a cost, sorted by daughter, then by mother."""

    mother: Ints  # (E,) index into the pair's mothers
    daughter: Ints  # (E,) index into the pair's daughters

    def __len__(self) -> int:
        return len(self.mother)


@dataclass(frozen=True)
class EventCosts:
    """What it costs to appear, to disappear and to divide; numbers, or one per cell."""

    appear: float | Floats
    disappear: float | Floats
    divide: float | Floats


@dataclass(frozen=True, eq=False)
class PairPosterior:
    """What is believed about one frame pair: a view of a block, in which n daughters and m mothers count from 0.

    Attributes:
        block: The block.
        t: Position of the later frame in it.
    """

    block: Block = field(repr=False)
    t: int

    @cached_property
    def mothers(self) -> Detections:
        """The earlier frame's detections."""
        return self.block.cells.at(self.t - 1)

    @cached_property
    def daughters(self) -> Detections:
        """The later frame's detections."""
        return self.block.cells.at(self.t)

    @cached_property
    def near(self) -> slice:
        """The pair's own edges, in the block."""
        return self.block.near(self.t)

    @cached_property
    def far(self) -> slice:
        """The block's edges that lead to the pair's daughters across gaps."""
        return self.block.far(self.t)

    @property
    def earlier(self) -> Edges:
        """The edges across gaps that lead to the daughters; mothers are rows of the block."""
        return self.block.edges.part(self.far, self.daughter_rows.start)

    @property
    def mother_rows(self) -> slice:
        """The rows of the mothers, in the block."""
        return self.block.rows(self.t - 1)

    @property
    def daughter_rows(self) -> slice:
        """The rows of the daughters, in the block."""
        return self.block.rows(self.t)

    @property
    def mother_frame(self) -> int:
        """Original index of the earlier frame."""
        return int(self.block.frames[self.t - 1])

    @property
    def daughter_frame(self) -> int:
        """Original index of the later frame."""
        return int(self.block.frames[self.t])

    @cached_property
    def mother(self) -> Ints:
        """(E,) index of each candidate edge's mother."""
        return np.asarray(self.block.mother[self.near] - self.mother_rows.start)

    @cached_property
    def daughter(self) -> Ints:
        """(E,) index of each candidate edge's daughter."""
        return np.asarray(self.block.daughter[self.near] - self.daughter_rows.start)

    @property
    def cost(self) -> Floats:
        """(E,) cost of each edge."""
        return self.block.cost[self.near]

    @property
    def log_probability(self) -> Floats:
        """(E,) log P(mother | daughter).

        With `log_no_mother` they sum to 1 for every daughter; where masks are repaired, given that it is an object. A mask of which
        a person said that it holds two cells has two mothers.
        """
        return self.block.log_probability[self.near]

    @property
    def probability(self) -> Floats:
        """(E,) P(mother | daughter)."""
        return np.exp(self.log_probability)

    @property
    def selected(self) -> Bools:
        """(E,) whether the edge is a link of the reported assignment."""
        return self.block.selected[self.near]

    @property
    def log_no_mother(self) -> Floats:
        """(n,) log P(⊥): it appeared, or its mother is in an earlier frame; -inf where ⊥ was left out."""
        return self.block.log_no_mother[self.daughter_rows]

    @property
    def entropy(self) -> Floats:
        """(n,) of each daughter's distribution over mothers and ⊥, in nats."""
        return self.block.entropy[self.daughter_rows]

    @property
    def p_appear(self) -> Floats:
        """(n,) probability that the daughter appeared: that it has no mother here nor in an earlier frame."""
        return self.block.p_appear[self.daughter_rows]

    @property
    def incoming(self) -> Floats:
        """(n,) probability of the link that leads to each daughter, NaN where none does."""
        return self.block.incoming[self.daughter_rows]

    @property
    def log_disappear(self) -> Floats | None:
        """(m,) log probability of having no daughter; `None` where the method does not know."""
        return self.block.log_disappear[self.mother_rows] if self.block.has_events else None

    @property
    def log_divide(self) -> Floats | None:
        """(m,) log probability of having two daughters; `None` where the method does not know."""
        return self.block.log_divide[self.mother_rows] if self.block.has_events else None

    @property
    def reviewed(self) -> Bools | None:
        """(n,) whether a person decided about the daughter; `None` where nobody looked."""
        return self.block.reviewed[self.daughter_rows] if self.block.is_reviewed else None

    @cached_property
    def samples(self) -> Ints | None:
        """(K, n) assignments drawn from the joint posterior, each daughter's edge or -1; `None` where the method has none.

        Their frequencies are the probabilities, and they tell which links are wrong together.
        """
        if not len(self.block.samples):
            return None
        own = self.block.samples[:, self.daughter_rows]
        return np.where(own >= 0, own - self.near.start, -1)

    @cached_property
    def links(self) -> Ints:
        """(L,) which edges between the two frames are links."""
        return self.selected.nonzero()[0]

    @cached_property
    def load(self) -> Ints:
        """(m,) how many links lead from each mother to the next frame."""
        return np.bincount(self.mother[self.links], minlength=len(self.mothers))

    @property
    def link_probability(self) -> Floats:
        """(L,) probabilities of all links to the daughters, those across gaps last."""
        into = self.block.into(self.t)
        return np.exp(self.block.log_probability[into][self.block.selected[into]])

    @cached_property
    def divides(self) -> Bools:
        """(m,) whether a mother is linked to two daughters or more, as one cell; or to three, as two cells of which one divides."""
        return np.asarray(self.load >= np.where(self.holds_two, 3, 2))

    @property
    def holds_two(self) -> Bools:
        """(m,) mothers' masks of which a person said that they hold two cells."""
        return self.block.two[self.mother_rows]

    @cached_property
    def problem(self) -> Problem | None:
        """The problem of these two frames alone, in which gaps count as appearing and disappearing; `None` where there is none.

        The weight of appearing grows as much as having no mother here is more probable than appearing, and the other way round for
        mothers: where the problem is a tree, the pair's own posterior is then that of all frames.
        """
        whole = self.block.problem
        if whole is None:
            return None
        mothers, daughters = self.mother_rows, self.daughter_rows
        return Problem.of_parts(
            self.mother,
            self.daughter,
            whole.cost[self.near],
            len(self.mothers),
            len(self.daughters),
            appear=whole.appear[daughters] - self.block.appears_less[daughters],
            disappear=whole.disappear[mothers] - self.block.disappears_less[mothers],
            divide=whole.divide[mothers],
            dividing_cost=None if whole.dividing_cost is None else whole.dividing_cost[self.near],
            triples=None if whole.triples is None else whole.triples.among(self.near),
        )


@dataclass(frozen=True)
class BrokenFrame:
    """A frame that could not be read; no links lead to it or from it."""

    frame: int  # Its original index
    problem: str  # Its file, and what is wrong with it
