"""The distance between centres: cells move like Brownian particles."""

from dataclasses import dataclass

import numpy as np

from dunno.costs import Cost
from dunno.errors import InputError
from dunno.perturbations.gaussian import Gaussian
from dunno.types import EventCosts, Floats, FramePair, Ints


@dataclass(frozen=True)
class Distance(Cost):
    r"""Squared distance between centres, times half the precision.

    $$w_{L2}(x_i, x'_j) = \frac{\lambda}{2} \lVert x_i - x'_j \rVert^2 \qquad\text{(Eq. 1 of the paper)}$$

    which is −log of Brownian motion with variance 1/λ per axis, up to a constant. By default an event costs as much
    as the longest edge: appear = disappear = λ/2 · max_distance², divide = 0.

    Distances are in pixels (in the shortest side of one, where sides differ), so that the unit of the movie's scale changes
    nothing.
    """

    precision: float = 1.0  # λ, per squared pixel
    name = "distance"
    fitted = ("precision",)
    perturbation = Gaussian()

    def __post_init__(self) -> None:
        if not (np.isfinite(self.precision) and self.precision > 0):
            raise InputError(f"precision is {self.precision}; expected a number above zero")

    def __call__(self, pair: FramePair, mother: Ints, daughter: Ints) -> Floats:
        """(E,) the cost of each edge."""
        step = (pair.daughters.centroid[daughter] - pair.mothers.centroid[mother]) / pair.pixel
        return np.asarray(self.precision / 2 * np.einsum("ed,ed->e", step, step))

    def spread(self, pair: FramePair) -> Floats:
        """(m,) every mother moves alike: this is a motion model, which `dunno.calibration` can fit without truth."""
        return np.ones(len(pair.mothers))

    def event_costs(self, pair: FramePair) -> EventCosts:
        """An event costs as much as the longest edge within the gate."""
        longest = self.precision / 2 * (pair.max_distance / pair.pixel) ** 2
        return EventCosts(appear=longest, disappear=longest, divide=0.0)
