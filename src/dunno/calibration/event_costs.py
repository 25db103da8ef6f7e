"""Fit with truth: a motion model, or for other costs a tempering and event costs, on annotated frame pairs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dunno import rooms
from dunno.assignment import Problem, marginals
from dunno.calibration.expectation import TAILS
from dunno.calibration.intervals import PARAMETERS, from_logs, to_logs
from dunno.calibration.model_calibration import ModelCalibration
from dunno.calibration.motion_model import Field, MotionModel, MotionPair
from dunno.calibration.self_calibration import start_model
from dunno.costs import evaluate, linkable
from dunno.errors import InputError
from dunno.io.writing import whole
from dunno.truth import NO_MOTHER, TrueMothers, true_mothers
from dunno.types import Candidates, Floats, FramePair, PairPosterior, Truth
from dunno.types.detections import typical_diameter

if TYPE_CHECKING:
    from dunno.tracking import Tracking

KIND = "tempering and event costs"
FIT_PAIRS = 30
LEAST_PROBABILITY = 1e-9
ROUNDS = 8


@dataclass(frozen=True)
class TemperedCosts:
    """Costs divided by a number, and events at costs of their own.

    Attributes:
        tempering: What all edge costs are divided by.
        appear: Cost of a daughter without mother, in units of the tempered costs; likewise disappear and divide.
        fitted_for: What it was fitted on.
        loss_before: Mean −log P(truth) at the costs' own defaults.
        loss_after: The same when fitted.
    """

    tempering: float
    appear: float
    disappear: float
    divide: float
    fitted_for: Mapping[str, Any] = field(default_factory=dict)
    loss_before: float = float("nan")
    loss_after: float = float("nan")

    def problem(self, pair: FramePair, candidates: Candidates, cost: Any) -> tuple[Floats, Problem]:
        """(E,) tempered costs and the assignment problem they make."""
        costs = evaluate(cost, pair, candidates) / self.tempering
        sizes = (len(pair.mothers), len(pair.daughters))
        return costs, self._problem(candidates.mother, candidates.daughter, linkable(cost, costs), *sizes)

    def _problem(self, mother: Any, daughter: Any, costs: Floats, m: int, n: int) -> Problem:
        return Problem(mother, daughter, costs, m, n, self.appear, self.disappear, self.divide)

    def check(self, about: Mapping[str, Any]) -> None:
        """Refuse another cost or a method that does not know the posterior."""
        if about.get("method") != "JP":
            raise InputError(f"event costs calibrate method JP, not {about.get('method')}; use --method JP")
        if self.fitted_for.get("cost", about.get("cost")) != about.get("cost"):
            raise InputError(
                f"the calibration was fitted for cost {self.fitted_for['cost']!r}, not for {about.get('cost')!r}"
            )

    def describe(self) -> dict[str, Any]:
        """What a result says about its calibration."""
        names = ("tempering", "appear", "disappear", "divide")
        return {"kind": KIND, "data": self.fitted_for.get("movie"), **{name: getattr(self, name) for name in names}}

    def save(self, path: str | Path, overwrite: bool = False) -> None:
        """Write it as JSON."""
        with whole(path, overwrite) as partial:
            partial.write_text(json.dumps({"kind": KIND, **asdict(self)}, indent=2) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> TemperedCosts:
        """Read what `save` wrote."""
        content = json.loads(Path(path).read_text())
        content.pop("kind")
        return cls(**content)


def fit_event_costs(tracking: Tracking, truth: Truth) -> ModelCalibration | TemperedCosts:
    """Fit by maximum composite likelihood: the mean log P(true mother or ⊥) over daughters, under the joint posterior.

    Args:
        tracking: Its candidates and costs are used, its probabilities are not; not calibrated.
        truth: What is true, with the same frames.

    Returns:
        A motion model where the cost is one (distance, activity), else a tempering and event costs.
    """
    cost = rooms.find("costs", str(tracking.about["cost"]))
    cost = cost(**tracking.about["cost_parameters"]) if isinstance(cost, type) else cost
    told = tracking.pairs
    picked = np.unique(np.linspace(0, len(told) - 1, min(FIT_PAIRS, len(told))).astype(int)).tolist()
    trues = [true_mothers(truth, told[r]) for r in picked]
    if not any(true.known.any() for true in trues):
        raise InputError("there is no true cell in these frame pairs; nothing to fit on")
    if hasattr(cost, "spread"):
        return _fit_model(tracking, picked, trues, cost)
    return _fit_tempering(tracking, [told[r] for r in picked], trues, cost)


def _loss(problem: Problem, told: PairPosterior, true: TrueMothers) -> tuple[float, int]:
    """Sum of −log P(truth) over a pair's daughters, and their number; a mother who is no candidate does not count."""
    found = marginals(problem)
    hit = true.mother[told.daughter] == told.mother
    probability = np.full(problem.n_daughters, np.nan)
    probability[told.daughter[hit]] = found.edge[hit]
    appeared = true.mother == NO_MOTHER
    probability[appeared] = found.appear[appeared]
    used = true.known & ~np.isnan(probability)
    return float(-np.log(np.maximum(probability[used], LEAST_PROBABILITY)).sum()), int(used.sum())


