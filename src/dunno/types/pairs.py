"""Two frames to be linked, and what is believed about them."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cached_property

import numpy as np

from dunno.assignment import Problem
from dunno.types.arrays import Bools, Floats, Ints
from dunno.types.detections import Detections
from dunno.types.gap_weights import GapWeights
from dunno.types.stage import stage_jump


@dataclass(frozen=True, eq=False)
class FramePair:
    """Two frames to be linked.

    Attributes:
        mothers: The earlier frame's detections.
        daughters: The later frame's detections.
        max_distance: How far a cell may move between them; what an event costs is often derived from it.
        scale: (d,) size of a pixel along each axis.
        window: The frames around the pair, both of its own among them, for a cost that asks for them; else empty. A
            perturbation changes `mothers` and `daughters` and leaves the window as it was.
        drawn: (m, n) what every edge costs, where a perturbation has drawn it from the cost itself.
    """

    mothers: Detections
    daughters: Detections
    max_distance: float
    scale: tuple[float, ...] = (1.0, 1.0)
    window: tuple[Detections, ...] = ()
    drawn: Floats | None = field(default=None, repr=False)

    @property
    def pixel(self) -> float:
        """The shortest side of a pixel: a length that is in the movie, whatever its unit is called."""
        return min(self.scale)

    @cached_property
    def stage(self) -> Floats | None:
        """(d,) by how much the stage jumped between the frames; `None` if it did not."""
        return stage_jump(self.mothers.centroid, self.daughters.centroid)


@dataclass(frozen=True, eq=False)
class Candidates:
    """The edges worth a cost, sorted by daughter, then by mother.

    Attributes:
        mother: (E,) index into the pair's mothers.
        daughter: (E,) index into the pair's daughters.
    """

    mother: Ints
    daughter: Ints

    def __len__(self) -> int:
        return len(self.mother)


@dataclass(frozen=True)
class EventCosts:
    """What it costs to appear, to disappear and to divide; numbers, or one per cell."""

    appear: float | Floats
    disappear: float | Floats
    divide: float | Floats


@dataclass(frozen=True, eq=False)
class GapEdges:
    """Edges into a pair's daughters from frames before its mothers': the cell's mask is missing in between.

    Attributes:
        mother_frame: (G,) original index of each mother's frame.
        mother: (G,) index into that frame's cells.
        mother_label: (G,) as in the masks.
        daughter: (G,) index of each edge's daughter.
        gap: (G,) frames skipped between them, at least 1.
        cost: (G,) cost of each edge.
        log_probability: (G,) log P(mother | daughter).
        selected: (G,) whether the edge is a link.
        weights: What else whole lineages are drawn with; `None` where it is not known.
    """

    mother_frame: Ints
    mother: Ints
    mother_label: Ints
    daughter: Ints
    gap: Ints
    cost: Floats
    log_probability: Floats
    selected: Bools
    weights: GapWeights | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.mother)

    @property
    def probability(self) -> Floats:
        """(G,) P(mother | daughter)."""
        return np.exp(self.log_probability)

    def only(self, edges: Bools) -> GapEdges:
        """Some of the edges, without their weights."""
        names = [each.name for each in fields(self) if each.name != "weights"]
        return GapEdges(**{name: getattr(self, name)[edges] for name in names})


@dataclass(frozen=True, eq=False)
class Held:
    """How many cells a frame's masks hold, as far as it is known; NaN where it is not.

    Attributes:
        p_false: (n,) probability that the mask holds no cell.
        p_two: (n,) probability that it holds two.
    """

    p_false: Floats
    p_two: Floats


@dataclass(frozen=True, eq=False)
class PairPosterior:
    """What is believed about one frame pair.

    Attributes:
        mothers: The earlier frame's detections.
        daughters: The later frame's detections.
        mother: (E,) index of each candidate edge's mother.
        daughter: (E,) index of each candidate edge's daughter.
        cost: (E,) cost of each edge.
        log_probability: (E,) log P(mother | daughter); with `log_no_mother` they sum to 1 for every daughter, or to 1 more than the
            probability that the mask holds the cells of two mothers (`daughters_held`).
        log_no_mother: (n,) log P(⊥), the chance that the daughter has no mother in this frame: she appeared, or her mother is
            in an earlier one (`gaps`); -inf where ⊥ was left out.
        entropy: (n,) of each daughter's distribution over mothers and ⊥, in nats.
        selected: (E,) whether the edge is a link of the reported assignment.
        log_disappear: (m,) log probability of having no daughter; `None` where the method does not know.
        log_divide: (m,) log probability of having two daughters; `None` where the method does not know.
        problem: The assignment problem whose posterior this is (JP only), from which whole assignments can be drawn.
        reviewed: (n,) whether a person decided about the daughter; `None` where nobody did.
        samples: (K, n) assignments drawn from the joint posterior, each daughter's edge or -1, whose frequencies are the
            probabilities; `None` where the method has none. They tell which links are wrong together.
        gaps: Edges from earlier frames; `None` where no mask is thought to be missing.
        log_together: (n,) log of how much likelier each daughter's link is given the one before it in its track; `None` where frame
            pairs are independent.
        daughters_held: How many cells the daughters' masks hold; `None` where each is taken for one cell. `mothers_held` likewise.
        border_share: (m,) of the probability of being lost, the share of having left the field; `None` where no model knows.
    """

    mothers: Detections
    daughters: Detections
    mother: Ints
    daughter: Ints
    cost: Floats
    log_probability: Floats
    log_no_mother: Floats
    entropy: Floats
    selected: Bools
    log_disappear: Floats | None = None
    log_divide: Floats | None = None
    samples: Ints | None = None
    reviewed: Bools | None = None
    problem: Problem | None = field(default=None, repr=False)
    gaps: GapEdges | None = None
    log_together: Floats | None = None
    daughters_held: Held | None = None
    mothers_held: Held | None = None
    border_share: Floats | None = None

    @cached_property
    def links(self) -> Ints:
        """(L,) which edges between the two frames are links."""
        return self.selected.nonzero()[0]

    @cached_property
    def load(self) -> Ints:
        """(m,) how many links lead from each mother to the next frame."""
        return np.bincount(self.mother[self.links], minlength=len(self.mothers))

    @cached_property
    def divides(self) -> Bools:
        """(m,) whether a mother is linked to two daughters or more, as one cell; or to three, as two cells of which one divides."""
        return np.asarray(self.load >= (2 if self.mothers_held is None else np.where(self.holds_two, 3, 2)))

    @property
    def mother_frame(self) -> int:
        """Original index of the earlier frame."""
        return self.mothers.frame

    @property
    def daughter_frame(self) -> int:
        """Original index of the later frame."""
        return self.daughters.frame

    @property
    def probability(self) -> Floats:
        """(E,) P(mother | daughter)."""
        return np.exp(self.log_probability)

    @property
    def link_probability(self) -> Floats:
        """(L,) probabilities of all links, those across gaps last."""
        near = np.exp(self.log_probability[self.links])
        return near if self.gaps is None else np.concatenate([near, self.gaps.probability[self.gaps.selected]])

    @property
    def incoming(self) -> Floats:
        """(n,) probability of the link that leads to each daughter, NaN where none does."""
        found = np.full(len(self.daughters), np.nan)
        found[self.daughter[self.links]] = np.exp(self.log_probability[self.links])
        if self.gaps is not None:
            found[self.gaps.daughter[self.gaps.selected]] = self.gaps.probability[self.gaps.selected]
        return found

    @property
    def p_appear(self) -> Floats:
        """(n,) probability that the daughter appeared: that she has no mother here nor in an earlier frame."""
        none = np.exp(self.log_no_mother)
        if self.daughters_held is not None:
            none = np.clip(none - np.nan_to_num(self.daughters_held.p_false), 0.0, 1.0)
        if self.gaps is None:
            return none
        earlier = np.bincount(self.gaps.daughter, self.gaps.probability, minlength=len(none))
        return np.clip(none - earlier, 0.0, 1.0)

    @cached_property
    def holds_two(self) -> Bools:
        """(m,) mothers' masks that hold two cells more probably than not, or than dividing, where they have two daughters."""
        if self.mothers_held is None:
            return np.zeros(len(self.mothers), np.bool_)
        two = self.mothers_held.p_two
        if self.log_divide is None:
            return np.asarray(two > 0.5)
        return np.asarray((two > 0.5) | ((self.load >= 2) & (two > np.exp(self.log_divide))))


@dataclass(frozen=True)
class BrokenFrame:
    """A frame that could not be read; no links lead to it or from it.

    Attributes:
        frame: Its original index.
        problem: Its file, and what is wrong with it.
    """

    frame: int
    problem: str
