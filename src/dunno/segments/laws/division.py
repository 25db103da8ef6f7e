"""How often cells divide, which ones, and how their daughters lie."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log

import numpy as np

from dunno.segments.densities import Prior, any_direction, fitted_share, fitted_variance, normal, student
from dunno.segments.ways import Splits
from dunno.types import Floats
from dunno.types.records import Dimensions, LogSize, ProperShare, Size

MIDDLE_TAIL, OTHER_TAIL = 3.0, 4.0  # degrees of freedom; judged
RATE_PRIOR, LATE_PRIOR, COUPLE_PRIOR = Prior(0.005, 400.0), Prior(0.5, 20.0), Prior(0.1, 20.0)  # shares; docs/masks.md
"""Divisions per cell and frame; the share of them whose daughters share a mask at first, and of these, for long."""

MIDDLE_WORTH = 10.0  # divisions; docs/masks.md
SEPARATION_PRIOR, SEPARATION_SPREAD, LEAST_SEPARATION_SPREAD = Prior(log(0.8), 15.0), 0.35, 0.25  # nats; docs/masks.md
GROWTH_PRIOR, GROWTH_SPREADS = (
    Prior(0.0, 15.0),
    (Prior(0.2**2, 10.0), Prior(0.12**2, 10.0)),
)  # nats, squared nats; docs/masks.md
IMBALANCE_PRIOR, LARGEST_IMBALANCE = Prior(0.25**2, 15.0), 0.4  # squared nats, nats; docs/masks.md
MOTHER_WORTH, MOTHER_LARGER, MOTHER_SPREAD, LEAST_MOTHER_SPREAD = 15.0, 0.2, 0.35, 0.2  # divisions, nats; docs/masks.md
"""Log area of mothers, beside that of cells in general."""


@dataclass(frozen=True)
class Geometry:
    """Student's t of the middle's step, of the log distance, of what both are together, and of how alike they are.

    Attributes:
        dimensions: d.
        usual: Variance of the middle's step beforehand.
        usual_growth: Variance of the log ratio of areas beforehand.
        middle: Variance of the middle's step.
        growth_variance: Variance of the log ratio of the daughters' areas together to the mother's.
        growth: Mean of that log ratio.
        separation: Mean log distance of the daughters, in roots of the mother's area.
        separation_spread: Its standard deviation.
        imbalance: Variance of the log ratio of the daughters' areas.
    """

    dimensions: Dimensions
    usual: Size
    usual_growth: Prior
    middle: Size
    growth_variance: Size
    growth: LogSize = GROWTH_PRIOR.mean
    separation: LogSize = SEPARATION_PRIOR.mean
    separation_spread: Size = SEPARATION_SPREAD
    imbalance: Size = 0.3**2

    @classmethod
    def beforehand(cls, dimensions: int, usual: float, usual_growth: Prior) -> Geometry:
        """With its priors."""
        return cls(dimensions, usual, usual_growth, usual, usual_growth.mean)

    def log_density(self, splits: Splits, root: Floats) -> Floats:
        """Of where the daughters are; `root` is the d-th root of each mother's area."""
        distance = np.exp(splits.separation) * root
        separation = student((splits.separation - self.separation) ** 2, self.separation_spread**2, OTHER_TAIL)
        return np.asarray(
            student(splits.squared, self.middle, MIDDLE_TAIL, self.dimensions)
            + separation
            + any_direction(distance, self.dimensions)
            + log(2)
            + student((splits.growth - self.growth) ** 2, self.growth_variance, OTHER_TAIL)
            + student(splits.imbalance**2, self.imbalance, OTHER_TAIL)
        )

    def fitted(self, splits: Splits, weight: Floats) -> Geometry:
        """By divisions with these weights."""
        separation, growth = (
            _mean(splits.separation, weight, SEPARATION_PRIOR),
            _mean(splits.growth, weight, GROWTH_PRIOR),
        )
        spread_prior = Prior(SEPARATION_SPREAD**2, SEPARATION_PRIOR.worth)
        spread = _mean((splits.separation - separation) ** 2, weight, spread_prior) ** 0.5
        usual, from_mean = Prior(self.usual, MIDDLE_WORTH), (splits.growth - growth) ** 2
        return replace(
            self,
            middle=fitted_variance(splits.squared, weight, self.middle, MIDDLE_TAIL, usual, self.dimensions),
            separation=separation,
            separation_spread=max(spread, LEAST_SEPARATION_SPREAD),
            growth=growth,
            growth_variance=fitted_variance(from_mean, weight, self.growth_variance, OTHER_TAIL, self.usual_growth),
            imbalance=min(_mean(splits.imbalance**2, weight, IMBALANCE_PRIOR), LARGEST_IMBALANCE**2),
        )


@dataclass(frozen=True)
class Division:
    """Rates, mothers, and both geometries.

    Attributes:
        apart: Where the daughters have masks of their own at once.
        together: Where they share one at first: the division is seen late.
        rate: How often a cell divides, per frame.
        late: The share of divisions that is seen late.
        couple: The share of these in which the daughters stay together for long.
        mother: Mean and standard deviation of a mother's log area, beside the usual one.
    """

    apart: Geometry
    together: Geometry
    rate: ProperShare = RATE_PRIOR.mean
    late: ProperShare = LATE_PRIOR.mean
    couple: ProperShare = COUPLE_PRIOR.mean
    mother: tuple[LogSize, Size] = (MOTHER_LARGER, MOTHER_SPREAD)

    @classmethod
    def beforehand(cls, dimensions: int, middle: float, step: float) -> Division:
        """With its priors; variances of the middle's step where daughters are apart, and where they are together."""
        apart, together = (
            Geometry.beforehand(dimensions, usual, growth)
            for usual, growth in zip((middle, step), GROWTH_SPREADS, strict=True)
        )
        return cls(apart, together)

    def log_density(self, splits: Splits, root: Floats) -> Floats:
        """Of each division, the rate included."""
        apart, together = self.apart.log_density(splits, root), self.together.log_density(splits, root)
        return log(self.rate) + np.where(splits.late, log(self.late) + together, log(1 - self.late) + apart)

    def log_mother(self, larger: Floats) -> Floats:
        """Of the log area of a mother, beside the usual one."""
        return normal(larger - self.mother[0], self.mother[1])

    def fitted(self, splits: Splits, weight: Floats, larger: Floats, in_couples: float, cells: float) -> Division:
        """By divisions with these weights and mothers, so many into couples, among so many cells that could have divided."""
        total, late = float(weight.sum()), float(weight[splits.late].sum())
        mean = _mean(larger, weight, Prior(MOTHER_LARGER, MOTHER_WORTH))
        spread = _mean((larger - mean) ** 2, weight, Prior(MOTHER_SPREAD**2, MOTHER_WORTH)) ** 0.5
        return Division(
            self.apart.fitted(splits, weight * ~splits.late),
            self.together.fitted(splits, weight * splits.late),
            fitted_share(total, cells, RATE_PRIOR),
            fitted_share(late, total, LATE_PRIOR),
            fitted_share(in_couples, late, COUPLE_PRIOR),
            (mean, max(spread, LEAST_MOTHER_SPREAD)),
        )


def _mean(x: Floats, weight: Floats, prior: Prior) -> float:
    return (float((weight * x).sum()) + prior.worth * prior.mean) / (float(weight.sum()) + prior.worth)
