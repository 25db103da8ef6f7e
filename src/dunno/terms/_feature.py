"""A measured number of each cell that changes little from mother to daughter."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from dunno.terms import TAIL, ModelView, Prior, Sisters, Step, Term, parameter, robust_weight
from dunno.types import Bools, Floats
from dunno.types.density import log_student
from dunno.types.stretch import Stretch

POPULATION_TAIL = 5.0  # degrees of freedom; judged; of the law of all cells' values
USUAL_GROWTH = 0.1  # log area; judged
"""Change of log area, in whose terms the prior on what follows size is weighed."""

LEAST_SPREAD = 0.01  # of the feature; judged; least standard deviation along a link
NEGLIGIBLE_FEATURE = 1e-4  # probability; judged; edges that take no part in the update


@dataclass(frozen=True)
class Feature(Term):
    r"""A daughter's value $f_j$ follows from its mother's $f_i$; an edge is judged by how much better than from anybody.

    $$\frac{t_4(f_j;\, μ + φ f_i + β (a_j - a_i),\, s)}{p_0(f_j)}$$

    for the only daughter of a mother, with $a$ the log area (β = 0 for the size itself), so that what size has said is not said
    twice, and $p_0$ the law of the population. Of a division, the mean change of both daughters and their difference have laws
    of their own. The term `jumps` bounds what all features say together.
    """

    name: ClassVar[Any] = None
    is_feature: ClassVar[bool] = True
    sees_sisters: ClassVar[bool] = True
    beside_size: ClassVar[bool] = True
    growth: float = parameter("per step", (-5.0, 5.0), Prior(0, 0.02, "links"), link="none")
    memory: float = parameter(
        "of the mother's deviation", (0.0, 1.2), Prior(1, 20, "cells as far from the centre as usual"), link="none"
    )
    follows_size: float = parameter(
        "per log area", (-5.0, 5.0), Prior(0, 20, "cells that grow by a tenth"), link="none"
    )
    spread: float = parameter("per step", (LEAST_SPREAD, 10.0), default=1.0)
    divided: float = parameter("at a division", (-5.0, 5.0), Prior(0, 20, "divisions"), link="none")
    divided_spread: float = parameter("at a division", (LEAST_SPREAD, 10.0), Prior(0.2, 20, "divisions"))
    unlike: float = parameter("between sisters", (LEAST_SPREAD, 10.0), Prior(0.2, 20, "divisions"))
    centre: float = 0.0  # Of the population; values count from it
    width: float = 1.0  # The population's spread
    slope: float = 0.0  # How the population's values follow from log area
    scale: float = 1.0  # What values are measured in, where that is for the movie to say

    def values(self, stretch: Stretch) -> Floats:
        """(N,) the feature of each cell; NaN where it was not measured."""
        raise NotImplementedError

    @classmethod
    def scale_of(cls, stretch: Stretch) -> float:
        """What values are measured in."""
        return 1.0

    @classmethod
    def start(cls, stretch: Stretch, cell_size: float, model: ModelView) -> Self:
        """From the population, and from each daughter's nearest mother."""
        blank = cls(scale=cls.scale_of(stretch))
        value, area = blank.values(stretch), log_area(stretch)
        known = np.isfinite(value)
        if not known.any():
            return blank
        slope = _slope(area[known], value[known]) if cls.beside_size else 0.0
        centre, width = population((value - slope * area)[known], LEAST_SPREAD)
        spread = float(np.std(value[known])) + LEAST_SPREAD
        guess = replace(blank, centre=centre, width=width, slope=slope, spread=spread)
        return guess.fitted(**guess._regressed(stretch, nearest(stretch)))

    @property
    def prefix(self) -> str:
        """The term's own name: a model may have several features."""
        return f"{self.name}_"

    def single_ratio(self, stretch: Stretch) -> Floats:
        """(E,) log, how much likelier the daughter's value is from this mother than from anybody; 0 where unknown."""
        value = self.values(stretch) - self.centre
        expected = self.growth * stretch.elapsed + self.memory * value[stretch.mother]
        expected = expected + self.follows_size * self._grown(stretch)
        own = log_student(
            (value[stretch.daughter] - expected) ** 2, np.asarray(self.spread**2 * stretch.elapsed, np.float64), TAIL, 1
        )
        return np.nan_to_num(own - self._population(stretch)[stretch.daughter])

    def sister_ratio(self, stretch: Stretch, sisters: Sisters) -> Floats:
        """(K,) the same for a division's daughters together."""
        together, unlike = self._divided(stretch, sisters)
        own = log_student((together - self.divided) ** 2, self.divided_spread**2, TAIL, 1)
        own = own + log_student(unlike**2, self.unlike**2, TAIL, 1)
        population = self._population(stretch)[stretch.daughter]
        return np.nan_to_num(own - population[sisters.first] - population[sisters.second])

    def _divided(self, stretch: Stretch, sisters: Sisters) -> tuple[Floats, Floats]:
        name = f"{self.name} {self.scale}"
        found: tuple[Floats, Floats] = stretch.latest(name, sisters, lambda: self.at_division(stretch, sisters))
        return found

    def at_division(self, stretch: Stretch, sisters: Sisters) -> tuple[Floats, Floats]:
        """(K,) the mean change of both daughters against their mother, and their difference: the determinant is 1."""
        value = self.values(stretch)
        one, other = value[stretch.daughter[sisters.first]], value[stretch.daughter[sisters.second]]
        return 0.5 * (one + other) - value[stretch.mother[sisters.first]], one - other

    def _grown(self, stretch: Stretch) -> Floats:
        if not self.beside_size:
            return np.zeros(len(stretch.mother))
        area = log_area(stretch)
        return np.asarray(area[stretch.daughter] - area[stretch.mother])

    def _population(self, stretch: Stretch) -> Floats:
        """(N,) log p₀."""
        rest = self.values(stretch) - self.centre
        if self.beside_size:
            rest = rest - self.slope * log_area(stretch)
        return log_student(rest**2, self.width**2, POPULATION_TAIL, 1)

    def updated(self, step: Step) -> Self:
        """Weighted regression with the weights of the Student law, without what jumped."""
        stretch = step.stretch
        found = self._regressed(stretch, step.counts * step.single * step.steady)
        if step.divisions is not None:
            sisters, weight = step.divisions
            weight = weight * step.steady_sisters
            together, unlike = self._divided(stretch, sisters)
            found |= self._law(together, weight, "divided", "divided_spread")
            found |= self._law(unlike, weight, "", "unlike")
        return self.fitted(**found)

    def _law(self, value: Floats, weight: Floats, mean: str, spread: str) -> dict[str, float]:
        known = np.isfinite(value) & (weight > NEGLIGIBLE_FEATURE)
        return self.student(value[known], weight[known], mean, spread)

    def _regressed(self, stretch: Stretch, weight: Floats) -> dict[str, float]:
        value = self.values(stretch) - self.centre
        known = self._known(stretch, value, weight)
        weight, grown = weight[known], self._grown(stretch)[known]
        if weight.sum() < 1:
            return {}
        mother, daughter = value[stretch.mother[known]], value[stretch.daughter[known]]
        design = np.stack([np.ones_like(mother), mother, grown], axis=1)
        rest = daughter - design @ np.array([self.growth, self.memory, self.follows_size])
        robust = robust_weight(weight, rest**2 / self.spread**2)
        priors = [self.prior(name) for name in ("growth", "memory", "follows_size")]
        usual = [1.0, self.width**2, USUAL_GROWTH**2 if self.beside_size else 1e9]
        hold = np.diag([prior.worth * square for prior, square in zip(priors, usual, strict=True)])
        gram = (design * robust[:, None]).T @ design + hold
        found = np.linalg.solve(gram, design.T @ (robust * daughter) + hold @ [float(each.mean) for each in priors])
        growth, memory, follows = float(found[0]), float(np.clip(found[1], 0.0, 1.2)), float(found[2])
        rest = daughter - growth - memory * mother - follows * grown
        robust = robust_weight(1.0, rest**2 / self.spread**2)
        spread = float(np.sqrt((weight * robust * rest**2).sum() / weight.sum()))
        return {"growth": growth, "memory": memory, "follows_size": follows, "spread": spread}

    @staticmethod
    def _known(stretch: Stretch, value: Floats, weight: Floats) -> Bools:
        both = np.isfinite(value[stretch.mother]) & np.isfinite(value[stretch.daughter])
        return np.asarray(both & (weight > NEGLIGIBLE_FEATURE))


def population(values: Floats, least: float) -> tuple[float, float]:
    """The median of values that were measured, and their spread by the median of deviations, at least so wide."""
    values = values[np.isfinite(values)]
    if not len(values):
        return 0.0, 1.0
    centre = float(np.median(values))
    return centre, max(1.4826 * float(np.median(np.abs(values - centre))), least)


def nearest(stretch: Stretch) -> Floats:
    """(E,) 1 for each daughter's nearest mother, else 0."""
    least = np.full(stretch.n_rows, np.inf)
    np.minimum.at(least, stretch.daughter, stretch.squared)
    return np.asarray(stretch.squared == least[stretch.daughter], np.float64)


def log_area(stretch: Stretch) -> Floats:
    """(N,) the logarithm of each cell's area."""
    return stretch.column("log_area")


def _slope(x: Floats, y: Floats) -> float:
    x, y = x - np.median(x), y - np.median(y)
    return float((x * y).sum() / max((x * x).sum(), 1e-9))
