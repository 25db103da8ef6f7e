"""Jumps: now and then a mask, or a cell, changes out of all proportion, and then its features say nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dunno.terms import Step, Surroundings, Term, parameter
from dunno.types import Floats
from dunno.types.stretch import Stretch

MOST_FOR = 3.0
"""What all features together may say for an edge, in nats; for a division, twice as much."""

JUMPING, JUMPING_WORTH = 0.05, 100.0
ODD_WORTH = 20.0


@dataclass(frozen=True)
class Jumps(Term):
    r"""With a small probability, what features say of an edge is nothing at all: $\log((1 - ε)\, r + ε)$.

    One ε for all features together, because a cell that jumps in one jumps in others (entering mitosis; a mask that is cut).
    """

    name: ClassVar[str] = "jumps"

    jumping: float = parameter("share of links", (1e-3, 0.5), f"{JUMPING}, worth {JUMPING_WORTH:.0f}", link="logit")
    odd: float = parameter("share of divisions", (1e-3, 0.5), f"{JUMPING}, worth {ODD_WORTH:.0f}", link="logit")

    @classmethod
    def start(cls, stretch: Stretch, cell_size: float, model: Surroundings) -> Jumps:
        """At the prior."""
        return cls(JUMPING, JUMPING)

    def told(self, ratio: Floats) -> Floats:
        """(E,) what is told of edges, from the sum of what features say."""
        return np.log((1 - self.jumping) * np.exp(np.minimum(ratio, MOST_FOR)) + self.jumping)

    def told_of_sisters(self, ratio: Floats) -> Floats:
        """(K,) the same of divisions."""
        return np.log((1 - self.odd) * np.exp(np.minimum(ratio, 2 * MOST_FOR)) + self.odd)

    def steady(self, ratio: Floats) -> Floats:
        """(E,) probability that an edge, if it is a link, did not jump."""
        return 1 - self.jumping * np.exp(-self.told(ratio))

    def steady_sisters(self, ratio: Floats) -> Floats:
        """(K,) the same of divisions."""
        return 1 - self.odd * np.exp(-self.told_of_sisters(ratio))

    def updated(self, step: Step) -> Jumps:
        """The expected shares."""
        stretch = step.stretch
        weight = step.weight[stretch.edge_transition] * step.single
        jumping = _share(weight, step.steady, JUMPING_WORTH)
        if step.sisters is None or step.divided is None:
            return replace(self, jumping=jumping)
        weight = step.weight[stretch.edge_transition[step.sisters.first]] * step.divided
        return replace(self, jumping=jumping, odd=_share(weight, step.steady_sisters, ODD_WORTH))


def _share(weight: Floats, steady: Floats | float, worth: float) -> float:
    share = (float((weight * (1 - steady)).sum()) + JUMPING * worth) / (float(weight.sum()) + worth)
    return float(np.clip(share, 1e-3, 0.5))
