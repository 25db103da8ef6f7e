"""How many divisions there are: an interval, from how probably each track divides."""

from __future__ import annotations

import numpy as np

from dunno.tracking.forests import spread_evenly
from dunno.types import Floats

COUNT_DRAWS = 4000  # draws; judged: the ends of the interval then hardly depend on them
SUREST_IN_DOUBT = 0.95  # probability; judged: where the odds of divisions are in doubt, none is surer
LIKE_BINS = 200  # bins; exact within rounding: tracks that divide as probably are drawn together


def count_interval(probability: Floats, doubt: float = 0.0) -> tuple[int, int]:
    """Between which numbers 95 % of the draws lie, if each track divides independently with its probability.

    Args:
        probability: (T,) that each track divides.
        doubt: How well the odds are known: the standard deviation of their common logarithm.

    Example:
        >>> count_interval(np.array([1.0, 1.0, 0.5, 0.0]))
        (2, 3)
    """
    p = np.clip(probability, 0.0, SUREST_IN_DOUBT if doubt > 0 else 1.0)
    bins = np.minimum((p * LIKE_BINS).astype(np.int64), LIKE_BINS - 1)
    n = np.bincount(bins, minlength=LIKE_BINS)
    mean = np.bincount(bins, p, minlength=LIKE_BINS) / np.maximum(n, 1)
    rng, shifts = np.random.default_rng(0), spread_evenly(8 if doubt > 0 else 1)
    drawn = [
        rng.binomial(n, _shifted(mean, doubt * shift), (COUNT_DRAWS // len(shifts), LIKE_BINS)).sum(axis=1)
        for shift in shifts
    ]
    low, high = np.quantile(np.concatenate(drawn), [0.025, 0.975], method="nearest")
    return int(low), int(high)


def _shifted(p: Floats, by: float) -> Floats:
    """Probabilities whose log odds are shifted."""
    odds = np.exp(by)
    return np.asarray(p * odds / (1 - p + p * odds))
