"""A motion model, or a tempering and event costs, from a review's answers: what the output was made with, corrected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from dunno.assignment import Problem, marginals
from dunno.calibration import ModelCalibration, TemperedCosts
from dunno.calibration.kinds.model import stretch_of
from dunno.calibration.verdict import Verdict
from dunno.review.lessons import Lessons, Values, calibration_kind, uncalibrated
from dunno.review.review import Review
from dunno.runs.workspace import CALIBRATION_FILE
from dunno.terms import from_free, to_free
from dunno.types import Candidates, Floats, FramePair

LEAST_PROBABILITY = 1e-9
EVENTS = ("appear", "disappear", "divide")
PRIOR = 1.0
"""How far, in natural logarithms, the fit on the answers may be expected from what the output was made with."""
STEP = 0.05

LogProbability = Callable[[Floats], Floats]


def fit_model(review: Review, lessons: Lessons, cost: Any) -> tuple[ModelCalibration, Values]:
    """Correct what varies in time (the motion scale and the rates) in the model that the output was made with."""
    about = review.about
    own = ModelCalibration.load(review.folder / CALIBRATION_FILE)
    parts = {}
    for t in np.unique(lessons.pair).tolist():
        frames = FramePair(review.movie.detections(t), review.movie.detections(t + 1), np.inf, review.movie.scale)
        original = review.original(t)
        parts[t] = own.posed(stretch_of(frames, Candidates(original.mother, original.daughter), cost))[1]
    varied = [each.name for each in own.model.parameters.values() if each.varies]

    def log_probability(change: Floats) -> Floats:
        changed = _shifted(own, dict(zip(varied, change.tolist(), strict=True)))
        return _of_answers(lessons, lambda t: changed.at(parts[t]).pair_problem(parts[t]))

    change, spread, losses = _climbed(log_probability, lessons, len(varied))
    fitted = _shifted(own, dict(zip(varied, change.tolist(), strict=True)))
    values = {}
    for name, width in zip(varied, spread.tolist(), strict=True):
        each = fitted.model.parameters[name]
        ends = [from_free(each.free() + sign * 1.96 * width, each.link) for sign in (-1, 1)]
        values[name] = (each.value, ends[0], ends[1])
    intervals = {**own.intervals, **{name: value[1:] for name, value in values.items()}}
    summary = {"loss_before": losses[0], "loss_after": losses[1], "frame_pairs": len(parts)}
    verdict = Verdict("supported", f"fitted on {len(lessons)} answers of a review")
    fitted = replace(fitted, fitted="truth", problems=(), verdict=verdict, intervals=intervals, summary=summary)
    return replace(fitted, fitted_for=uncalibrated(about)), values


def _shifted(calibration: ModelCalibration, change: dict[str, float]) -> ModelCalibration:
    """The same with some parameters shifted on the scales of their links, wherever it holds them."""
    parameters = calibration.model.parameters

    def shifted(name: str, value: float) -> float:
        each = parameters[name]
        return each.bound(to_free(value, each.link) + change[name])

    pooled = {name: shifted(name, parameters[name].value) for name in change}
    courses = {name: tuple(shifted(name, value) for value in values) for name, values in calibration.courses.items()}
    return replace(calibration, model=calibration.model.with_values(pooled), courses=courses)


def fit_tempering(review: Review, lessons: Lessons) -> tuple[TemperedCosts, Values]:
    """Temper the costs of the output, and move its event costs."""
    about = review.about
    before = about["calibration"]["tempering"] if calibration_kind(about) == TemperedCosts.name else 1.0
    problems = {t: review.original(t).problem for t in np.unique(lessons.pair).tolist()}
    given = next(iter(problems.values()))
    assert given is not None
    middle = np.array([0.0, *(float(np.median(getattr(given, name))) for name in EVENTS)])
    scale = np.array([1.0, 3.0, 3.0, 3.0])  # event costs are no logarithms of anything positive

    def made(change: Floats) -> TemperedCosts:
        tempering, *events = (middle + scale * change).tolist()
        return TemperedCosts(float(np.exp(tempering)), *events)

    def log_probability(change: Floats) -> Floats:
        costs = made(change)

        def problem(t: int) -> Problem:
            told = problems[t]
            assert told is not None
            ends = (told.mother, told.daughter, told.cost / costs.tempering, told.n_mothers, told.n_daughters)
            return Problem(*ends, costs.appear, costs.disappear, costs.divide)

        return _of_answers(lessons, problem)

    change, spread, losses = _climbed(log_probability, lessons, 4)
    found = made(change)
    fitted = replace(
        found,
        tempering=found.tempering * before,
        fitted_for=uncalibrated(about),
        loss_before=losses[0],
        loss_after=losses[1],
    )
    width = 1.96 * scale * spread
    values = {"tempering": (fitted.tempering, *(fitted.tempering * np.exp(sign * width[0]) for sign in (-1, 1)))}
    for name, half in zip(EVENTS, width[1:].tolist(), strict=True):
        value = float(getattr(fitted, name))
        values[name] = (value, value - half, value + half)
    return fitted, {name: (float(v), float(low), float(high)) for name, (v, low, high) in values.items()}


def _of_answers(lessons: Lessons, problem: Callable[[int], Problem]) -> Floats:
    """(L,) log probability of each answer; 0 where its mother was no candidate, about which no cost can say anything."""
    found = np.zeros(len(lessons))
    for t in np.unique(lessons.pair).tolist():
        posed = problem(t)
        told = marginals(posed)
        for k in np.flatnonzero(lessons.pair == t).tolist():
            j, mother = int(lessons.daughter[k]), int(lessons.mother[k])
            edge = np.flatnonzero((posed.daughter == j) & (posed.mother == mother))
            p = told.appear[j] if mother < 0 else told.edge[edge[0]] if len(edge) else 1.0
            found[k] = np.log(max(float(p), LEAST_PROBABILITY))
    return found


def _climbed(log_probability: LogProbability, lessons: Lessons, n: int) -> tuple[Floats, Floats, tuple[float, float]]:
    """The most probable change, how uncertain it is, and the mean loss before and after.

    Answers count as many as they are worth, and a normal prior of width `PRIOR` holds what they do not tell. Its spread comes
    from the sum of outer products of the answers' gradients, the usual estimate of their information.
    """
    from scipy.optimize import minimize

    weight = lessons.weight / lessons.weight.sum() * lessons.effective

    def loss(change: Floats) -> float:
        return float(-(weight * log_probability(change)).sum() + 0.5 * (change**2).sum() / PRIOR**2)

    options = {"maxiter": 12, "eps": STEP}
    best = np.asarray(minimize(loss, np.zeros(n), method="L-BFGS-B", bounds=[(-4.0, 4.0)] * n, options=options).x)
    gradient = np.stack([log_probability(best + step) - log_probability(best - step) for step in STEP * np.eye(n)]) / (
        2 * STEP
    )
    information = (weight * gradient) @ gradient.T + np.eye(n) / PRIOR**2
    spread = np.sqrt(np.diag(np.linalg.inv(information)))
    mean = [float(-np.average(log_probability(change), weights=weight)) for change in (np.zeros(n), best)]
    return best, spread, (mean[0], mean[1])
