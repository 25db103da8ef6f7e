"""Fit without truth: the motion model that explains a movie best, by expectation–maximisation on the movie itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dunno.calibration.collective import carried
from dunno.calibration.expectation import Expected, Priors, expect, maximise
from dunno.calibration.honesty import find_problems
from dunno.calibration.intervals import bootstrap_intervals
from dunno.calibration.model_calibration import RATES, ModelCalibration
from dunno.calibration.motion_model import Field, MotionModel, MotionPair
from dunno.types import Floats

ITERATIONS = 60
TOLERANCE = 1e-5
WINDOW_CELLS = 600.0
"""How many mothers the time-varying parameters of one pair are fitted on."""

COLLECTIVE_GAIN = 0.05
"""Least gain in log evidence per mother for collective motion to be kept."""

COLLECTIVE_CERTAINTY = 0.9
"""Least mean confidence for it: a prediction from neighbours whose own displacements are guesses is worth nothing."""

COLLECTIVE_ROUNDS = 2


Each = Callable[..., list[Any]]
"""A `map` that returns a list, such as one over threads; pairs are independent within a step."""


def one_by_one(function: Callable[..., Any], *items: Any) -> list[Any]:
    """The `Each` of one thread."""
    return list(map(function, *items))


@dataclass(frozen=True, eq=False)
class Fit:
    """A converged fit: a model for each pair, and what is expected under it."""

    pairs: Sequence[MotionPair]
    models: list[MotionModel]
    expected: list[Expected]
    iterations: int

    @property
    def log_evidence(self) -> float:
        """Of all pairs."""
        return float(sum(each.log_evidence for each in self.expected))

    @property
    def certainty(self) -> float:
        """Mean probability of each daughter's likeliest mother or ⊥."""
        daughters = sum(pair.n_daughters for pair in self.pairs)
        return float(sum(each.confidence for each in self.expected) / max(daughters, 1))


def fit_motion(
    pairs: Sequence[MotionPair],
    field: Field,
    cell_size: float,
    about: Mapping[str, Any] | None = None,
    each: Each = one_by_one,
) -> ModelCalibration:
    """Fit the motion model to frame pairs, without truth; `find_fit` says how."""
    return find_fit(pairs, field, cell_size, each).calibration(about, each)


@dataclass(frozen=True, eq=False)
class Found:
    """The fit that explains a movie best, and what was decided on the way.

    Attributes:
        pooled: With parameters that do not vary in time.
        fit: The best one; its parameters may vary.
        priors: What was believed before.
        first: The model that finds neighbours' displacements, where motion is collective.
        varies: Whether parameters vary in time.
        problems: What speaks against trusting it.
    """

    pooled: Fit
    fit: Fit
    priors: Priors
    first: MotionModel | None
    varies: bool
    problems: tuple[str, ...]

    @property
    def model(self) -> MotionModel:
        """The movie's pooled parameters."""
        return self.pooled.models[0]

    def calibration(self, about: Mapping[str, Any] | None = None, each: Each = one_by_one) -> ModelCalibration:
        """The fit with its intervals, ready to be used."""
        pooled, models = self.pooled, self.fit.models
        varying = {name: tuple(getattr(model, name) for model in models) for name in RATES} if self.varies else {}
        expected, told = pooled.expected, not self.problems
        intervals = bootstrap_intervals(pooled.models, pooled.pairs, expected, self.priors, each=each) if told else {}
        return ModelCalibration(
            model=self.model,
            fitted="self",
            frames=tuple(pair.frame for pair in self.fit.pairs) if self.varies else (),
            varying=varying,
            collective=self.first is not None,
            first=self.first,
            trusted=not self.problems,
            problems=self.problems,
            intervals=intervals,
            summary=_summary(self.fit),
            fitted_for=dict(about or {}),
        )


def find_fit(pairs: Sequence[MotionPair], field: Field, cell_size: float, each: Each = one_by_one) -> Found:
    """Find the motion model that explains frame pairs best.

    In turn: pooled parameters; parameters that vary slowly in time, kept where the evidence rises by more than their number
    (Akaike); collective motion, kept where the evidence rises clearly and neighbours' displacements are known. Where the
    result does not explain the movie, rates are set to what growth alone says (`Priors`), only motion is fitted, and the result is
    marked as not to be trusted.

    Args:
        pairs: The movie's pairs, or some of them.
        field: The box in which cells are seen.
        cell_size: A typical diameter.
        each: Runs a step over all pairs.
    """
    priors, start = start_model(pairs, field, cell_size)
    one = np.ones((len(pairs), len(pairs)))
    pooled = _climb(pairs, [start] * len(pairs), priors, one, each)
    fit, kernel = _varying(pooled, priors, one, each)
    moved = _collective(fit, priors, kernel, each)
    first = fit.models[0] if moved is not None else None
    if moved is not None:
        first = pooled.models[0]
        pooled = _climb(moved.pairs, pooled.models, priors, one, each)
        fit = moved
    problems = find_problems(fit.models, fit.pairs, fit.expected)
    if problems:
        fit = pooled = _climb(pairs, [start] * len(pairs), priors, one, each, rates=False)
        first, kernel = None, one
    return Found(pooled, fit, priors, first, kernel is not one and not problems, tuple(problems))


