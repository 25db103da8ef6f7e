"""Shares over time that lean on their mean, which leans on what was believed before."""

from __future__ import annotations

import numpy as np

from dunno.types.arrays import Floats

PRIOR_CELLS = 300.0
"""Weight of what is believed before about rates, in cells."""


def shrunk(
    count: Floats, possible: Floats, smooth: Floats, weight: Floats, prior: float, unit: float = PRIOR_CELLS
) -> Floats:
    """(R,) smoothed shares, drawn to the movie's mean, which is drawn to the prior.

    Args:
        count: (R,) how many did.
        possible: (R,) how many could have.
        smooth: (R, R) how much each transition counts for each; all ones pools them.
        weight: (R,) how often each transition counts.
        prior: The share believed before.
        unit: The weight of the prior and of the mean, in units of `possible`.
    """
    mean = ((weight * count).sum() + unit * prior) / ((weight * possible).sum() + unit)
    return np.asarray((smooth @ count + unit * mean) / (smooth @ possible + unit))
