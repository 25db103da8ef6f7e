"""Fitting a calibration on a review's answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dunno import rooms
from dunno.assignment import Problem, marginals
from dunno.calibration import ModelCalibration, TemperatureScaling, TemperedCosts
from dunno.calibration import event_costs as tempered
from dunno.calibration import temperature as scaling
from dunno.calibration.motion_model import MotionModel
from dunno.calibration.temperature import LabelledDaughters, best_temperature, floored
from dunno.errors import InputError
from dunno.review.lessons import ENOUGH, Lessons, lessons_of
from dunno.review.review import Review
from dunno.tracker import Tracker
from dunno.types import Candidates, Floats, FramePair

RESAMPLINGS = 200
LEAST_PROBABILITY = 1e-9
VARIED = ("motion_scale", "p_lost", "p_divide", "appear_density")
EVENTS = ("appear", "disappear", "divide")
PRIOR = 1.0
"""How far, in natural logarithms, the fit on the answers may be expected from what the output was made with."""
STEP = 0.05

Fitted = ModelCalibration | TemperedCosts | TemperatureScaling
LogProbability = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Learnt:
    """A calibration fitted on a review.

    Attributes:
        calibration: What was fitted.
        values: Each parameter with its 95 % interval.
        answers: How many answers it was fitted on.
        effective: How many drawn at random would be worth as much.
        left_out: How many answers were not used, and why.
    """

    calibration: Fitted
    values: dict[str, tuple[float, float, float]]
    answers: int
    effective: float
    left_out: dict[str, int]

    @property
    def enough(self) -> bool:
        """Whether there are enough answers to trust the fit."""
        return self.effective >= ENOUGH


def learn(review: Review, *, temperature: bool = False, zero_floor: float = scaling.ZERO_FLOOR) -> Learnt:
    """Fit what makes the answers most probable, each weighted by its chance of being asked.

    Method JP gets its model, or for costs that are no motion model a tempering and event costs, corrected from what the
    output was made with; others, or if asked for, a temperature.
    """
    lessons = lessons_of(review)
    lessons.require_enough()
    about = review.about
    joint = about["method"] == "JP" and not temperature
    calibration: Fitted
    if not joint:
        calibration, values = _fit_temperature(review, lessons, zero_floor)
    elif hasattr(_cost(about), "spread"):
        calibration, values = _fit_model(review, lessons)
    else:
        calibration, values = _fit_tempering(review, lessons)
    told = {
        "answers": len(lessons),
        "effective": lessons.effective,
        "intervals": {name: list(value[1:]) for name, value in values.items()},
    }
    calibration = replace(calibration, fitted_for={**calibration.fitted_for, "review": told})
    return Learnt(calibration, values, len(lessons), lessons.effective, lessons.left_out)


def _cost(about: dict[str, Any]) -> Any:
    cost = rooms.find("costs", str(about["cost"]))
    return cost(**about["cost_parameters"]) if isinstance(cost, type) else cost


def _uncalibrated(about: dict[str, Any]) -> dict[str, Any]:
    return {**about, "calibration": None, "calibrated": False}


def _kind(about: dict[str, Any]) -> str | None:
    return None if about["calibration"] is None else str(about["calibration"]["kind"])


def _fit_temperature(
    review: Review, lessons: Lessons, zero_floor: float
) -> tuple[TemperatureScaling, dict[str, tuple[float, float, float]]]:
    about = review.about
    if _kind(about) not in (None, scaling.KIND):
        raise InputError(
            f"the output is calibrated by a {_kind(about)} already, on which no temperature can be put; leave out --temperature"
        )
    before = about["calibration"]["temperature"] if about["calibration"] else 1.0  # the new one comes on top of it
    sample = _labelled(review, lessons, zero_floor)
    best, at_bound = best_temperature(sample)
    rng = np.random.default_rng(0)
    drawn = rng.multinomial(len(sample.log_true), np.full(len(sample.log_true), 1 / len(sample.log_true)), RESAMPLINGS)
    weights = [sample.weight * counts for counts in drawn if sample.weight is not None]
    again = [best_temperature(replace(sample, weight=weight))[0] for weight in weights if weight.sum() > 0]
    low, high = np.quantile(again, (0.025, 0.975)).tolist()
    fitted = TemperatureScaling(
        temperature=before * best,
        fitted_for=_uncalibrated(about),
        loss_before=sample.loss(1.0 / before),
        loss_after=sample.loss(best),
        counts=sample.counts,
        zero_floor=zero_floor,
        at_bound=at_bound,
    )
    return fitted, {"temperature": (before * best, before * low, before * high)}


def _labelled(review: Review, lessons: Lessons, zero_floor: float) -> LabelledDaughters:
    """The answered daughters' distributions as they were tracked, with what is true."""
    edges, owners, none, trues, weights = [], [], [], [], []
    counts = {"daughters": 0, "mother_no_candidate": 0, **lessons.left_out}
    columns = (lessons.pair, lessons.daughter, lessons.mother, lessons.weight)
    for t, j, mother, weight in zip(*(column.tolist() for column in columns), strict=True):
        pair = review.original(t)
        log_edge, log_none = floored(pair, zero_floor, bool(review.about["no_mother"]))
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


