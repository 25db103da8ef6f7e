"""A mask that gains or loses pixels at once: the cell is the same, its mask has changed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dunno.segments.densities import Prior, fitted_share, isotropic_normal, normal
from dunno.segments.near_pairs import Near
from dunno.segments.segments import Segments
from dunno.types import Floats
from dunno.types.records import ProperShare

JOLT_STEP, JOLT_GROWTH = 0.35, 0.4  # roots of the area, nats; docs/masks.md
"""Spread of a jolt's step, in roots of the area, and of the log ratio of areas."""

SHARE_PRIOR = Prior(0.03, 200.0)  # share; docs/masks.md
JOLT_BOUNDS = 0.003, 0.2  # share; judged


@dataclass(frozen=True)
class Jolt:
    """A share of all links.

    Attributes:
        share: How large it is.
    """

    share: ProperShare = SHARE_PRIOR.mean

    def log_density(self, pairs: Near, segments: Segments) -> Floats:
        """Of a jolted link."""
        lag, d = pairs.lag, segments.dimensions
        area = np.sqrt(segments.area[pairs.mother] * segments.area[pairs.daughter])
        step = isotropic_normal(pairs.squared, JOLT_STEP**2 * area ** (2 / d) * lag, d)
        return step + normal(pairs.growth, JOLT_GROWTH * np.sqrt(lag))

    def fitted(self, jolted: float, links: float) -> Jolt:
        """By how many of the expected links are jolted."""
        return Jolt(float(np.clip(fitted_share(jolted, links, SHARE_PRIOR), *JOLT_BOUNDS)))
