"""Jumps: now and then a mask, or a cell, changes out of all proportion, and then its features say nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dunno.terms import Prior, Step, Term, bounded, share
from dunno.types import Floats

JUMP_BOUND = 3.0  # nats; benchmarks.stage
"""What all features together may say for an edge, in nats; for a division, twice as much."""


@dataclass(frozen=True)
class Jumps(Term):
    r"""With a small probability, what features say of an edge is nothing at all: $\log((1 - ε)\, r + ε)$.

    One ε for all features together, because a cell that jumps in one jumps in others (entering mitosis; a mask that is cut).
    """

    name: ClassVar[str] = "jumps"
    bounds_features: ClassVar[bool] = True

    jumping: float = share("share of links", (1e-3, 0.5), Prior(0.05, 100, "links"))
    odd: float = share("share of divisions", (1e-3, 0.5), Prior(0.05, 20, "divisions"))

    def bounded(self, ratio: Floats) -> Floats:
        """(E,) what counts of the sum of what features say of edges."""
        return bounded(ratio, self.jumping, JUMP_BOUND)

    def bounded_of_sisters(self, ratio: Floats) -> Floats:
        """(K,) the same of divisions."""
        return bounded(ratio, self.odd, 2 * JUMP_BOUND)

    def steady(self, ratio: Floats) -> Floats:
        """(E,) probability that an edge, if it is a link, did not jump."""
        return 1 - self.jumping * np.exp(-self.bounded(ratio))

    def steady_sisters(self, ratio: Floats) -> Floats:
        """(K,) the same of divisions."""
        return 1 - self.odd * np.exp(-self.bounded_of_sisters(ratio))

    def updated(self, step: Step) -> Jumps:
        """The expected shares."""
        found = {"jumping": self._share("jumping", step.counts * step.single, step.steady)}
        if step.divisions is not None:
            found["odd"] = self._share("odd", step.divisions[1], step.steady_sisters)
        return self.fitted(**found)

    def _share(self, name: str, weight: Floats, steady: Floats | float) -> float:
        return float(self.prior(name).posterior_mean(float((weight * (1 - steady)).sum()), float(weight.sum())))
