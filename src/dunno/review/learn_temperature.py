"""A temperature from a review's answers."""

from __future__ import annotations

import numpy as np

from dunno.calibration import TemperatureScaling
from dunno.calibration.kinds.temperature import best_temperature
from dunno.calibration.verdict import Verdict
from dunno.errors import InputError
from dunno.review.learn_softening import beside_answers
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
    daughters = beside_answers(review.original, lessons)
    used = daughters.possible[daughters.judged]
    if not used.any():
        raise InputError("no answer names a mother among the tracker's candidates; there is nothing to fit on")
    losses, weight, n = daughters.among(daughters.possible).losses(), lessons.weight[used], int(used.sum())
    best, at_bound = best_temperature(losses, weight)
    rng = np.random.default_rng(0)
    weights = [weight * counts for counts in rng.multinomial(n, np.full(n, 1 / n), RESAMPLINGS)]
    again = [best_temperature(losses, each)[0] for each in weights if each.sum() > 0]
    low, high = np.quantile(again, (0.025, 0.975)).tolist()
    fitted = TemperatureScaling(
        temperature=before * best,
        fitted_for=about.uncalibrated.to_dict(),
        loss_before=float(np.average(losses(1.0 / before), weights=weight)),
        loss_after=float(np.average(losses(best), weights=weight)),
        counts={"daughters": n, "mother_no_candidate": int((~used).sum()), **lessons.left_out},
        verdict=Verdict("supported", f"fitted on {len(lessons)} answers of a review"),
        at_bound=at_bound,
    )
    return fitted, {"temperature": (before * best, before * low, before * high)}
