"""Objects that are no cells: smaller, they come and go more often, move by a law of their own, and never divide."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log

import numpy as np

from dunno.segments.densities import Prior, fitted_place, fitted_share, fitted_variance, student
from dunno.segments.laws.motion import GROWTH_TAIL, STEP_TAIL
from dunno.segments.laws.turnover import Events
from dunno.segments.near_pairs import Near
from dunno.types import Bools, Floats
from dunno.types.records import Dimensions, LogSize, ProperShare, Size

DEBRIS_AREA_TAIL, DEBRIS_AREA_WORTH = 6.0, 50.0  # degrees of freedom, objects; docs/masks.md
USUAL_SHARE, USUAL_SPREAD = 0.2, 0.6  # share, nats; docs/masks.md
"""Of a usual cell's area; spread of the log."""

SMALLER, SPREADS = log(3), (0.3, 0.6)  # nats; docs/masks.md
"""The middle log area is at least so much below the cells', its spread within these."""

LARGEST_DEBRIS = 0.5  # share; docs/masks.md
"""Masks above this share of a usual cell's area are no debris."""

DEBRIS_STEP_WORTH, DEBRIS_GROWTH_PRIOR = 20.0, Prior(0.25**2, 20.0)  # links, squared nats; docs/masks.md
DEBRIS_END_PRIOR, DEBRIS_MISSED_PRIOR, DEBRIS_MISSED_BOUNDS = (
    Prior(0.05, 100.0),
    Prior(0.1, 50.0),
    (0.01, 0.4),
)  # share; docs/masks.md
DEBRIS_APPEARING, DEBRIS_APPEAR_WORTH = 0.005, 10.0  # share, frames; docs/masks.md


@dataclass(frozen=True)
class Debris:
    """Rates, sizes and steps of debris.

    Attributes:
        dimensions: d.
        crowd: Cells per frame, as they are guessed at first.
        field: Area of the field.
        usual: Variance of a cell's step, as it is guessed at first.
        usual_area: Log of a cell's usual area, likewise.
        first: Objects per area in the first frame.
        appearing: Objects that appear, per area and frame.
        area: Middle and scale of the log area.
        step: Variance of a step.
        growth: Variance of the log ratio of areas.
        end: Share that ends, per frame.
        missed: Share of masks that are missing.
    """

    dimensions: Dimensions
    crowd: Size
    field: Size
    usual: Size
    usual_area: LogSize
    first: Size
    appearing: Size
    area: tuple[LogSize, Size]
    step: Size
    growth: Size = DEBRIS_GROWTH_PRIOR.mean
    end: ProperShare = DEBRIS_END_PRIOR.mean
    missed: ProperShare = DEBRIS_MISSED_PRIOR.mean

    @classmethod
    def beforehand(cls, dimensions: int, crowd: float, field: float, usual: float, usual_area: float) -> Debris:
        """With its priors."""
        area = usual_area + log(USUAL_SHARE), USUAL_SPREAD
        first, appearing = 0.1 * crowd / field, DEBRIS_APPEARING * crowd / field
        return cls(dimensions, crowd, field, usual, usual_area, first, appearing, area, usual)

    def may_be(self, log_area: Floats, cell_area: float) -> Bools:
        """Which segments are small enough."""
        return np.asarray((log_area < self.area[0] + 3 * self.area[1]) & (log_area < cell_area + log(LARGEST_DEBRIS)))

    def log_appear(self, log_area: Floats, at_first: Bools) -> Floats:
        """Density per area and log area."""
        rate = np.log(np.where(at_first, self.first, self.appearing))
        return rate + student((log_area - self.area[0]) ** 2, self.area[1] ** 2, DEBRIS_AREA_TAIL)

    def log_density(self, pairs: Near) -> Floats:
        """Of a link."""
        lag = pairs.lag
        step = student(pairs.squared, self.step * lag, STEP_TAIL, self.dimensions)
        growth = student(pairs.growth**2, self.growth * lag, GROWTH_TAIL)
        return step + growth + log(1 - self.end) + pairs.gap * log(self.missed)

    def fitted_links(self, pairs: Near, weight: Floats, there: float) -> Debris:
        """By links with these weights, and how much debris there is."""
        lag = pairs.lag
        step = fitted_variance(
            pairs.squared / lag, weight, self.step, STEP_TAIL, Prior(self.usual, DEBRIS_STEP_WORTH), self.dimensions
        )
        growth = fitted_variance(pairs.growth**2 / lag, weight, self.growth, GROWTH_TAIL, DEBRIS_GROWTH_PRIOR)
        missed = fitted_share(float((weight * pairs.gap).sum()), there, DEBRIS_MISSED_PRIOR)
        return replace(self, step=max(step, 0.05), growth=growth, missed=float(np.clip(missed, *DEBRIS_MISSED_BOUNDS)))

    def fitted(self, events: Events, log_area: Floats, frames: int) -> Debris:
        """By how probable it is that each object is there, appears and ends."""
        there, appear, disappear, at_first, at_last = events
        usual = self.usual_area + log(USUAL_SHARE), USUAL_SPREAD
        middle, scale = fitted_place(log_area, there, self.area, DEBRIS_AREA_TAIL, usual, DEBRIS_AREA_WORTH)
        area = min(middle, self.usual_area - SMALLER), float(np.clip(scale, *SPREADS))
        new = float(appear[~at_first].sum()) + DEBRIS_APPEARING * self.crowd * DEBRIS_APPEAR_WORTH
        return replace(
            self,
            first=(float(there.sum()) + 1) / frames / self.field,
            appearing=new / (frames - 1 + DEBRIS_APPEAR_WORTH) / self.field,
            area=area,
            end=fitted_share(float(disappear[~at_last].sum()), float(there[~at_last].sum()), DEBRIS_END_PRIOR),
        )
