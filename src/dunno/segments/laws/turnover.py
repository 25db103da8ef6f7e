"""How cells appear and end without a division, how large they then are, and how often their masks are missing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from dunno.segments.densities import Prior, fitted_place, fitted_share, student
from dunno.types import Bools, Floats
from dunno.types.records import LogSize, ProperShare, Size

AREA_TAIL = 6.0  # degrees of freedom; judged
AREA_WORTH = 30.0  # cells; docs/masks.md
AREA_SPREAD = 0.35  # nats; docs/masks.md
END_PRIOR, BORDER_END_PRIOR, MISSED_PRIOR = (
    Prior(0.003, 300.0),
    Prior(0.03, 100.0),
    Prior(0.01, 200.0),
)  # shares; docs/masks.md
APPEARING, APPEARING_AT_BORDER, APPEAR_WORTH = 0.002, 0.02, 20.0  # share, frames; docs/masks.md
"""Of the cells of a frame, inside the field and at its border; worth so many frames."""

MISSED_BOUNDS = 0.001, 0.1  # share; judged


class Events(NamedTuple):
    """How probable it is that each object is there, appears and ends, and whether that is in the first frame, or the last."""

    there: Floats
    appear: Floats
    disappear: Floats
    at_first: Bools
    at_last: Bools

    def only(self, own: Bools) -> Events:
        """Of some of them."""
        there, appear, disappear, at_first, at_last = self
        return Events(there[own], appear[own], disappear[own], at_first[own], at_last[own])


@dataclass(frozen=True)
class Turnover:
    """Rates per frame; cells that appear have a usual area.

    Attributes:
        crowd: Cells per frame, as they are guessed at first.
        field: Area (or volume) of the field.
        border: That of its border.
        usual_area: Log of a usual area, as it is guessed at first.
        first: Cells per area in the first frame.
        inside: Cells that appear, per area and frame.
        at_border: The same along the border.
        end: Share of cells that end, per frame.
        end_at_border: The same at the border.
        missed: Share of masks that are missing.
        area: Middle and scale of the log area.
    """

    crowd: Size
    field: Size
    border: Size
    usual_area: LogSize
    first: Size
    inside: Size
    at_border: Size
    area: tuple[LogSize, Size]
    end: ProperShare = END_PRIOR.mean
    end_at_border: ProperShare = BORDER_END_PRIOR.mean
    missed: ProperShare = MISSED_PRIOR.mean

    @classmethod
    def beforehand(
        cls, crowd: float, field: float, border: float, area: tuple[float, float], usual_area: float
    ) -> Turnover:
        """With its priors."""
        inside, at_border = APPEARING * crowd / field, APPEARING_AT_BORDER * crowd / border
        return cls(crowd, field, border, usual_area, 0.8 * crowd / field, inside, at_border, area)

    def log_area(self, log_area: Floats) -> Floats:
        """Density of the log area of a cell that appears."""
        return student((log_area - self.area[0]) ** 2, self.area[1] ** 2, AREA_TAIL)

    def log_appear(self, at_border: Bools, at_first: Bools) -> Floats:
        """Density per area."""
        return np.log(np.where(at_first, self.first, np.where(at_border, self.at_border, self.inside)))

    def ending(self, at_border: Bools) -> Floats:
        """The share that ends."""
        return np.where(at_border, self.end_at_border, self.end)

    def fitted(self, events: Events, at_border: Bools, frames: int) -> Turnover:
        """By how probable it is that each cell is there, appears and ends."""
        there, appear, disappear, at_first, at_last = events
        inside, border = ~at_border & ~at_first, at_border & ~at_first
        steps = frames - 1 + APPEAR_WORTH
        return replace(
            self,
            first=(float(there.sum()) + 2) / frames / self.field,
            inside=(float(appear[inside].sum()) + APPEARING * self.crowd * APPEAR_WORTH) / steps / self.field,
            at_border=(float(appear[border].sum()) + APPEARING_AT_BORDER * self.crowd * APPEAR_WORTH)
            / steps
            / self.border,
            end=_share_that_ends(disappear, there, ~at_border & ~at_last, END_PRIOR),
            end_at_border=_share_that_ends(disappear, there, at_border & ~at_last, BORDER_END_PRIOR),
        )

    def with_area(self, log_area: Floats, single: Floats) -> Turnover:
        """The usual area, by how probable it is that each mask is one cell."""
        area = fitted_place(log_area, single, self.area, AREA_TAIL, (self.usual_area, AREA_SPREAD), AREA_WORTH)
        return replace(self, area=area)

    def with_missed(self, skipped: float, cells: float) -> Turnover:
        """By how many masks links skip."""
        return replace(self, missed=float(np.clip(fitted_share(skipped, cells, MISSED_PRIOR), *MISSED_BOUNDS)))


def _share_that_ends(disappear: Floats, there: Floats, own: Bools, prior: Prior) -> float:
    return fitted_share(float(disappear[own].sum()), float(there[own].sum()), prior)
