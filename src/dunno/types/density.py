"""Densities of displacements."""

from __future__ import annotations

import numpy as np

from dunno.types.arrays import Floats


def log_student(squared: Floats, scale: float | Floats, tail: float, d: int) -> Floats:
    """Log density of a d-dimensional Student-t at squared distance δ from its centre; Gaussian for an infinite tail."""
    from scipy.special import gammaln

    if np.isinf(tail):
        return np.asarray(-0.5 * squared / scale - 0.5 * d * np.log(2 * np.pi * scale))
    norm = gammaln((tail + d) / 2) - gammaln(tail / 2) - 0.5 * d * np.log(tail * np.pi * scale)
    return np.asarray(norm - 0.5 * (tail + d) * np.log1p(squared / (tail * scale)))


def reach_of_student(beyond: float, scale: float, tail: float, d: int) -> float:
    """The distance beyond which a share `beyond` of the displacements goes."""
    from scipy.special import chdtri, fdtri

    ratio = chdtri(d, beyond) if np.isinf(tail) else d * fdtri(d, tail, 1 - beyond)
    return float(np.sqrt(scale * ratio))
