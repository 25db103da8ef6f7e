"""Log densities in d dimensions, and how their scales are fitted to weighted values beside a prior."""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma, log, pi

import numpy as np

from dunno.types import Floats
from dunno.types.records import Size

SCALE_ROUNDS = 5  # rounds; judged
"""Of the fixed point of a Student scale; it moves by less than a percent after them."""


@dataclass(frozen=True)
class Prior:
    """What is believed beforehand, and how many observations that is worth."""

    mean: Size
    worth: Size


def normal(x: Floats, scale: float | Floats) -> Floats:
    """Of a normal in one dimension."""
    return np.asarray(-0.5 * log(2 * pi) - np.log(scale) - 0.5 * (x / scale) ** 2)


def isotropic_normal(squared: Floats, variance: float | Floats, dimensions: int) -> Floats:
    """Of a vector with this squared length."""
    return np.asarray(-0.5 * dimensions * np.log(2 * pi * variance) - 0.5 * squared / variance)


def student(squared: Floats, variance: float | Floats, tail: float, dimensions: int = 1) -> Floats:
    """Of a vector with this squared length, by Student's t with `tail` degrees of freedom."""
    constant = lgamma((tail + dimensions) / 2) - lgamma(tail / 2) - 0.5 * dimensions * log(tail * pi)
    spread = 0.5 * dimensions * np.log(variance)
    return np.asarray(constant - spread - 0.5 * (tail + dimensions) * np.log1p(squared / (tail * variance)))


def any_direction(length: Floats, dimensions: int) -> Floats:
    """What turns a density of the log length into one of the vector: all directions are alike."""
    surface = {1: 2.0, 2: 2 * pi, 3: 4 * pi}[dimensions]
    return np.asarray(-log(surface) - dimensions * np.log(length))


def fitted_variance(
    squared: Floats, weight: Floats, start: float, tail: float, prior: Prior, dimensions: int = 1
) -> float:
    """The variance of `student`, by expectation–maximisation; the prior's mean is a variance."""
    variance, total = start, weight.sum() + prior.worth
    for _ in range(SCALE_ROUNDS):
        share = (tail + dimensions) / (tail + squared / variance)
        variance = (float((weight * share * squared).sum()) / dimensions + prior.worth * prior.mean) / total
    return float(variance)


def fitted_share(events: float, trials: float, prior: Prior) -> float:
    """A share of trials."""
    return (events + prior.mean * prior.worth) / (trials + prior.worth)


def fitted_place(
    x: Floats, weight: Floats, start: tuple[float, float], tail: float, prior: tuple[float, float], worth: float
) -> tuple[float, float]:
    """Middle and scale of `student` in one dimension."""
    middle, scale = start
    for _ in range(SCALE_ROUNDS):
        share = weight * (tail + 1) / (tail + ((x - middle) / scale) ** 2)
        middle = float((share * x).sum() + worth * prior[0]) / float(share.sum() + worth)
        scale = np.sqrt(float((share * (x - middle) ** 2).sum() + worth * prior[1] ** 2) / float(weight.sum() + worth))
    return middle, float(scale)
