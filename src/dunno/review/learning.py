"""Fitting a calibration on a review's answers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dunno.calibration import ModelCalibration, TemperatureScaling, TemperedCosts
from dunno.calibration.kinds.temperature import best_temperature
from dunno.calibration.verdict import Verdict
from dunno.costs import cost_that_made
from dunno.errors import InputError
from dunno.review.learn_model import fit_model, fit_tempering
from dunno.review.lessons import ENOUGH, Lessons, Values, beside_answers, lessons_of
from dunno.review.review import Review

RESAMPLINGS = 200

Fitted = ModelCalibration | TemperedCosts | TemperatureScaling


@dataclass(frozen=True)
class Learnt:
    """A calibration fitted on a review."""

    calibration: Fitted  # What was fitted
    values: Values  # Each parameter with its 95 % interval
    answers: int  # How many answers it was fitted on
    # How many drawn at random would be worth as much; all of them where each counts once, as for a model
    effective: float
    left_out: dict[str, int]  # How many answers were not used, and why

    @property
    def enough(self) -> bool:
        """Whether there are enough answers to trust the fit."""
        return self.effective >= ENOUGH


def learn(review: Review, *, temperature: bool = False) -> Learnt:
    """Fit what makes the answers most probable.

    Method JP gets its model, every answer counted once; for costs that are no motion model a tempering and event costs, and other
    methods, or if asked for, a temperature, each answer weighted by its chance of being asked.
    """
    lessons = lessons_of(review)
    about = review.about
    cost = cost_that_made(about)
    of_model = about.joint and not temperature and cost.is_motion
    worth = float(len(lessons)) if of_model else lessons.effective
    lessons.require(worth)
    calibration: Fitted
    if not about.joint or temperature:
        calibration, values = fit_temperature(review, lessons)
    elif of_model:
        calibration, values = fit_model(review, lessons, cost)
    else:
        calibration, values = fit_tempering(review, lessons)
    told = {
        "answers": len(lessons),
        "effective": worth,
        "intervals": {name: list(value[1:]) for name, value in values.items() if value[1] == value[1]},
    }
    calibration = replace(calibration, fitted_for={**calibration.fitted_for, "review": told})
    return Learnt(calibration, values, len(lessons), worth, lessons.left_out)


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