def _climb(loss: Callable[[Floats], float], start: Floats, bounds: Sequence[tuple[float, float]]) -> Floats:
    from scipy.optimize import minimize

    options = {"maxiter": ROUNDS, "eps": 0.02}
    return np.asarray(minimize(loss, start, method="L-BFGS-B", bounds=bounds, options=options).x)


def _fit_model(tracking: Tracking, picked: list[int], trues: list[TrueMothers], cost: Any) -> ModelCalibration:
    movie, gate = tracking.movie, np.inf
    cells = [(movie.detections(r), movie.detections(r + 1)) for r in picked]
    frames = [FramePair(*each, gate, movie.scale) for each in cells]
    told = [tracking.pairs[r] for r in picked]
    pairs = [MotionPair.of(f, Candidates(t.mother, t.daughter), cost) for f, t in zip(frames, told, strict=True)]
    everyone = [each for both in cells for each in both]
    field = Field.around([each for each in everyone if len(each)])
    start = _moments(start_model(pairs, field, typical_diameter(everyone))[1], pairs, trues)

    def loss(logs: Floats) -> float:
        model = from_logs(start, logs)
        parts = [_loss(model.problem(p), t, true) for p, t, true in zip(pairs, told, trues, strict=True)]
        return sum(part[0] for part in parts) / max(sum(part[1] for part in parts), 1)

    first = to_logs(start)
    bounds = [(low - 3.0, low + 3.0) for low in first]
    tail = PARAMETERS.index("tail")
    bounds[tail] = (float(np.log(TAILS[0])), float(np.log(TAILS[1])))
    best = _climb(loss, first, bounds)
    return ModelCalibration(
        model=from_logs(start, best),
        fitted="truth",
        summary={"loss_before": loss(first), "loss_after": loss(best), "frame_pairs": len(pairs)},
        fitted_for=dict(tracking.about),
    )


def _moments(start: MotionModel, pairs: Sequence[MotionPair], trues: Sequence[TrueMothers]) -> MotionModel:
    """A model from counting: the true displacements, loads and appearances."""
    single, dividing, lost, divided, mothers, appeared = [], [], 0, 0, 0, 0
    for pair, true in zip(pairs, trues, strict=True):
        load = np.bincount(true.mother[true.mother >= 0], minlength=pair.n_mothers)
        hit = true.mother[pair.daughter] == pair.mother
        single.append(pair.squared[hit & (load[pair.mother] == 1)])
        dividing.append(pair.squared[hit & (load[pair.mother] == 2)])
        lost, divided = lost + int((load == 0).sum()), divided + int((load == 2).sum())
        mothers, appeared = mothers + pair.n_mothers, appeared + int(((true.mother == NO_MOTHER) & true.known).sum())
    ones, twos = np.concatenate(single), np.concatenate(dividing)
    d = start.n_dimensions
    return start.evolved(
        motion_scale=max(float(np.median(ones)) / 1.4, 1e-6) if len(ones) else start.motion_scale,
        division_scale=float(twos.mean() / d) if len(twos) > 4 else start.division_scale,
        p_lost=(0.5 * lost + 0.5) / (mothers + 1),
        p_divide=min((divided + 0.5) / (mothers + 1), 0.9),
        appear_density=(0.5 * appeared + 0.5) / len(pairs) / start.field.size,
    )


def _fit_tempering(tracking: Tracking, told: list[PairPosterior], trues: list[TrueMothers], cost: Any) -> TemperedCosts:
    plain = [np.where(np.isfinite(pair.cost), pair.cost, np.inf) for pair in told]
    sizes = np.abs(np.concatenate(plain))
    sizes = sizes[np.isfinite(sizes) & (sizes > 0)]
    spread = float(np.median(sizes)) if len(sizes) else 1.0

    def made(logs: Floats) -> TemperedCosts:
        return TemperedCosts(float(np.exp(logs[0])), float(logs[1]), float(logs[2]), float(logs[3]))

    def loss(logs: Floats) -> float:
        fitted = made(logs)
        parts = []
        for pair, costs, true in zip(told, plain, trues, strict=True):
            tempered = linkable(cost, costs) / fitted.tempering
            cells = (len(pair.mothers), len(pair.daughters))
            parts.append(_loss(fitted._problem(pair.mother, pair.daughter, tempered, *cells), pair, true))
        return sum(part[0] for part in parts) / max(sum(part[1] for part in parts), 1)

    starts = [np.array([np.log(spread * factor), 2.0, 2.0, 2.0]) for factor in (0.01, 0.03, 0.1, 0.3)]
    first = min(starts, key=loss)
    bounds = [(first[0] - 7, first[0] + 7), (-30.0, 30.0), (-30.0, 30.0), (-30.0, 30.0)]
    best = _climb(loss, first, bounds)
    return replace(made(best), fitted_for=dict(tracking.about), loss_before=loss(first), loss_after=loss(best))
