"""Fitting a calibration on a review's answers."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dunno.calibration import ModelCalibration, TemperatureScaling, TemperedCosts
from dunno.costs import cost_that_made
from dunno.review.learn_model import fit_model, fit_tempering
from dunno.review.learn_temperature import fit_temperature
from dunno.review.lessons import ENOUGH, Values, lessons_of
from dunno.review.review import Review

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
