"""How long cycles last, with those that were not seen to their end: Kaplan–Meier per lineage, pooled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dunno.biology.lineage import Lineage
from dunno.biology.pooling import rubin, student_interval
from dunno.types import Bools, Floats


@dataclass(frozen=True, eq=False)
class Survival:
    """The share of cells that have not yet divided at an age."""

    age: Floats  # (A,) ascending, from 0
    share: Floats  # (A,) pooled over the drawn lineages
    low: Floats  # (A,) of the 95 % band
    high: Floats  # (A,) of the band
    reported: Floats  # (A,) as the reported lineage alone has it

    def median(self) -> tuple[float, float, float]:
        """The age at which half of the cells have divided, and where the band crosses a half; NaN where it never does."""
        first = [self.age[line <= 0.5] for line in (self.share, self.low, self.high)]
        value, low, high = (float(each[0]) if len(each) else float("nan") for each in first)
        return value, low, high


def kaplan_meier(duration: Floats, divided: Bools, age: Floats) -> tuple[Floats, Floats]:
    """(A,) the product-limit estimate at each age, and (A,) Σ d / (n (n − d)), from which its variance follows (Greenwood).

    Of K cells: how long each was seen from its birth, and whether it then divided; the others are censored. Ages ascend.

    Example:
        >>> share, _ = kaplan_meier(np.array([2.0, 3.0, 3.0]), np.array([True, False, True]), np.array([0.0, 2.0, 3.0]))
        >>> [round(float(s), 3) for s in share]
        [1.0, 0.667, 0.333]
    """
    event = np.sort(duration[divided])
    when, count = np.unique(event, return_counts=True)
    at_risk = len(duration) - np.searchsorted(np.sort(duration), when, side="left")
    with np.errstate(divide="ignore"):
        terms = count / (at_risk * (at_risk - count).astype(np.float64))
    steps = np.concatenate([[1.0], np.cumprod(1 - count / np.maximum(at_risk, 1))])
    sums = np.concatenate([[0.0], np.cumsum(terms)])
    place = np.searchsorted(when, age, side="right")
    return steps[place], sums[place]


def survival(reported: Lineage, draws: Sequence[Lineage]) -> Survival | None:
    """Pool the curves of drawn lineages by Rubin's rules on the scale arcsin √S; `None` where no birth was seen."""
    ages = [lineage.duration[lineage.born_by == 0] for lineage in (reported, *draws)]
    if not any(len(each) for each in ages):
        return None
    age = np.unique(np.concatenate([[0.0], *ages]).round(9))
    curves = [_curve(lineage, age) for lineage in draws or [reported]]
    share, low, high = _pooled(np.array([each[0] for each in curves]), np.array([each[1] for each in curves]))
    return Survival(age, share, low, high, _curve(reported, age)[0])


def _curve(lineage: Lineage, age: Floats) -> tuple[Floats, Floats]:
    """Of the cells whose birth was seen."""
    born = lineage.born_by == 0
    return kaplan_meier(lineage.duration[born].round(9), lineage.ended_by[born] == 0, age)


def _pooled(share: Floats, greenwood: Floats) -> tuple[Floats, Floats, Floats]:
    """(A,) curve and band on the scale φ = arcsin √S, whose variance is S G / 4 (1 − S), G being Greenwood's sum.

    The scale log(−log S) would be the usual one, but has no value where a lineage has S = 1 or 0, and some always do.
    """
    inside = (share > 0) & (share < 1) & np.isfinite(greenwood)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.where(inside, share * greenwood / (4 * (1 - share)), 0.0)
    pooled = rubin(np.arcsin(np.sqrt(share)), variance)
    low, high = student_interval(pooled)
    ends = [np.sin(np.clip(end, 0, np.pi / 2)) ** 2 for end in (low, high)]
    mean = share.mean(axis=0)
    return mean, np.minimum(ends[0], mean), np.maximum(ends[1], mean)
