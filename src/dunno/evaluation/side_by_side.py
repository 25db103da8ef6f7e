"""The same output without its calibration, with it, and with a temperature fitted with truth."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dunno.calibration import TemperatureScaling
from dunno.calibration.applying import solved_again
from dunno.calibration.kinds.temperature import scaled
from dunno.errors import DunnoWarning, InputError
from dunno.tracking import Tracking
from dunno.types import Block, Truth

AS_IS, WITH_TRUTH = "as is", "with truth"
CALIBRATION_WORDS = {"self": "self", "truth": "as calibrated"}


def side_by_side(tracking: Tracking, truth: Truth) -> dict[str, Tracking]:
    """A tracking as it was before its calibration, as it is, and as a temperature fitted with this truth would make it.

    The temperature is cross-fitted: that of either half of the frame pairs is fitted on the other half. What cannot be had from
    the output is left out.
    """
    found: dict[str, Tracking] = {}
    bare = as_is(tracking)
    if bare is not None:
        found[AS_IS] = bare
    if tracking.about.calibration is not None:
        found[CALIBRATION_WORDS.get(str(tracking.about.fitted_on), "as calibrated")] = tracking
    scaled = None if bare is None else cross_fitted(bare, truth)
    if scaled is not None:
        found[WITH_TRUTH] = scaled
    return found


def as_is(tracking: Tracking) -> Tracking | None:
    """A tracking before its calibration: a fitted model that is not softened, or a distribution that is not scaled.

    `None` where its pairs do not say: costs that were fitted with truth, or a model whose problems were not kept.
    """
    told = tracking.about.calibration
    if told is None:
        return tracking
    before = _undone(tracking.block, told)
    if before is None:
        return None
    if tracking.about.links:
        before = replace(before, selected=tracking.block.selected)  # they are somebody else's
    return replace(tracking, blocks=(before,), about=tracking.about.uncalibrated)


def _undone(block: Block, told: Mapping[str, Any]) -> Block | None:
    """A block without what a calibration did to it."""
    power = told.get("temperature") or (1 / told["tempering"] if "unknown" in told else None)
    if not isinstance(power, float):
        return None
    if block.problem is not None:
        return solved_again(block, power)
    return scaled(block, 1 / power) if "temperature" in told else None


def cross_fitted(tracking: Tracking, truth: Truth) -> Tracking | None:
    """Scaled by a temperature that the other half of the frame pairs gave; `None` where a half has nothing to fit on."""
    cut = len(tracking.block.own) // 2
    if not cut:
        return None
    halves = [replace(tracking, blocks=(part,)) for part in (tracking.block.part(0, cut), tracking.block.part(cut))]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DunnoWarning)  # a temperature at a bound: everything is right there
            fits = [TemperatureScaling.fit(half, truth) for half in halves]
    except InputError:
        return None
    return replace(tracking, blocks=tuple(fit(half).block for fit, half in zip(reversed(fits), halves, strict=True)))
