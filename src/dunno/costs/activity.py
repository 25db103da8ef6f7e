"""The distance between centres, where active cells may move farther."""

from dataclasses import dataclass

import numpy as np

from dunno.costs import Cost
from dunno.errors import InputError
from dunno.perturbations.gaussian import Gaussian
from dunno.types import EventCosts, Floats, FramePair, Ints
from dunno.types.labels import mean_over


@dataclass(frozen=True)
class Activity(Cost):
    r"""Squared distance over the mother's activity: what changes much may move far (Ruzaeva et al. 2022).

    $$w_{AC}(x_i, x'_j) = \frac{\lambda}{2\alpha_i} \lVert x_i - x'_j \rVert^2, \qquad
      \alpha_i = \frac{1}{|x_i|} \sum_{p \in x_i} \tfrac12 \lvert I'(p) - I(p) \rvert$$

    (appendix B of the paper): α is the mean over the mother's mask of half the absolute change in intensity, in the
    image's own units. Needs images. An activity below `floor` times the median of the pair's mothers counts as that
    much, and 1 where nothing changes at all, so that a still cell does not divide by zero. By default an event costs what
    the longest edge of a mother of median activity does. Distances are in pixels (in the shortest side of one).
    """

    precision: float = 1.0  # λ, in units of intensity per squared pixel
    floor: float = 0.1  # The least activity, as a fraction of the pair's median
    name = "activity"
    fitted = ("precision",)
    needs_pixels = True
    perturbation = Gaussian()

    def __post_init__(self) -> None:
        for name in ("precision", "floor"):
            if not (np.isfinite(getattr(self, name)) and getattr(self, name) > 0):
                raise InputError(f"{name} is {getattr(self, name)}; expected a number above zero")

    def __call__(self, pair: FramePair, mother: Ints, daughter: Ints) -> Floats:
        """(E,) the cost of each edge."""
        step = (pair.daughters.centroid[daughter] - pair.mothers.centroid[mother]) / pair.pixel
        squared = np.einsum("ed,ed->e", step, step)
        return np.asarray(self.precision / (2 * self.activity(pair)[mother]) * squared)

    def activity(self, pair: FramePair) -> Floats:
        """(m,) each mother's α, with the floor."""
        alpha = pair.mothers.once((self.name, pair.daughters.pixels), lambda: half_change(pair))
        moving = alpha[alpha > 0]
        least = self.floor * np.median(moving) if len(moving) else 1.0
        return np.asarray(np.maximum(alpha, least))

    def spread(self, pair: FramePair) -> Floats:
        """(m,) α, by which each mother's squared displacements scale: a motion model that can be fitted without truth."""
        return self.activity(pair)

    def event_costs(self, pair: FramePair) -> EventCosts:
        """An event costs as much as the longest edge of a mother of median activity."""
        typical = np.median(self.activity(pair)) if len(pair.mothers) else 1.0
        longest = float(self.precision / (2 * typical) * (pair.max_distance / pair.pixel) ** 2)
        return EventCosts(appear=longest, disappear=longest, divide=0.0)


def half_change(pair: FramePair) -> Floats:
    """(m,) mean over each mother's mask of half the absolute change in intensity."""
    before, after = pair.mothers.images.reshape(-1), pair.daughters.images.reshape(-1)

    def change(pixel: Ints) -> Floats:
        return np.asarray(0.5 * np.abs(after[pixel].astype(np.float64) - before[pixel].astype(np.float64)))

    return mean_over(pair.mothers.masks, pair.mothers.label, change)
