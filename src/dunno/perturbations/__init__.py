"""Perturbations: what the movie might have looked like instead.

A perturbation is any object with `draws(pair, cost, k, rng)` that yields k frame pairs with the same cells, seen a bit
differently: other centres, other masks, other features. Each module here holds one; a cost names its natural one
as `perturbation`, and `Tracker(perturbation=…)` takes another.
"""

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from dunno.types import FramePair


class Perturbation(Protocol):
    """What every perturbation can do."""

    name: str

    def draws(self, pair: FramePair, cost: Any, k: int, rng: np.random.Generator) -> Iterator[FramePair]:
        """Yield k perturbed versions of a pair, for a cost to be evaluated on."""
        ...