def start_model(pairs: Sequence[MotionPair], field: Field, cell_size: float) -> tuple[Priors, MotionModel]:
    """Priors from the numbers of cells alone, and a model to begin with from the nearest neighbours."""
    mothers = sum(pair.n_mothers for pair in pairs)
    daughters = sum(pair.n_daughters for pair in pairs)
    growth = daughters / max(mothers, 1)
    usual = np.median(np.concatenate([pair.spread for pair in pairs])) if mothers else 1.0
    near = np.concatenate([_nearest(pair) for pair in pairs])
    d = len(field.low)
    scale = max(float(np.median(near)) / 1.4 if len(near) else cell_size**2, 1e-6 * cell_size**2)
    priors = Priors(
        p_lost=0.01,
        p_divide=float(np.clip(growth - 1, 0, 0.89)) + 0.01,
        appear_density=0.005 * daughters / max(len(pairs), 1) / field.size,
        division_scale=max(scale, (cell_size / 2) ** 2 / float(usual)),
    )
    model = MotionModel(
        n_dimensions=d,
        motion_scale=scale,
        tail=3.0,
        division_scale=priors.division_scale,
        p_lost=priors.p_lost,
        p_divide=(1 - priors.p_lost) * priors.p_divide,
        appear_density=max(priors.appear_density, 1e-9 / field.size),
        entering=1.0,
        leaving=1.0,
        field=field,
    )
    return priors, model


def _nearest(pair: MotionPair) -> Floats:
    """Each daughter's least δ."""
    least = np.full(pair.n_daughters, np.inf)
    np.minimum.at(least, pair.daughter, pair.squared)
    return np.asarray(least[np.isfinite(least)])


def _climb(
    pairs: Sequence[MotionPair],
    models: Sequence[MotionModel],
    priors: Priors,
    kernel: Floats,
    each: Each,
    *,
    rates: bool = True,
) -> Fit:
    """Expect and maximise until the evidence stands still."""
    models = list(models)
    before = -np.inf
    for iteration in range(1, ITERATIONS + 1):
        expected: list[Expected] = each(expect, models, pairs)
        evidence = sum(one.log_evidence for one in expected)
        if iteration > 3 and abs(evidence - before) < TOLERANCE * abs(evidence) + 0.01:
            break
        before = evidence
        models = maximise(models, pairs, expected, priors, kernel, rates=rates, tail=rates)
    return Fit(pairs, models, expected, iteration)


def _varying(pooled: Fit, priors: Priors, one: Floats, each: Each) -> tuple[Fit, Floats]:
    """Let motion scale and rates vary in time, if that explains more than it adds."""
    n = len(pooled.pairs)
    mothers = max(float(np.mean([pair.n_mothers for pair in pooled.pairs])), 1.0)
    width = WINDOW_CELLS / mothers / 2
    kernel = np.exp(-np.abs(np.subtract.outer(np.arange(n), np.arange(n))) / width)
    added = len(RATES) * (n / kernel.sum(axis=1).mean() - 1)
    if added < 1:
        return pooled, one
    fit = _climb(pooled.pairs, pooled.models, priors, kernel, each)
    return (fit, kernel) if fit.log_evidence > pooled.log_evidence + added else (pooled, one)


def _collective(fit: Fit, priors: Priors, kernel: Floats, each: Each) -> Fit | None:
    """Predict mothers from their neighbours, if that explains clearly more."""
    if fit.certainty < COLLECTIVE_CERTAINTY:
        return None
    mothers = sum(pair.n_mothers for pair in fit.pairs)
    moved = fit
    for _ in range(COLLECTIVE_ROUNDS):
        pairs = each(carried, moved.models, moved.pairs)
        moved = _climb(pairs, moved.models, priors, kernel, each)
    return moved if moved.log_evidence > fit.log_evidence + COLLECTIVE_GAIN * mothers else None


def _summary(fit: Fit) -> dict[str, Any]:
    def total(name: str) -> float:
        return float(sum(getattr(each, name) for each in fit.expected))

    return {
        "log_evidence": fit.log_evidence,
        "iterations": fit.iterations,
        "frame_pairs": len(fit.pairs),
        "certainty": fit.certainty,
        "expected": {name: total(name) for name in ("single", "divided", "lost", "left", "appeared", "entered")},
    }
