"""Densities of displacements."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from dunno.types.arrays import Floats

TABLE_END, TABLE_SIZE = 14.0, 2801

UNIT_SPHERE = {2: 2 * np.pi, 3: 4 * np.pi}
"""Surface of the unit ball, by dimension."""


def log_student(squared: Floats, scale: float | Floats, tail: float, d: int) -> Floats:
    """Log density of a d-dimensional Student-t at squared distance δ from its centre; Gaussian for an infinite tail."""
    from scipy.special import gammaln

    if np.isinf(tail):
        return np.asarray(-0.5 * squared / scale - 0.5 * d * np.log(2 * np.pi * scale))
    norm = gammaln((tail + d) / 2) - gammaln(tail / 2) - 0.5 * d * np.log(tail * np.pi * scale)
    return np.asarray(norm - 0.5 * (tail + d) * np.log1p(squared / (tail * scale)))


def tail_slope(squared: Floats, tail: float, d: int) -> Floats:
    """Slope of −log density in log ν, for a d-dimensional Student-t of scale 1."""
    from scipy.special import digamma

    norm = digamma((tail + d) / 2) - digamma(tail / 2) - d / tail
    bend = np.log1p(squared / tail) - (tail + d) / tail * squared / (tail + squared)
    return np.asarray(0.5 * tail * (bend - norm))


def reach_of_student(beyond: float, scale: float, tail: float, d: int) -> float:
    """The distance beyond which a share `beyond` of the displacements goes."""
    from scipy.special import chdtri, fdtri

    ratio = chdtri(d, beyond) if np.isinf(tail) else d * fdtri(d, tail, 1 - beyond)
    return float(np.sqrt(scale * ratio))


def student_below(tail: float, z: Floats) -> Floats:
    """Share of a standard Student-t below z; normal for an infinite tail.

    Interpolated from a table, evenly spaced in arsinh z, by cubics that have the density as their slope: within 1e-10 of the
    function itself, which costs many times as much.
    """
    if np.isinf(tail):
        from scipy.special import ndtr

        return np.asarray(ndtr(z))
    below, slope = _table(float(tail))
    width = 2 * TABLE_END / (TABLE_SIZE - 1)
    place = (np.clip(np.arcsinh(z), -TABLE_END, TABLE_END) + TABLE_END) / width
    left = np.minimum(place.astype(np.int64), TABLE_SIZE - 2)
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


@lru_cache(maxsize=4)
def _table(tail: float) -> tuple[Floats, Floats]:
    """The function and its slope at the knots, kept because a round asks for the same ones several times."""
    from scipy.special import stdtr

    grid = np.linspace(-TABLE_END, TABLE_END, TABLE_SIZE)
    knots = np.sinh(grid)
    half = stdtr(tail, knots[: TABLE_SIZE // 2 + 1])
    below = np.concatenate([half, 1 - half[-2::-1]])
    slope = np.exp(log_student(knots**2, 1.0, tail, 1)) * np.cosh(grid) * (grid[1] - grid[0])
    return below, slope
