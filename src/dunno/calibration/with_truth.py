"""Fit with truth: a model, or for other costs a tempering and event costs, on annotated frame pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dunno.assignment import Problem, marginals
from dunno.calibration.applying import frame_pairs
from dunno.calibration.base import refuse_calibrated
from dunno.calibration.kinds.model import ModelCalibration
from dunno.calibration.kinds.tempered_costs import TemperedCosts
from dunno.calibration.verdict import fitted_with_truth
from dunno.costs import Cost, cost_that_made
from dunno.errors import InputError
from dunno.models.model import Model, start_model
from dunno.truth import MOTHERLESS, TrueMothers, true_mothers
from dunno.types import Candidates, Floats, PairPosterior, Truth
from dunno.types.detections import typical_diameter
from dunno.types.field import Field
from dunno.types.stretch import Stretch, Transition

if TYPE_CHECKING:
    from dunno.tracking import Tracking


from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from dunno.calibration.kinds.temperature import beside_truth, best_temperature
from dunno.perturbations import Perturbation
from dunno.types import Movie

if TYPE_CHECKING:
    from dunno.tracking import Tracking
    from dunno.tracking.tracker import Tracker


FIT_PAIRS = 30  # frame pairs; judged; at most, spread over the movie
LEAST_TRUE_PROBABILITY = 1e-9  # probability; exact: keeps a logarithm finite
TRUTH_ROUNDS = 8  # rounds; judged; of the search over temperature and events in turn
FREEDOM = 3.0  # nats; judged
"""How far, in natural logarithms, the fit may go from where it begins."""


def fit_event_costs(tracking: Tracking, truth: Truth) -> ModelCalibration | TemperedCosts:
    """Fit by maximum composite likelihood: the mean log P(true mother or ⊥) over daughters, under the joint posterior.

    Args:
        tracking: Its candidates and costs are used, its probabilities are not; not calibrated.
        truth: What is true, with the same frames.

    Returns:
        A motion model where the cost is one (distance, activity), else a tempering and event costs.
    """
    refuse_calibrated(tracking.about)
    cost = cost_that_made(tracking.about)
    pairs = tracking.pairs
    picked = np.unique(np.linspace(0, len(pairs) - 1, min(FIT_PAIRS, len(pairs))).astype(int)).tolist()
    trues = [true_mothers(truth, pairs[r]) for r in picked]
    if not any(true.known.any() for true in trues):
        raise InputError("there is no true cell in these frame pairs; nothing to fit on")
    if cost.is_motion:
        return _fit_model(tracking, picked, trues, cost)
    return _fit_tempering(tracking, [pairs[r] for r in picked], trues, cost)


def _loss(problem: Problem, pair: PairPosterior, true: TrueMothers) -> tuple[float, int]:
    """Sum of −log P(truth) over a pair's daughters, and their number; a mother who is no candidate does not count."""
    found = marginals(problem)
    hit = true.mother[pair.daughter] == pair.mother
    probability = np.full(problem.n_daughters, np.nan)
    probability[pair.daughter[hit]] = found.edge[hit]
    appeared = true.mother == MOTHERLESS
    probability[appeared] = found.appear[appeared]
    used = true.known & ~np.isnan(probability)
    return float(-np.log(np.maximum(probability[used], LEAST_TRUE_PROBABILITY)).sum()), int(used.sum())


def _climb(loss: Callable[[Floats], float], start: Floats, bounds: Sequence[tuple[float, float]]) -> Floats:
    from scipy.optimize import minimize

    options = {"maxiter": TRUTH_ROUNDS, "eps": 0.02}
    return np.asarray(minimize(loss, start, method="L-BFGS-B", bounds=bounds, options=options).x)


def _fit_model(tracking: Tracking, picked: list[int], trues: list[TrueMothers], cost: Cost) -> ModelCalibration:
    movie = tracking.movie
    pairs = [frame_pairs(movie.part(slice(r, r + 2)), 1)[0] for r in picked]
    posteriors = [tracking.pairs[r] for r in picked]
    transitions = [
        Transition(
            pair.mothers, pair.daughters, Candidates(told.mother, told.daughter), cost.spread(pair), stage=pair.stage
        )
        for pair, told in zip(pairs, posteriors, strict=True)
    ]
    everyone = [cells for pair in pairs for cells in (pair.mothers, pair.daughters)]
    field = Field.around([cells for cells in everyone if len(cells)])
    whole = Stretch.of(transitions)
    start = _moments(start_model(whole, field, typical_diameter(everyone)), transitions, trues)
    parts = [Stretch.of([transition]) for transition in transitions]

    def loss(free: Floats) -> float:
        model = start.with_free(free)
        losses = [
            _loss(model.pair_problem(part), told, true)
            for part, told, true in zip(parts, posteriors, trues, strict=True)
        ]
        return sum(each[0] for each in losses) / max(sum(each[1] for each in losses), 1)

    first = start.free
    best = _climb(loss, first, [_bounds(each, low) for each, low in zip(start.parameters.values(), first, strict=True)])
    return ModelCalibration(
        model=start.with_free(best),
        fitted="truth",
        verdict=fitted_with_truth(tracking.about),
        summary={"loss_before": loss(first), "loss_after": loss(best), "frame_pairs": len(pairs)},
        fitted_for=tracking.about.to_dict(),
    )