def _fit_model(review: Review, lessons: Lessons) -> tuple[ModelCalibration, dict[str, tuple[float, float, float]]]:
    about, cost = review.about, _cost(review.about)
    gate = None if about["max_distance_estimated"] else about["max_distance"] or np.inf
    plan = Tracker(cost, "JP", max_distance=gate, calibration="self", seed=about["seed"]).plan(review.movie)
    own = plan.calibration
    assert isinstance(own, ModelCalibration)
    seen = {}
    for t in np.unique(lessons.pair).tolist():
        frames = FramePair(review.movie.detections(t), review.movie.detections(t + 1), np.inf, review.movie.scale)
        told = review.original(t)
        seen[t] = own.pair(frames, Candidates(told.mother, told.daughter), cost)

    def log_probability(logs: Floats) -> Floats:
        model = _varied(own, logs)
        return _of_answers(lessons, lambda t: model.at(seen[t].frame).problem(seen[t]))

    logs, spread, losses = _climbed(log_probability, lessons, len(VARIED))
    fitted = _varied(own, logs)
    values = {}
    for name, width in zip(VARIED, spread.tolist(), strict=True):
        value = float(getattr(fitted.model, name))
        values[name] = (value, value * float(np.exp(-1.96 * width)), value * float(np.exp(1.96 * width)))
    intervals = {**own.intervals, **{name: value[1:] for name, value in values.items()}}
    summary = {"loss_before": losses[0], "loss_after": losses[1], "frame_pairs": len(seen)}
    fitted = replace(
        fitted,
        fitted="truth",
        trusted=True,
        problems=(),
        intervals=intervals,
        summary=summary,
        fitted_for=_uncalibrated(about),
    )
    return fitted, values


def _varied(calibration: ModelCalibration, logs: Floats) -> ModelCalibration:
    """The same model with its motion scale and rates multiplied, wherever it holds them."""
    factors = dict(zip(VARIED, np.exp(logs).tolist(), strict=True))

    def times(name: str, value: float) -> float:
        changed = value * factors.get(name, 1.0)
        return min(float(changed), 0.45) if name in ("p_lost", "p_divide") else float(changed)

    def model(given: MotionModel) -> MotionModel:
        return given.evolved(**{name: times(name, getattr(given, name)) for name in VARIED})

    varying = {name: tuple(times(name, value) for value in values) for name, values in calibration.varying.items()}
    first = None if calibration.first is None else model(calibration.first)
    return replace(calibration, model=model(calibration.model), first=first, varying=varying)


def _fit_tempering(review: Review, lessons: Lessons) -> tuple[TemperedCosts, dict[str, tuple[float, float, float]]]:
    about = review.about
    before = about["calibration"]["tempering"] if _kind(about) == tempered.KIND else 1.0
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
        fitted_for=_uncalibrated(about),
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
