"""How far objects move and how much their areas change from frame to frame."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dunno.segments.densities import Prior, fitted_variance, student
from dunno.segments.near_pairs import Near
from dunno.types import Floats
from dunno.types.records import Dimensions, Size

STEP_TAIL, GROWTH_TAIL = 3.0, 4.0  # degrees of freedom; judged
"""Degrees of freedom of Student's t."""

STEP_WORTH, GROWTH_PRIORS = (
    (20.0, 50.0, 50.0),
    (Prior(0.12**2, 20.0), Prior(0.25**2, 50.0), Prior(0.25**2, 50.0)),
)  # links, squared nats; docs/masks.md
"""By how many of the two segments are parts: worths of the usual step's prior, and priors of the growth's variance."""

PARTS_MOVE = 2.0  # ratio; docs/masks.md
"""Variance of a part's step over that of a whole's, beforehand."""

LEAST_STEP_VARIANCE, LEAST_GROWTH_VARIANCE = 0.05, 0.03**2  # px², squared nats; judged
"""Variances do not fall below these (px², 1)."""


@dataclass(frozen=True)
class Motion:
    """Student's t of the step in d dimensions, and of the log ratio of areas; variances grow by the frames that a link takes.

    Attributes:
        dimensions: d.
        usual: Variance of a step, as it is guessed before links are known.
        step: Variances, by how many of the two segments are parts.
        growth: Variances, likewise.
    """

    dimensions: Dimensions
    usual: Size
    step: tuple[Size, Size, Size]
    growth: tuple[Size, Size, Size]

    @classmethod
    def beforehand(cls, usual: float, dimensions: int) -> Motion:
        """With its priors."""
        return cls(dimensions, usual, (usual,) * 3, (0.12**2, 0.2**2, 0.2**2))

    def log_density(self, pairs: Near) -> Floats:
        """Of each link."""
        lag = pairs.lag
        step, growth = np.array(self.step)[pairs.parts] * lag, np.array(self.growth)[pairs.parts] * lag
        return student(pairs.squared, step, STEP_TAIL, self.dimensions) + student(pairs.growth**2, growth, GROWTH_TAIL)

    def fitted(self, pairs: Near, weight: Floats) -> Motion:
        """By links with these weights."""
        lag = pairs.lag
        step, growth = list(self.step), list(self.growth)
        for k in range(3):
            own = pairs.parts == k
            squared, w = pairs.squared[own] / lag[own], weight[own]
            prior = Prior(self.usual if k == 0 else step[0] * PARTS_MOVE, STEP_WORTH[k])
            step[k] = max(fitted_variance(squared, w, step[k], STEP_TAIL, prior, self.dimensions), LEAST_STEP_VARIANCE)
            change = pairs.growth[own] ** 2 / lag[own]
            growth[k] = max(fitted_variance(change, w, growth[k], GROWTH_TAIL, GROWTH_PRIORS[k]), LEAST_GROWTH_VARIANCE)
        return replace(self, step=(step[0], step[1], step[2]), growth=(growth[0], growth[1], growth[2]))