def _bounds(parameter: Any, start: float) -> tuple[float, float]:
    """How far a parameter may go, on the scale of its link."""
    if not np.isfinite(parameter.bounds).all() or parameter.link == "logit" or parameter.bounds[0] <= 0:
        return start - FREEDOM, start + FREEDOM
    low, high = np.log(parameter.bounds)
    return float(low), float(high)


def _moments(start: Model, transitions: Sequence[Transition], trues: Sequence[TrueMothers]) -> Model:
    """A model from counting: the true displacements, loads and appearances."""
    single, dividing, lost, divided, mothers, appeared = [], [], 0, 0, 0, 0
    for transition, true in zip(transitions, trues, strict=True):
        part, edges = Stretch.of([transition]), transition.candidates
        load = np.bincount(true.mother[true.mother >= 0], minlength=len(transition.mothers))
        hit = true.mother[edges.daughter] == edges.mother
        single.append(part.squared[hit & (load[edges.mother] == 1)])
        dividing.append(part.squared[hit & (load[edges.mother] == 2)])
        lost, divided = lost + int((load == 0).sum()), divided + int((load == 2).sum())
        mothers += len(transition.mothers)
        appeared += int(((true.mother == MOTHERLESS) & true.known).sum())
    ones, twos = np.concatenate(single), np.concatenate(dividing)
    p_lost = (0.5 * lost + 0.5) / (mothers + 1)
    values = {
        "p_lost": p_lost,
        "p_divide": min((divided + 0.5) / (mothers + 1) / (1 - p_lost), 0.9),
        "appear_density": (0.5 * appeared + 0.5) / len(transitions) / start.field.size,
    }
    if len(ones):
        values["motion_scale"] = max(float(np.median(ones)) / 1.4, float(np.max(start.value("least_scale"))))
    if len(twos) > 4:
        values["division_scale"] = float(twos.mean() / start.n_dimensions)
    return start.with_values(values)


def _fit_tempering(
    tracking: Tracking, posteriors: list[PairPosterior], trues: list[TrueMothers], cost: Cost
) -> TemperedCosts:
    plain = [np.where(np.isfinite(pair.cost), pair.cost, np.inf) for pair in posteriors]
    sizes = np.abs(np.concatenate(plain))
    sizes = sizes[np.isfinite(sizes) & (sizes > 0)]
    spread = float(np.median(sizes)) if len(sizes) else 1.0

    def made(logs: Floats) -> TemperedCosts:
        return TemperedCosts(float(np.exp(logs[0])), float(logs[1]), float(logs[2]), float(logs[3]))

    def loss(logs: Floats) -> float:
        fitted = made(logs)
        parts = []
        for pair, costs, true in zip(posteriors, plain, trues, strict=True):
            tempered = cost.linkable(costs) / fitted.tempering
            cells = (len(pair.mothers), len(pair.daughters))
            parts.append(_loss(fitted.posed(pair.mother, pair.daughter, tempered, *cells), pair, true))
        return sum(part[0] for part in parts) / max(sum(part[1] for part in parts), 1)

    starts = [np.array([np.log(spread * factor), 2.0, 2.0, 2.0]) for factor in (0.01, 0.03, 0.1, 0.3)]
    first = min(starts, key=loss)
    bounds = [(first[0] - 7, first[0] + 7), (-30.0, 30.0), (-30.0, 30.0), (-30.0, 30.0)]
    best = _climb(loss, first, bounds)
    losses = {"loss_before": loss(first), "loss_after": loss(best)}
    told = fitted_with_truth(tracking.about)
    return replace(made(best), fitted_for=tracking.about.to_dict(), verdict=told, **losses)


STRENGTHS: dict[str, tuple[float, ...]] = {
    "variance": (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0),
    "amplitude": (1, 2, 3, 4),
    "rate": (0.05, 0.125, 0.25, 0.5),
}
"""What is tried for each perturbation's strength, by the name of its field."""


@dataclass(frozen=True)
class StrengthTrial:
    """A perturbation, and the held-out loss it gave."""

    perturbation: Perturbation
    loss: float


def tune_perturbation(tracker: Tracker, movie: Movie, truth: Truth) -> list[StrengthTrial]:
    """Try a perturbation at several strengths, by the held-out mean −log P(true mother).

    For each strength the temperature is fitted on the odd frame pairs and the loss taken on the even ones, and the other way round.
    """
    if not tracker.method.perturbs or tracker.perturbation is None:
        raise InputError(f"method {tracker.method.name} perturbs nothing; --tune is for FP and FP+A")
    given: Any = tracker.perturbation
    strength = next((field.name for field in fields(given) if field.name in STRENGTHS), None)
    if strength is None:
        raise InputError(f"the perturbation {given.name} has no strength to tune")
    trials = []
    for value in STRENGTHS[strength]:
        tracker.perturbation = replace(given, **{strength: value})
        trials.append(StrengthTrial(tracker.perturbation, _held_out(tracker.track(movie), truth)))
    tracker.perturbation = given
    return trials


def _held_out(tracking: Tracking, truth: Truth) -> float:
    """Mean loss of each half of the pairs at the temperature fitted on the other."""
    if len(tracking.pairs) < 2:
        raise InputError("tuning needs at least two frame pairs, to hold one out")
    one, other = (beside_truth(tracking.pairs[start::2], truth, False)[0].losses() for start in (0, 1))
    losses = np.concatenate([other(best_temperature(one)[0]), one(best_temperature(other)[0])])
    return float(losses.mean())
