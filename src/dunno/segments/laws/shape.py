"""How the halves of a mask lie, of one cell, and how that lasts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import lgamma, log

import numpy as np

from dunno.segments.densities import Prior, any_direction, fitted_share, fitted_variance, student
from dunno.segments.near_pairs import Near
from dunno.segments.segments import Segments
from dunno.types import Bools, Floats
from dunno.types.records import Dimensions, ProperShare, Size

HALVES_TAIL, BALANCE_TAIL = 3.0, 4.0  # degrees of freedom; judged

LASTS = 0.9  # share; docs/masks.md
"""How often a shape goes on as it is; else it is any cell's."""

HALVES_PRIOR, BALANCE_PRIOR, ANY_BALANCE_PRIOR = (
    Prior(0.08**2, 20.0),
    Prior(0.08**2, 20.0),
    Prior(0.12**2, 20.0),
)  # squared roots, squared nats; docs/masks.md

LONGER, TWO_BALANCE = 0.25, 0.25**2  # nats, squared nats; docs/masks.md
"""Of masks of two: mean stretch beyond that of single cells; variance of their balance."""

ROUND = {2: log(0.4788), 3: log(0.4653)}  # nats; exact
"""Log length between the halves of a disc and of a ball, in roots of their area: no mask's halves are nearer."""

ODD_PRIOR = Prior(0.05, 200.0)  # share; docs/masks.md
"""Single cells' masks that look like those of two."""

LEAST_STRETCH, LEAST_STRETCH_SPREAD = 0.02, 0.06  # nats; judged
"""Of the log length beyond that, and of its spread: pixels are no discs."""


@dataclass(frozen=True)
class Shape:
    """The vector between a mask's halves (all directions alike) and the log ratio of their areas.

    A **stretch** is how much longer the vector is than that of a round mask, as a logarithm: gamma, so that a few cells are
    much longer than most. The conditional density is of both: with the balance's marginal alone, single cells stay cut for 70
    frames.

    Attributes:
        dimensions: d.
        stretch: Mean stretch of a single cell's mask.
        spread: Its standard deviation.
        any_balance: Variance of the balance.
        halves: Variance of the vector's change, from a frame to the next.
        balance: Variance of the balance's change.
        odd: Share of single cells whose masks look like those of two.
    """

    dimensions: Dimensions
    stretch: Size
    spread: Size
    any_balance: Size = ANY_BALANCE_PRIOR.mean
    halves: Size = HALVES_PRIOR.mean
    balance: Size = BALANCE_PRIOR.mean
    odd: ProperShare = ODD_PRIOR.mean

    @classmethod
    def beforehand(cls, segments: Segments, cells: Bools) -> Shape:
        """From the masks that are taken for cells."""
        stretch = stretches(segments.halves[: segments.n_masks][cells])
        mean, spread = float(stretch.mean()), max(float(stretch.std()), LEAST_STRETCH_SPREAD)
        return cls(segments.dimensions, mean, spread)

    def log_of(self, halves: Floats, balance: Floats) -> Floats:
        """Of the halves of a single cell's mask: usual, or odd."""
        usual, odd = (
            log(1 - self.odd) + self._log_usual(halves, balance),
            log(self.odd) + self.log_of_two(halves, balance),
        )
        return np.logaddexp(usual, odd)

    def _log_usual(self, halves: Floats, balance: Floats) -> Floats:
        vector = _gamma(stretches(halves), self.stretch, self.spread) + any_direction(lengths(halves), self.dimensions)
        return vector + student(balance**2, self.any_balance, BALANCE_TAIL)

    def log_of_two(self, halves: Floats, balance: Floats) -> Floats:
        """Of the halves of a mask of two cells."""
        stretch = _gamma(stretches(halves), self.stretch + LONGER, self.spread)
        vector = stretch + any_direction(lengths(halves), self.dimensions)
        return vector + student(balance**2, TWO_BALANCE, BALANCE_TAIL)

    def log_marginal(self, segments: Segments) -> Floats:
        """(N,) of every segment's halves; NaN for parts."""
        known = ~np.isnan(segments.balance)
        found = np.full(len(known), np.nan)
        found[known] = self.log_of(segments.halves[known], segments.balance[known])
        return found

    def log_ratios(self, pairs: Near, segments: Segments) -> tuple[Floats, Floats]:
        """Of the daughter's halves given the mother's, over the marginal: as they are, and turned; 0 where one is a part.

        Both are halved, so that their sum is the density of halves that nobody has named.
        """
        marginal = np.nan_to_num(self.log_marginal(segments))[pairs.daughter]
        lag = pairs.lag
        one, other = segments.balance[pairs.mother], segments.balance[pairs.daughter]
        ratios = []
        known = pairs.parts == 0
        for squared, change in ((pairs.kept, other - one), (pairs.turned, other + one)):
            squared, change = (np.where(known, each, 0.0) for each in (squared, change))
            lasting = student(squared, self.halves * lag, HALVES_TAIL, self.dimensions)
            lasting = lasting + student(change**2, self.balance * lag, BALANCE_TAIL)
            ratio = np.logaddexp(log(LASTS) + lasting - marginal, log(1 - LASTS)) - log(2)
            ratios.append(np.where(known, ratio, -log(2)))
        return ratios[0], ratios[1]

    def fitted(self, pairs: Near, weight: Floats, segments: Segments, single: Floats) -> Shape:
        """By links of whole masks with these weights, and by how probable it is that each mask is one cell."""
        whole = pairs.parts == 0
        pairs, weight = pairs[whole], weight[whole]
        lag = pairs.lag
        same = pairs.kept <= pairs.turned
        one, other = segments.balance[pairs.mother], segments.balance[pairs.daughter]
        squared = np.minimum(pairs.kept, pairs.turned) / lag
        change = np.where(same, other - one, other + one) ** 2 / lag
        stretch = stretches(segments.halves[: segments.n_masks])
        halves, balance = segments.halves[: segments.n_masks], segments.balance[: segments.n_masks]
        odd = np.exp(log(self.odd) + self.log_of_two(halves, balance) - self.log_of(halves, balance))
        usual = single * (1 - odd)
        mean = float(np.average(stretch, weights=usual + 1e-9))
        spread = float(np.sqrt(np.average((stretch - mean) ** 2, weights=usual + 1e-9)))
        return replace(
            self,
            stretch=mean,
            spread=max(spread, LEAST_STRETCH_SPREAD),
            odd=fitted_share(float((single * odd).sum()), float(single.sum()), ODD_PRIOR),
            any_balance=fitted_variance(balance**2, usual, self.any_balance, BALANCE_TAIL, ANY_BALANCE_PRIOR),
            halves=fitted_variance(squared, weight, self.halves, HALVES_TAIL, HALVES_PRIOR, self.dimensions),
            balance=fitted_variance(change, weight, self.balance, BALANCE_TAIL, BALANCE_PRIOR),
        )


def lengths(halves: Floats) -> Floats:
    """(n,) of these vectors; none is shorter than that of a round mask."""
    d = halves.shape[1]
    return np.asarray(np.maximum(np.sqrt((halves**2).sum(axis=1)), np.exp(ROUND[d] + LEAST_STRETCH)))


def stretches(halves: Floats) -> Floats:
    """(n,) log of their lengths over that of a round mask."""
    return np.asarray(np.log(lengths(halves)) - ROUND[halves.shape[1]])


def _gamma(x: Floats, mean: float, spread: float) -> Floats:
    shape, scale = (mean / spread) ** 2, spread**2 / mean
    return np.asarray((shape - 1) * np.log(x) - x / scale - lgamma(shape) - shape * log(scale))
