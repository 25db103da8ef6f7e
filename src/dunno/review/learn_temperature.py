"""A temperature from a review's answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dunno.calibration import TemperatureScaling
from dunno.calibration.kinds.temperature import LabelledDaughters, best_temperature
from dunno.calibration.verdict import Verdict
from dunno.errors import InputError
from dunno.review.lessons import Lessons, Values
from dunno.review.review import Review

RESAMPLINGS = 200


def fit_temperature(review: Review, lessons: Lessons) -> tuple[TemperatureScaling, Values]:
    """The temperature that makes the answers most probable, on top of one that the output has; bootstrapped over answers."""
    about = review.about
    if about.calibration_kind not in (None, TemperatureScaling.name):
        raise InputError(
            f"the output is calibrated by a {about.calibration_kind} already, on which no temperature can be put; "
            "leave out --temperature"
        )
    before = about.temperature or 1.0  # the new one comes on top of it
    sample = _labelled(review, lessons)
    best, at_bound = best_temperature(sample)
    rng = np.random.default_rng(0)
    drawn = rng.multinomial(len(sample.log_true), np.full(len(sample.log_true), 1 / len(sample.log_true)), RESAMPLINGS)
    weights = [sample.weight * counts for counts in drawn if sample.weight is not None]
    again = [best_temperature(replace(sample, weight=weight))[0] for weight in weights if weight.sum() > 0]
    low, high = np.quantile(again, (0.025, 0.975)).tolist()
    fitted = TemperatureScaling(
        temperature=before * best,
        fitted_for=about.uncalibrated.to_dict(),
        loss_before=sample.loss(1.0 / before),
        loss_after=sample.loss(best),
        counts=sample.counts,
        verdict=Verdict("supported", f"fitted on {len(lessons)} answers of a review"),
        at_bound=at_bound,
    )
    return fitted, {"temperature": (before * best, before * low, before * high)}


def _labelled(review: Review, lessons: Lessons) -> LabelledDaughters:
    """The answered daughters' distributions as they were tracked, with what is true."""
    edges, owners, none, trues, weights = [], [], [], [], []
    counts = {"daughters": 0, "mother_no_candidate": 0, **lessons.left_out}
    columns = (lessons.pair, lessons.daughter, lessons.mother, lessons.weight)
    for t, j, mother, weight in zip(*(column.tolist() for column in columns), strict=True):
        pair = review.original(t)
        log_edge, log_none = pair.log_probability, pair.log_no_mother
        own = np.flatnonzero(pair.daughter == j)
        true = log_none[j] if mother < 0 else log_edge[own[pair.mother[own] == mother]].sum()
        if (mother >= 0 and mother not in pair.mother[own]) or not np.isfinite(true):
            counts["mother_no_candidate"] += 1
            continue
        edges.append(log_edge[own])
        owners.append(np.full(len(own), counts["daughters"]))
        none.append(log_none[j])
        trues.append(true)
        weights.append(weight)
        counts["daughters"] += 1
    if not trues:
        raise InputError("no answer names a mother among the tracker's candidates; there is nothing to fit on")
    flat = np.concatenate(edges), np.concatenate(owners), np.array(none), np.array(trues)
    return LabelledDaughters(*flat, counts, np.array(weights))
