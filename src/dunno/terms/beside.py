"""Beside: masks appear beside other masks without a division: fragments, and cells that come apart."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dunno.terms import Step, Surroundings, Term, Words, parameter
from dunno.types import Floats
from dunno.types.density import UNIT_SPHERE, log_student
from dunno.types.stretch import Stretch

NEIGHBOURS = 3
TAIL = 4.0
PRIOR_SHARE, PRIOR_WORTH = 1e-3, 300.0
PRIOR_MASKS = 10.0
PRIOR_SPREADS = (0.4, 0.6)
"""Spreads that are believed before the movie: of the log distance to the neighbour, and of the log area."""


@dataclass(frozen=True)
class Beside(Term):
    r"""Every cell has, with a small probability $π_b$, a mask beside it that came from nowhere.

    It lies at a distance r with $\log r \sim t_4$, in any direction, and its log area follows a law of its own, relative to the
    population's. What would else be a division's second daughter may be such a mask.
    """

    name: ClassVar[str] = "beside"
    against_false_divisions: ClassVar[bool] = True

    p_beside: float = parameter(
        "share of cells per step",
        (1e-7, 0.2),
        f"{PRIOR_SHARE:g}, worth {PRIOR_WORTH:.0f} cells",
        link="logit",
        words=Words("masks that appear beside others", "% of cells per step", "percent"),
    )
    beside_distance: float = parameter("length", (0.0, np.inf), f"a cell's size, worth {PRIOR_MASKS:.0f} masks")
    beside_spread: float = parameter("of its logarithm", (0.05, 3.0), f"0.4, worth {PRIOR_MASKS:.0f} masks")
    beside_size: float = parameter("log area over the usual", (-10.0, 10.0), "-0.5, worth 10 masks", link="none")
    beside_size_spread: float = parameter("of it", (0.05, 3.0), f"0.6, worth {PRIOR_MASKS:.0f} masks")
    centre: float = 0.0
    width: float = 1.0
    usual_distance: float = 1.0

    @classmethod
    def start(cls, stretch: Stretch, cell_size: float, model: Surroundings) -> Beside:
        """From the size of cells."""
        size = stretch.column("log_area")
        centre = float(np.median(size)) if len(size) else 0.0
        width = max(1.4826 * float(np.median(np.abs(size - centre))), 0.05) if len(size) else 1.0
        return cls(PRIOR_SHARE, cell_size, PRIOR_SPREADS[0], -0.5, PRIOR_SPREADS[1], centre, width, cell_size)

    def appear(self, model: Surroundings, stretch: Stretch) -> Floats:
        """(N,) density of masks that appear beside another one."""
        distance = stretch.neighbour_distances(NEIGHBOURS)
        d = stretch.n_dimensions
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(distance)
            law = log_student((logs - np.log(self.beside_distance)) ** 2, self.beside_spread**2, TAIL, 1)
            density = np.exp(law - np.log(UNIT_SPHERE[d]) - d * logs)
        near = np.where(np.isfinite(distance) & (distance > 0), density, 0.0).sum(axis=1)
        return np.asarray(self.p_beside * near * np.exp(self._size_ratio(stretch)))

    def appearances(self, model: Surroundings, stretch: Stretch) -> Floats:
        """(R,) how many appear."""
        return np.asarray(self.p_beside * stretch.n_daughters)

    def _size_ratio(self, stretch: Stretch) -> Floats:
        size = stretch.column("log_area") - self.centre
        own = log_student((size - self.beside_size) ** 2, self.beside_size_spread**2, TAIL, 1)
        return np.minimum(own - log_student(size**2, self.width**2, 5.0, 1), 3.0)

    def updated(self, step: Step) -> Beside:
        """The expected number of such masks, how far they are from their neighbours, and their sizes."""
        stretch = step.stretch
        if "p_lost" in step.held:
            return self
        rows = stretch.is_daughter
        weight = (step.found.appear * step.ways.appear_share(self.name))[rows]
        weight = weight * step.weight[stretch.follows[rows]]
        total, cells = float(weight.sum()), float((step.weight * stretch.n_daughters).sum())
        share = (total + PRIOR_SHARE * PRIOR_WORTH) / (cells + PRIOR_WORTH)
        nearest = np.log(np.maximum(stretch.neighbour_distances(NEIGHBOURS)[rows, 0], 1e-300))
        known = np.isfinite(nearest)
        far, far_spread = _law(
            nearest[known], weight[known], np.log(self.beside_distance), self.beside_spread,
            float(np.log(self.usual_distance)), PRIOR_SPREADS[0],
        )  # fmt: skip
        size = stretch.column("log_area")[rows] - self.centre
        mean, spread = _law(size, weight, self.beside_size, self.beside_size_spread, -0.5, PRIOR_SPREADS[1])
        return replace(
            self,
            p_beside=float(np.clip(share, 1e-7, 0.2)),
            beside_distance=float(np.exp(far)),
            beside_spread=far_spread,
            beside_size=mean,
            beside_size_spread=spread,
        )


def _law(
    value: Floats, weight: Floats, mean: float, spread: float, prior: float, prior_spread: float
) -> tuple[float, float]:
    """A Student law's mean and spread, one step on, drawn to the priors."""
    robust = weight * (TAIL + 1) / (TAIL + (value - mean) ** 2 / spread**2)
    mean = (float((robust * value).sum()) + PRIOR_MASKS * prior) / (float(robust.sum()) + PRIOR_MASKS)
    total = float((robust * (value - mean) ** 2).sum()) + PRIOR_MASKS * prior_spread**2
    return mean, float(np.clip(np.sqrt(total / (float(weight.sum()) + PRIOR_MASKS)), 0.05, 3.0))
