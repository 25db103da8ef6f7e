"""How often masks hold two cells, a cell and a fragment, three cells, a part of a cell, or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import log

import numpy as np

from dunno.errors import InputError
from dunno.segments.densities import Prior, any_direction, fitted_share, normal, student
from dunno.segments.holdings import Content
from dunno.types import Floats
from dunno.types.records import LogSize, ProperShare, Size

BEGIN_PRIORS = {
    Content.PAIR: Prior(0.007, 500.0),
    Content.COUPLE: Prior(0.003, 500.0),
    Content.FRAGMENT: Prior(0.005, 500.0),
    Content.TRIO: Prior(0.0005, 2000.0),
    Content.UNION: Prior(0.01, 200.0),
}  # share; docs/masks.md
"""How many of the masks begin to hold that."""

STAY_PRIORS = {
    Content.PAIR: Prior(0.4, 200.0),
    Content.COUPLE: Prior(0.93, 200.0),
    Content.FRAGMENT: Prior(0.7, 200.0),
    Content.TRIO: Prior(0.7, 200.0),
    Content.UNION: Prior(0.5, 20.0),
}  # share; docs/masks.md
"""How many go on to."""

LASTING = (Content.PAIR, Content.COUPLE, Content.FRAGMENT, Content.TRIO)
"""What goes on together, or does not."""

NOTHING_SHARE, NOTHING_WORTH = 0.02, 10.0  # share, frames; docs/masks.md
NOTHING_AREA, NOTHING_SPREAD, NOTHING_TAIL = log(0.3), 1.2, 6.0  # nats, nats, degrees of freedom; docs/masks.md
"""Masks that hold nothing: as a share of a frame's cells, worth so many frames; their log area beside the usual cell's."""

UNION_LENGTH, UNION_SPREAD, UNION_BALANCE, UNION_WORTH = (
    log(0.6),
    0.3,
    1.0,
    10.0,
)  # nats, nats, nats, unions; docs/masks.md
"""Of the masks of one cell: log distance in roots of the area, log ratio of areas."""


@dataclass(frozen=True)
class Sharing:
    """Rates.

    Attributes:
        crowd: Cells per frame, as they are guessed at first.
        extent: Area of the field.
        usual_area: Log of a usual cell's area.
        nothing: Masks of nothing per area and frame.
        begins: Of each content, how many masks begin to hold it.
        stays: How many go on to.
        union_length: Mean log distance of the masks of one cell, in roots of the area.
        union_spread: Its standard deviation.
        union_balance: Standard deviation of the log ratio of their areas.
    """

    crowd: Size
    extent: Size
    usual_area: LogSize
    nothing: Size
    begins: Mapping[Content, ProperShare] = field(default_factory=lambda: {c: p.mean for c, p in BEGIN_PRIORS.items()})
    stays: Mapping[Content, ProperShare] = field(default_factory=lambda: {c: p.mean for c, p in STAY_PRIORS.items()})
    union_length: LogSize = UNION_LENGTH
    union_spread: Size = UNION_SPREAD + 0.1
    union_balance: Size = UNION_BALANCE

    def __post_init__(self) -> None:
        for name in ("begins", "stays"):
            if set(getattr(self, name)) != set(BEGIN_PRIORS):
                raise InputError(f"{name} has {len(getattr(self, name))} values; expected one of each content")
        if self.single <= 0:
            raise InputError(f"begins adds up to {1 - self.single:g}; expected less than 1")

    @classmethod
    def beforehand(cls, crowd: float, area: float, usual_area: float) -> Sharing:
        """With its priors."""
        return cls(crowd, area, usual_area, NOTHING_SHARE * crowd / area)

    @property
    def single(self) -> float:
        """How many masks begin to hold one cell as they are."""
        return 1.0 - sum(self.begins.values())

    @property
    def log_stays(self) -> Floats:
        """By content; 0 for what is no state of several objects."""
        return np.array([log(self.stays[c]) if c in LASTING else 0.0 for c in Content])

    @property
    def log_parts(self) -> Floats:
        """By content, of not staying together."""
        return np.array([log(1 - self.stays[c]) if c in LASTING else 0.0 for c in Content])

    def log_nothing(self, log_area: Floats) -> Floats:
        """Density per area and log area."""
        spread = (log_area - self.usual_area - NOTHING_AREA) ** 2
        return log(self.nothing) + student(spread, NOTHING_SPREAD**2, NOTHING_TAIL)

    def log_begins(self, content: Content, at_first: Floats) -> Floats:
        """Of masks in this state; in the first frame it has begun some time before."""
        begins, stays = self.begins[content], self.stays[content]
        return np.log(np.where(at_first, begins / (begins + 1 - stays), begins))

    def log_union(self, length: Floats, balance: Floats, dimensions: int) -> Floats:
        """Density of how two masks of one cell lie, in units of the area's root."""
        vector = normal(np.log(length) - self.union_length, self.union_spread) + any_direction(length, dimensions)
        return np.asarray(vector + log(2) + normal(balance, self.union_balance))

    def fitted(
        self,
        held: Mapping[Content, float],
        able: Mapping[Content, float],
        stayed: Mapping[Content, float],
        nothing: float,
        n_frames: int,
    ) -> Sharing:
        """By how many masks hold each content, in all and before the last frame, and how many go on to it."""
        total = sum(held.values())
        begins, stays = {}, {}
        for content, prior in BEGIN_PRIORS.items():
            begun = max(held[content] - stayed[content], 0.0)
            begins[content] = float(np.clip(fitted_share(begun, total, prior), 1e-4, 0.2))
            stays[content] = fitted_share(stayed[content], able[content], STAY_PRIORS[content])
        nothing_rate = (nothing + NOTHING_SHARE * self.crowd * NOTHING_WORTH) / (n_frames + NOTHING_WORTH) / self.extent
        return replace(self, begins=begins, stays=stays, nothing=nothing_rate)

    def with_unions(self, length: Floats, balance: Floats, weight: Floats) -> Sharing:
        """How the masks of one cell lie."""
        total = float(weight.sum()) + UNION_WORTH
        mean = (float((weight * np.log(length)).sum()) + UNION_WORTH * UNION_LENGTH) / total
        variance = (float((weight * (np.log(length) - mean) ** 2).sum()) + UNION_WORTH * UNION_SPREAD**2) / total
        unequal = (float((weight * balance**2).sum()) + UNION_WORTH * UNION_BALANCE**2) / total
        return replace(self, union_length=mean, union_spread=max(variance**0.5, 0.15), union_balance=unequal**0.5)
