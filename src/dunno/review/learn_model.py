"""A motion model, or a tempering and event costs, from a review's answers: what the output was made with, corrected."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from dunno.assignment import Problem, marginals
from dunno.calibration import ModelCalibration, TemperedCosts
from dunno.calibration.comparison import Comparison
from dunno.calibration.kinds.model import stretch_of
from dunno.calibration.softening import PRIOR_UNKNOWN, PRIOR_UNKNOWN_WIDTH, Softening, fit_softening, mixed
from dunno.calibration.verdict import Verdict, Word
from dunno.costs import Cost, cost_that_made
from dunno.review.lessons import ENOUGH, Lessons, Values, beside_answers
from dunno.review.review import Review
from dunno.runs.workspace import CALIBRATION_FILE
from dunno.terms import to_free
from dunno.tracking.plan import BLOCK, spans_of
from dunno.tracking.tracker import Tracker, track_block
from dunno.types import Candidates, Floats, FramePair, PairPosterior

LEAST_ANSWER_PROBABILITY = 1e-9
EVENT_KINDS = ("appear", "disappear", "divide")
PRIOR = {"log": 1.0, "logit": 1.0, "none": 0.3}
"""How far, on the scale of its link, a parameter may be expected from what the output was made with."""
ENOUGH_FOR_TERMS = 100
"""Answers from which on terms are fitted: with half as many, they became too sure of themselves on some colonies."""
STEP = 0.05
LEARNING_ROUNDS, HALVINGS, ENOUGH_GAINED = 8, 4, 0.05
"""How many steps are taken at most, how often each is halved, and the gain in natural logarithms that is worth another."""
AS_IT_IS = Softening()

LogProbability = Callable[[Floats], Floats]


def fit_model(review: Review, lessons: Lessons, cost: Cost) -> tuple[ModelCalibration, Values]:
    """Correct the terms of the model that the output was made with, then how much less sure than it one should be.

    Every answer counts once: which cells are asked about depends on what was tracked and answered before, so that it says nothing
    more about the parameters. The terms are those of one cell per mask: where masks are judged, or answers are few, only the
    softening is fitted.
    """
    own = ModelCalibration.load(review.folder / CALIBRATION_FILE)
    few = own.judges_masks or len(lessons) < ENOUGH_FOR_TERMS
    fitted, values, losses = (own, {}, {}) if few else _fit_terms(review, lessons, own, cost)
    softening = learn_softening(review, lessons, fitted)
    intervals = {**own.intervals, **{name: value[1:] for name, value in values.items()}}
    word: Word = "supported" if len(lessons) >= ENOUGH else "untested"
    verdict = Verdict(word, f"fitted on {len(lessons)} answers of a review")
    fitted = replace(fitted, softening=softening, fitted="truth", problems=(), verdict=verdict, intervals=intervals)
    nan = float("nan")
    values |= {"tempering": (softening.tempering, nan, nan), "unknown": (softening.unknown, nan, nan)}
    return replace(fitted, summary=losses, fitted_for=review.about.uncalibrated.to_dict()), values


def _fit_terms(
    review: Review, lessons: Lessons, own: ModelCalibration, cost: Cost
) -> tuple[ModelCalibration, Values, dict[str, float]]:
    """The most probable parameters, each with its interval, and the mean loss before and after.

    The rate ε is fitted along with them, so that an answer against all odds does not have to be explained by a term; τ is not,
    since it would take the place of the terms.
    """
    parts = {}
    for t in np.unique(lessons.pair).tolist():
        frames = FramePair(review.movie.detections(t), review.movie.detections(t + 1), np.inf, review.movie.scale)
        original = review.original(t)
        parts[t] = own.posed(stretch_of(frames, Candidates(original.mother, original.daughter), cost))[1]
    names = list(own.model.parameters)
    start = np.array([*np.zeros(len(names)), np.log(PRIOR_UNKNOWN)])
    width = np.array([*(PRIOR[own.model.parameters[name].link] for name in names), PRIOR_UNKNOWN_WIDTH])

    def log_probability(change: Floats) -> Floats:
        *shifts, unknown = (start + width * change).tolist()
        changed = _shifted(own, dict(zip(names, shifts, strict=True)))
        softening = Softening(unknown=float(np.exp(unknown)))
        return _of_answers(lessons, lambda t: changed.at(parts[t]).pair_problem(parts[t]), softening)

    change, spread, (before, after) = _climbed(log_probability, np.ones(len(lessons)), len(start))
    shifts = dict(zip(names, (width * change).tolist(), strict=False))
    fitted = replace(_shifted(own, shifts), softening=AS_IT_IS)
    values = {}
    for name, sigma in zip(names, (width * spread).tolist(), strict=False):
        each = fitted.model.parameters[name]
        ends = [each.bound(each.free() + sign * 1.96 * sigma) for sign in (-1, 1)]
        values[name] = (each.value, ends[0], ends[1])
    return fitted, values, {"loss_before": before, "loss_after": after, "frame_pairs": len(parts)}


def _shifted(calibration: ModelCalibration, change: dict[str, float]) -> ModelCalibration:
    """The same with some parameters shifted on the scales of their links, wherever it holds them."""
    parameters = calibration.model.parameters

    def shifted(name: str, value: float) -> float:
        each = parameters[name]
        return each.bound(to_free(value, each.link) + change[name])

    pooled = {name: shifted(name, parameters[name].value) for name in change}
    courses = {name: tuple(shifted(name, value) for value in values) for name, values in calibration.courses.items()}
    return replace(calibration, model=calibration.model.with_values(pooled), courses=courses)


def learn_softening(review: Review, lessons: Lessons, calibration: ModelCalibration) -> Softening:
    """The softening with which the answers are most probable: how much less sure the model should be, as the output is tracked.

    The blocks that hold answers are tracked again, with their gaps and judged masks, at a few temperings. The answers are then the
    truth that skipping frames has to do without, and what fits τ and ε to them, priors included, is the same.
    """

    def tempered(tempering: float) -> Comparison:
        softening = Softening(tempering, 0.0)
        pairs = dict(_tracked(review, lessons, replace(calibration, softening=softening)))
        return beside_answers(pairs.__getitem__, lessons)

    return fit_softening(tempered(1.0), tempered, calibration.softening.tempering)


def _tracked(review: Review, lessons: Lessons, calibration: ModelCalibration) -> Iterator[tuple[int, PairPosterior]]:
    """The pairs of all blocks that hold an answer, tracked again."""
    about = review.about
    gate = np.inf if about.max_distance is None else about.max_distance
    tracker = Tracker(cost_that_made(about), no_mother=about.no_mother, seed=about.seed, calibration=calibration)
    plan = tracker.draft(gate, gate)
    size = plan.block if plan.halo else BLOCK  # without halos, pairs are independent
    wanted = set((lessons.pair // size).tolist())
    for k, span in enumerate(spans_of(review.movie, plan.window, size, plan.halo)):
        if k in wanted:
            yield from enumerate(track_block(plan, span).pairs(), k * size)


def fit_tempering(review: Review, lessons: Lessons) -> tuple[TemperedCosts, Values]:
    """Temper the costs of the output, and move its event costs."""
    about = review.about
    before = about.calibration_details["tempering"] if about.calibration_kind == TemperedCosts.name else 1.0
    problems = {t: review.original(t).problem for t in np.unique(lessons.pair).tolist()}
    given = next(iter(problems.values()))
    assert given is not None
    middle = np.array([0.0, *(float(np.median(getattr(given, name))) for name in EVENT_KINDS)])
    scale = np.array([1.0, 3.0, 3.0, 3.0])  # event costs are no logarithms of anything positive

    def made(change: Floats) -> TemperedCosts:
        tempering, *events = (middle + scale * change).tolist()
        return TemperedCosts(float(np.exp(tempering)), *events)

    def log_probability(change: Floats) -> Floats:
        costs = made(change)

        def problem(t: int) -> Problem:
            told = problems[t]
            assert told is not None
            tempered = told.cost / costs.tempering
            return costs.posed(told.mother, told.daughter, tempered, told.n_mothers, told.n_daughters)

        return _of_answers(lessons, problem)

    weight = lessons.weight / lessons.weight.sum() * lessons.effective
    change, spread, losses = _climbed(log_probability, weight, 4)
    found = made(change)
    fitted = replace(
        found,
        tempering=found.tempering * before,
        fitted_for=about.uncalibrated.to_dict(),
        loss_before=losses[0],
        loss_after=losses[1],
    )
    width = 1.96 * scale * spread
    values = {"tempering": (fitted.tempering, *(fitted.tempering * np.exp(sign * width[0]) for sign in (-1, 1)))}
    for name, half in zip(EVENT_KINDS, width[1:].tolist(), strict=True):
        value = float(getattr(fitted, name))
        values[name] = (value, value - half, value + half)
    return fitted, {name: (float(v), float(low), float(high)) for name, (v, low, high) in values.items()}


def _of_answers(lessons: Lessons, problem: Callable[[int], Problem], softening: Softening = AS_IT_IS) -> Floats:
    """(L,) log probability of each answer; 0 where its mother was no candidate, about which no cost can say anything."""
    found = np.zeros(len(lessons))
    for t in np.unique(lessons.pair).tolist():
        posed = problem(t).tempered(softening.tempering)
        told = marginals(posed)
        owner = np.concatenate([posed.daughter, np.arange(posed.n_daughters)])
        options = np.concatenate([told.edge, told.appear])
        soft = mixed(options, owner, posed.n_daughters, softening.unknown)
        for k in np.flatnonzero(lessons.pair == t).tolist():
            j, mother = int(lessons.daughter[k]), int(lessons.mother[k])
            place = np.flatnonzero((posed.daughter == j) & (posed.mother == mother))
            p = soft[len(posed.daughter) + j] if mother < 0 else soft[place[0]] if len(place) else 1.0
            found[k] = np.log(max(float(p), LEAST_ANSWER_PROBABILITY))
    return found


def _climbed(log_probability: LogProbability, weight: Floats, n: int) -> tuple[Floats, Floats, tuple[float, float]]:
    """The most probable change, how uncertain it is, and the mean loss before and after.

    Changes are in widths of their normal priors, which hold what the answers do not tell. A step is that of Berndt, Hall, Hall and
    Hausman: the sum of outer products of the answers' gradients stands for their information, for the steps and for the spread.
    """

    def loss(logs: Floats, change: Floats) -> float:
        return float(-(weight * logs).sum() + 0.5 * (change**2).sum())

    change, logs = np.zeros(n), log_probability(np.zeros(n))
    first = logs
    for _ in range(LEARNING_ROUNDS):
        gradient = np.stack([log_probability(change + step) - logs for step in STEP * np.eye(n)]) / STEP
        information = (weight * gradient) @ gradient.T + np.eye(n)
        step = np.linalg.solve(information, gradient @ weight - change)
        for _ in range(HALVINGS):
            tried = log_probability(change + step)
            if loss(tried, change + step) < loss(logs, change):
                break
            step = step / 2
        else:
            break
        gained = loss(logs, change) - loss(tried, change + step)
        change, logs = change + step, tried
        if gained < ENOUGH_GAINED:
            break
    spread = np.sqrt(np.diag(np.linalg.inv(information)))
    mean = [float(-np.average(each, weights=weight)) for each in (first, logs)]
    return change, spread, (mean[0], mean[1])
