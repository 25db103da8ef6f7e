"""The few functions of statistics that a default run needs; SciPy has them too, but importing it takes longer than using them."""

from __future__ import annotations

import numpy as np

from dunno import _core
from dunno.types.arrays import Floats


def log_gamma(x: float) -> float:
    """Log of the gamma function of a positive number."""
    return _core.log_gamma(x)


def digamma(x: float) -> float:
    """Slope of the log of the gamma function at a positive number."""
    return _core.digamma(x)


def beta_below(a: float, b: float, x: float) -> float:
    """Share of a beta distribution below x: also P(a or more of a + b − 1 events), each of which has the probability x."""
    return _core.beta_below(a, b, x)


def chi_square_beyond(degrees: float, share: float) -> float:
    """Beyond which a share of a χ² distribution lies."""
    return _core.chi_square_beyond(degrees, share)


def f_beyond(first: float, second: float, share: float) -> float:
    """Beyond which a share of an F distribution lies."""
    return _core.f_beyond(first, second, share)


def student_beyond(tail: float, share: float) -> float:
    """Beyond which a share, less than half, of a standard Student-t lies.

    Example:
        >>> round(student_beyond(10, 0.025), 3)
        2.228
    """
    return float(np.sqrt(f_beyond(1.0, tail, 2 * share)))


def normal_below(x: Floats) -> Floats:
    """Share of a standard normal below x, of any shape."""
    return _core.normal_below(_flat(x)).reshape(np.shape(x))


def student_below(tail: float, x: Floats) -> Floats:
    """Share of a standard Student-t below x, of any shape."""
    return _core.student_below(tail, _flat(x)).reshape(np.shape(x))


def chi_square_below(degrees: float, x: Floats) -> Floats:
    """Share of a χ² distribution below x, of any shape."""
    return _core.chi_square_below(degrees, _flat(x)).reshape(np.shape(x))


def f_below(first: float, second: float, x: Floats) -> Floats:
    """Share of an F distribution below x, of any shape."""
    return _core.f_below(first, second, _flat(x)).reshape(np.shape(x))


def bessel_i0e(x: Floats) -> Floats:
    """The modified Bessel function of order 0, times exp(−|x|)."""
    return _core.bessel_i0e(_flat(x)).reshape(np.shape(x))


def dawson(x: Floats) -> Floats:
    """Dawson's integral exp(−x²) ∫₀ˣ exp(t²) dt."""
    return _core.dawson(_flat(x)).reshape(np.shape(x))


def _flat(x: Floats) -> Floats:
    return np.ascontiguousarray(x, np.float64).ravel()


def wilson(share: float, n: int) -> tuple[float, float]:
    """Where a share that was seen in n cases lies in 95 of 100 cases (Wilson).

    Example:
        >>> [round(end, 3) for end in wilson(0.5, 100)]
        [0.404, 0.596]
    """
    z = 1.96
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    return max(float(middle - half), 0.0), min(float(middle + half), 1.0)
