"""What many drawn lineages say together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dunno.types import Floats

INTERVAL_LEVEL = 0.95


class Pooled(NamedTuple):
    """Rubin's rules: a mean over draws with the variance within and between them."""

    mean: Floats
    variance: Floats
    freedom: Floats


def rubin(estimates: Floats, variances: Floats) -> Pooled:
    """Pool m estimates, each with its own variance, along the first axis.

    total = W + (1 + 1/m) B, with W the mean variance within and B the variance between the draws; degrees of freedom
    (m − 1) (1 + W / ((1 + 1/m) B))².

    Example:
        >>> pooled = rubin(np.array([1.0, 3.0]), np.array([0.5, 0.5]))
        >>> float(pooled.mean), float(pooled.variance)
        (2.0, 3.5)
    """
    m = len(estimates)
    within = variances.mean(axis=0)
    between = (1 + 1 / m) * (estimates.var(axis=0, ddof=1) if m > 1 else np.zeros_like(within))
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = np.where(between > 0, (m - 1) * (1 + within / between) ** 2, np.inf)
    return Pooled(estimates.mean(axis=0), within + between, np.asarray(freedom))


def student_interval(pooled: Pooled) -> tuple[Floats, Floats]:
    """The 95 % interval around a pooled mean."""
    from scipy.stats import t

    reach = t.ppf(0.5 + INTERVAL_LEVEL / 2, np.maximum(pooled.freedom, 1.0)) * np.sqrt(pooled.variance)
    return pooled.mean - reach, pooled.mean + reach


def quantile_interval(values: Floats) -> tuple[Floats, Floats]:
    """Between which values 95 % of the draws lie, along the first axis; outwards where it falls between two of them."""
    tail = (1 - INTERVAL_LEVEL) / 2
    low = np.quantile(values, tail, axis=0, method="lower")
    return low, np.quantile(values, 1 - tail, axis=0, method="higher")
