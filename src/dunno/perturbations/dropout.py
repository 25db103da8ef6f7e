"""Parts of a network left out at random."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dunno.errors import InputError
from dunno.types import FramePair


@dataclass(frozen=True)
class Dropout:
    """Monte Carlo dropout: what a network with parts left out at random says about the same cells.

    Gal & Ghahramani 2016; the paper's Bayesian transformer (section 3.1 and its appendix). The features stay as they are, the
    cost itself is drawn: k stochastic passes through its network, for a cost that has `drawn(pair, k, rate, rng)`.
    """

    rate: float | None = None  # How much is left out, from 0 to below 1; `None` is the rate that the cost names
    name = "dropout"

    def __post_init__(self) -> None:
        if self.rate is not None and not 0 <= self.rate < 1:
            raise InputError(f"the dropout rate is {self.rate}; expected 0 or more, and below 1")

    def draws(self, pair: FramePair, cost: Any, k: int, rng: np.random.Generator) -> Iterator[FramePair]:
        """Yield k pairs, each with the costs that one stochastic pass gave."""
        for costs in cost.drawn(pair, k, self.rate, rng):
            yield replace(pair, drawn=costs)
