"""Motion: how far a cell that does not divide moves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dunno.terms import ModelView, Step, Term, Words, parameter, robust_weight
from dunno.types import Floats
from dunno.types.density import log_student, tail_slope
from dunno.types.searching import find_zero
from dunno.types.stretch import Stretch, Value

TAILS = (2.0, 100.0)  # degrees of freedom; judged
"""Bounds on ν; above the upper one, motion is as good as Gaussian."""

START_TAIL = 3.0  # degrees of freedom; judged; where a fit begins
LEAST_SCALE = 1e-9  # length²; exact: keeps a density finite
NEGLIGIBLE_SCALE = 1e-4  # probability; judged; edges that take no part in fitting ν
STUDENT_ROUNDS = 3  # rounds; judged; of scale and ν in turn within one round of EM


@dataclass(frozen=True)
class Motion(Term):
    r"""A single daughter lands at its mother's place plus a Student-t displacement.

    $$x'_j - x_i \sim t_ν(0, T)$$

    with ν degrees of freedom and scale T per axis; ν → ∞ is the paper's Brownian motion. Where a cost has a spread α
    (activity), displacements are in units of √α; where cells are carried along, they count from the predicted place.
    """

    name: ClassVar[str] = "motion"
    is_place: ClassVar[bool] = True

    motion_scale: Value = parameter(
        "squared length per axis and step",
        (0.0, np.inf),
        varies=True,
        words=Words("motion per axis", "length per step", "root"),
    )
    tail: float = parameter("degrees of freedom", TAILS)
    lag_power: float = 1.0
    """How the motion scale grows with the number of steps: 1 for Brownian motion, 0 for cells that stay."""

    least_scale: float = 0.0
    """The motion scale of cells that do not move at all, in proportion to their size."""

    @classmethod
    def start(cls, stretch: Stretch, cell_size: float, model: ModelView) -> Motion:
        """From the distances to the nearest mothers."""
        near = nearest(stretch)
        scale = float(np.median(near)) / 1.4 if len(near) else cell_size**2
        return cls(max(scale, 1e-6 * cell_size**2), START_TAIL, least_scale=LEAST_SCALE * cell_size**2)

    def log_single(self, stretch: Stretch) -> Floats:
        """(E,) log density of landing there as the only daughter."""
        scale = stretch.by_edge(self.motion_scale)
        if stretch.lag is not None:
            scale = np.asarray(scale * stretch.beyond**self.lag_power, np.float64)
        return log_student(stretch.squared, scale, self.tail, stretch.n_dimensions) - stretch.log_volume

    def updated(self, step: Step) -> Motion:
        """Half a step towards the best ν, then the scale that belongs to it."""
        weight = step.single * step.interior
        tail = self.tail if "tail" in step.held else self._better_tail(step, weight)
        return replace(self, tail=tail, motion_scale=step.kept(self._scales(step, weight, tail)))

    def _scales(self, step: Step, weight: Floats, tail: float) -> Floats:
        """(R,) T ← ΣPuδ / (dΣP), u = (ν + d)/(ν + δ/T), a few times over."""
        stretch = step.stretch
        d, owner, squared = stretch.n_dimensions, stretch.edge_transition, stretch.squared
        seen = np.flatnonzero(weight > 0)
        owner, squared, weight = owner[seen], squared[seen], weight[seen]
        scale = np.broadcast_to(np.asarray(self.motion_scale, np.float64), len(stretch)).copy()
        count = step.smooth @ (d * np.bincount(owner, weight, minlength=len(stretch)))
        for _ in range(STUDENT_ROUNDS):
            robust = robust_weight(1.0, squared / scale[owner], tail, d)
            moved = np.bincount(owner, weight * robust * squared, minlength=len(stretch))
            scale = np.maximum(step.smooth @ moved / np.maximum(count, 1e-12), self.least_scale)
        return scale

    def _better_tail(self, step: Step, weight: Floats) -> float:
        """Half a step, on the log scale, towards the ν that makes the expected displacements most likely."""
        stretch = step.stretch
        share = step.counts * weight
        seen = share > NEGLIGIBLE_SCALE
        if not seen.any():
            return self.tail
        ratio = (stretch.squared / stretch.by_edge(self.motion_scale))[seen]
        share, d = share[seen], stretch.n_dimensions

        def slope(log_tail: float) -> float:
            return float((share * tail_slope(ratio, np.exp(log_tail), d)).sum())

        low, high = np.log(TAILS).tolist()
        best = find_zero(slope, low, high, start=float(np.log(self.tail)), within=0.01)
        return float(np.clip(np.exp(0.5 * np.log(self.tail) + 0.5 * best), *TAILS))


def nearest(stretch: Stretch) -> Floats:
    """Each daughter's least δ, of those that have candidates."""
    least = np.full(stretch.n_rows, np.inf)
    np.minimum.at(least, stretch.daughter, stretch.squared)
    return np.asarray(least[np.isfinite(least)])
