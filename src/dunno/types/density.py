"""Densities of displacements."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from dunno.types import special
from dunno.types.arrays import Floats

KNOTS = 2001  # points; judged
"""Of the table of a law; an odd number, so that one is at 0."""

UNIT_SPHERE = {2: 2 * np.pi, 3: 4 * np.pi}  # 1; exact
"""Surface of the unit ball, by dimension."""


def log_student(squared: Floats, scale: float | Floats, tail: float, d: int) -> Floats:
    """Log density of a d-dimensional Student-t at squared distance δ from its centre; Gaussian for an infinite tail."""
    if np.isinf(tail):
        return np.asarray(-0.5 * squared / scale - 0.5 * d * np.log(2 * np.pi * scale))
    norm = special.log_gamma((tail + d) / 2) - special.log_gamma(tail / 2) - 0.5 * d * np.log(tail * np.pi * scale)
    return np.asarray(norm - 0.5 * (tail + d) * np.log1p(squared / (tail * scale)))


def tail_slope(squared: Floats, tail: float, d: int) -> Floats:
    """Slope of −log density in log ν, for a d-dimensional Student-t of scale 1."""
    norm = special.digamma((tail + d) / 2) - special.digamma(tail / 2) - d / tail
    bend = np.log1p(squared / tail) - (tail + d) / tail * squared / (tail + squared)
    return np.asarray(0.5 * tail * (bend - norm))


def reach_of_student(beyond: float, scale: float, tail: float, d: int) -> float:
    """The distance beyond which a share `beyond` of the displacements goes."""
    ratio = special.chi_square_beyond(d, beyond) if np.isinf(tail) else d * special.f_beyond(d, tail, beyond)
    return float(np.sqrt(scale * ratio))


def student_below(tail: float, z: Floats) -> Floats:
    """Share of a standard Student-t below z; normal for an infinite tail.

    Interpolated from a table, evenly spaced in z / (1 + |z|), by cubics that have the density as their slope: within 2e-9 of
    the function itself, which costs many times as much.
    """
    below, slope = student_table(float(tail))
    place = 0.5 * (KNOTS - 1) * (1 + z / (1 + np.abs(z)))
    left = np.minimum(place.astype(np.int64), KNOTS - 2)
    x = place - left
    first, last = below[left], below[left + 1]
    rise = last - first
    bend = slope[left] - rise, rise - slope[left + 1]
    return np.asarray(first + x * (rise + (1 - x) * ((1 - x) * bend[0] + x * bend[1])))


def student_overlap(tail: float, length: Floats) -> Floats:
    r"""Probability that a step from anywhere on a line ends on it, for a standard Student-t and lines of some lengths.

    $E[\max(0, 1 - |X| / L)]$, which is $P(|X| < L)$ less the mean of $|X|$ where it is below L, over L.
    """
    length = np.asarray(length, np.float64)
    peak = float(np.exp(log_student(np.zeros(1), 1.0, tail, 1)[0]))
    if np.isinf(tail):
        below = 2 * peak * -np.expm1(-0.5 * length**2)
    else:
        below = 2 * peak * tail / (tail - 1) * -np.expm1(-0.5 * (tail - 1) * np.log1p(length**2 / tail))
    return np.asarray(2 * student_below(tail, length) - 1 - below / length)


@lru_cache(maxsize=8)
def student_table(tail: float) -> tuple[Floats, Floats]:
    """The function and its slope at the knots, kept because a round asks for the same ones several times."""
    grid = np.linspace(-1.0, 0.0, KNOTS // 2 + 1)
    knots = grid / np.maximum(1 + grid, 1e-9)
    half = special.normal_below(knots) if np.isinf(tail) else special.student_below(tail, knots)
    half[0] = 0.0
    slope = np.exp(log_student(knots**2, 1.0, tail, 1)) * (1 - knots) ** 2 * (grid[1] - grid[0])
    slope[0] = 0.0
    return np.concatenate([half, 1 - half[-2::-1]]), np.concatenate([slope, slope[-2::-1]])
