"""Noise on the cells' centres."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dunno.errors import InputError
from dunno.types import Detections, FramePair


@dataclass(frozen=True)
class Gaussian:
    r"""Gaussian noise on every centre, or on every feature where the cost compares features.

    $$\hat x = x + \epsilon, \qquad \epsilon \sim N(0, \gamma I) \qquad\text{(section 2.1.2 of the paper)}$$

    The variance is in squared pixels along each axis, so a voxel's noise scales with its size. A cost that has
    `features(detections)` gets the noise there instead, in the features' own units, or in what its `feature_unit(pair)` says.
    """

    variance: float = 0.1  # γ
    name = "gaussian"

    def __post_init__(self) -> None:
        if not (np.isfinite(self.variance) and self.variance >= 0):
            raise InputError(f"the variance is {self.variance}; expected zero or more")

    def draws(self, pair: FramePair, cost: Any, k: int, rng: np.random.Generator) -> Iterator[FramePair]:
        """Yield k pairs with noisy centres or features."""
        for _ in range(k):
            mothers = self._shaken(pair.mothers, pair, cost, rng)
            yield replace(pair, mothers=mothers, daughters=self._shaken(pair.daughters, pair, cost, rng))

    def _shaken(self, cells: Detections, pair: FramePair, cost: Any, rng: np.random.Generator) -> Detections:
        deviation = np.sqrt(self.variance)
        if (features := cost.features(cells)) is not None:
            noise = cost.feature_unit(pair) * deviation * rng.standard_normal(features.shape)
            return replace(cells, features=features + noise)
        noise = deviation * rng.standard_normal(cells.centroid.shape) * np.asarray(pair.scale)
        return replace(cells, centroid=cells.centroid + noise)
