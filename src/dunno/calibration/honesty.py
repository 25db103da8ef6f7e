"""Does the fitted model explain the movie? What speaks against trusting it, in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dunno.calibration.expectation import Expected
from dunno.calibration.motion_model import MotionModel, MotionPair
from dunno.types import Floats

MOST_APPEARING = 0.15
"""Largest believable share of daughters that appear inside the field: cells come from cells."""

MOST_GROWTH = 1.8
"""Largest growth per frame pair at which two daughters per mother can still be the whole story."""

LEAST_CERTAINTY = 0.6
LARGEST_MISFIT = 0.1
LARGEST_DRIFT = 1.0


def find_problems(
    models: Sequence[MotionModel], pairs: Sequence[MotionPair], expected: Sequence[Expected]
) -> list[str]:
    """List what the fitted model cannot explain, or cannot tell; empty if nothing."""
    mothers = sum(pair.n_mothers for pair in pairs)
    daughters = sum(pair.n_daughters for pair in pairs)
    if mothers == 0 or daughters == 0:
        return ["there are no cells to learn from"]
    problems = []
    appeared = sum(each.appeared for each in expected) / daughters
    if appeared > MOST_APPEARING:
        problems.append(
            f"{appeared:.0%} of the cells would have appeared from nowhere inside the field; "
            "they more likely moved farther or divided more often than can be told at this frame rate"
        )
    if daughters > MOST_GROWTH * mothers:
        problems.append(
            f"there are {daughters / mothers:.1f} times as many cells from one frame to the next; "
            "with at most two daughters per mother that cannot be explained"
        )
    certainty = sum(each.confidence for each in expected) / daughters
    if certainty < LEAST_CERTAINTY:
        problems.append(
            f"the likeliest mother is right with probability {certainty:.2f} on average: too ambiguous to learn from"
        )
    misfit = _misfit(models, pairs, expected)
    links = sum(float(each.single_weight.sum()) for each in expected)
    if misfit > LARGEST_MISFIT + 1.36 / np.sqrt(max(links, 1.0)):  # the 95 % quantile of what chance alone does
        problems.append(f"displacements do not follow the fitted distribution (largest difference {misfit:.2f})")
    drift = _drift(models, pairs, expected)
    if drift > LARGEST_DRIFT:
        problems.append(
            f"all cells move together by {drift:.1f} standard deviations per frame; register the movie first"
        )
    return problems


def _misfit(models: Sequence[MotionModel], pairs: Sequence[MotionPair], expected: Sequence[Expected]) -> float:
    """Largest difference between the expected displacements' distribution and the fitted one (a weighted KS distance)."""
    from scipy.special import chdtr, fdtr

    ratio = np.concatenate([pair.squared / model.motion_scale for pair, model in zip(pairs, models, strict=True)])
    weight: Floats = np.concatenate([each.single_weight for each in expected])
    if weight.sum() <= 0:
        return 0.0
    order = np.argsort(ratio)
    ratio, share = ratio[order], np.cumsum(weight[order]) / weight.sum()
    d, tail = models[0].n_dimensions, models[0].tail
    theory = chdtr(d, ratio) if np.isinf(tail) else fdtr(d, tail, ratio / d)
    return float(np.abs(share - theory).max())


def _drift(models: Sequence[MotionModel], pairs: Sequence[MotionPair], expected: Sequence[Expected]) -> float:
    """Mean displacement of a pair's cells that the model does not know of, in standard deviations; the median over pairs."""
    sizes = []
    for model, pair, each in zip(models, pairs, expected, strict=True):
        total = each.single_weight.sum()
        if total < 5:
            continue
        moved = pair.step if pair.drift is None else pair.step - pair.drift[pair.mother]
        mean = (each.single_weight[:, None] * moved).sum(axis=0) / total
        spread = model.motion_scale * float(np.median(pair.spread))
        sizes.append(float(np.linalg.norm(mean)) / np.sqrt(spread))
    return float(np.median(sizes)) if sizes else 0.0
