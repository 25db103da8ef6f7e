"""The same output without its calibration, with it, and with a temperature fitted with truth."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dunno.assignment.distributions import normalise
from dunno.calibration import TemperatureScaling
from dunno.calibration.solving import solved_again
from dunno.errors import DunnoWarning, InputError
from dunno.tracking import Tracking
from dunno.types import PairPosterior, Truth

AS_IS, WITH_TRUTH = "as is", "with truth"
NAMES = {"self": "self", "truth": "as calibrated"}


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
        found[NAMES.get(str(tracking.about.fitted_on), "as calibrated")] = tracking
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
    pairs = [_undone(pair, told) for pair in tracking.pairs]
    kept = [pair for pair in pairs if pair is not None]
    if len(kept) < len(pairs):
        return None
    if tracking.about.links:
        kept = [
            replace(pair, selected=own.selected) for pair, own in zip(kept, tracking.pairs, strict=True)
        ]  # they are somebody else's
    return replace(tracking, pairs=tuple(kept), about=tracking.about.uncalibrated)


def _undone(pair: PairPosterior, told: Mapping[str, Any]) -> PairPosterior | None:
    """A pair without what a calibration did to it."""
    power = told.get("temperature") or (1 / told["tempering"] if "unknown" in told else None)
    if not isinstance(power, float):
        return None
    if pair.problem is not None:
        return solved_again(pair, pair.problem.tempered(power))
    if "temperature" not in told:
        return None
    before = normalise(pair.log_probability * power, pair.log_no_mother * power, pair.daughter)
    entropy = np.where(np.isnan(pair.entropy), np.nan, before.entropy)
    return replace(pair, log_probability=before.log_probability, log_no_mother=before.log_no_mother, entropy=entropy)


def cross_fitted(tracking: Tracking, truth: Truth) -> Tracking | None:
    """Scaled by a temperature that the other half of the frame pairs gave; `None` where a half has nothing to fit on."""
    cut = len(tracking.pairs) // 2
    halves = [replace(tracking, pairs=part) for part in (tracking.pairs[:cut], tracking.pairs[cut:])]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DunnoWarning)  # a temperature at a bound: everything is right there
            fits = [TemperatureScaling.fit(half, truth) for half in halves]
    except InputError:
        return None
    pairs = [fit(half).pairs for fit, half in zip(reversed(fits), halves, strict=True)]
    return replace(tracking, pairs=(*pairs[0], *pairs[1]))
