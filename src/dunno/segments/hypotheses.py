"""What masks may hold and how it may go on from frame to frame: the factor graph, and its log weights.

Every mask m chooses one **state** s_m: a set of up to three **objects** (nothing; the whole; its two parts; …). Every
group of a mask and one or two later ones that anything may join is an **edge** e, which chooses one **way** w_e, or none.
A way is a set of **links**, each from an object of one state of the earlier mask to an object of one state of a later one:
whole → whole, pair → pair, whole → part, both parts to two wholes, whole → both parts (a division that is seen late), … What may
be between two masks is so one variable with many values, not many variables that exclude each other. With

- [s, w] = 1 where every object that a way takes is of the chosen state of its mask, and no object has two links leading to
  it, nor two ways leading on from it,
- A(s, w) the objects of chosen states to which no link leads (they **appear**), D(s, w) those from which none leads (they
  **disappear**),

    P(s, w) ∝ [s, w] · exp( Σ_m state(s_m) + Σ_e way(w_e) + Σ_{o ∈ A} appear(o) + Σ_{o ∈ D} disappear(o) )

An object with two daughters in one way divides. A **union** of two masks of a frame is one object of a state of the first mask,
tied to a state of the second one: both are chosen, or neither is.

Factors are masks (their state and all that their ends use) and edges (their way); a variable is the end of an edge at a mask:
which objects of which state it takes there, or none. Memory is linear in the number of links.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dunno import _core
from dunno.errors import ProblemError
from dunno.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class Hypotheses:
    """States of M masks, objects of S states, and W ways.

    Attributes:
        frame: (M,) of each mask.
        mask: (S,) of each state, sorted.
        state: (O,) of each object, sorted; three objects of a state at the most.
        n_ways: W.
        way: (L,) of each link.
        mother: (L,) the earlier object of each link.
        daughter: (L,) the later one.
        unions: (U, 2) states of two masks of a frame that are chosen together or not at all.
    """

    frame: Ints
    mask: Ints
    state: Ints
    n_ways: int
    way: Ints
    mother: Ints
    daughter: Ints
    unions: Ints

    @property
    def n_masks(self) -> int:
        """M."""
        return len(self.frame)

    @property
    def n_states(self) -> int:
        """S."""
        return len(self.mask)

    @property
    def n_objects(self) -> int:
        """O."""
        return len(self.state)

    @property
    def object_mask(self) -> Ints:
        """(O,) in which mask each object is."""
        return self.mask[self.state]

    @cached_property
    def graph(self) -> _core.SegmentGraph:
        """As the core takes it."""
        columns = (self.frame, self.mask, self.state, self.n_ways, self.way, self.mother, self.daughter)
        try:
            return _core.SegmentGraph(*columns, *np.ascontiguousarray(self.unions.T))
        except ValueError as error:
            raise ProblemError(str(error)) from None


@dataclass(frozen=True, eq=False)
class Weights:
    """Log weights; -inf where something cannot be.

    Attributes:
        state: (S,) of each state.
        appear: (O,) of each object where no link leads to it.
        disappear: (O,) of each object where no link leads on.
        way: (W,) of each way.
    """

    state: Floats
    appear: Floats
    disappear: Floats
    way: Floats
