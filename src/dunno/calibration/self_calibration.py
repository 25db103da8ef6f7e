"""Fit without truth: the motion model that explains a movie best, by expectation–maximisation on the movie itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    pairs: Sequence[MotionPair], field: Field, cell_size: float, about: Mapping[str, Any] | None = None
) -> ModelCalibration:
    """Fit the motion model to frame pairs, without truth.

    In turn: pooled parameters; parameters that vary slowly in time, kept where the evidence rises by more than their number
    (Akaike); collective motion, kept where the evidence rises clearly and neighbours' displacements are known. Where the
    result does not explain the movie, rates are set to what growth alone says (`Priors`), only motion is fitted, and the result is
    marked as not to be trusted.

    Args:
        pairs: The movie's pairs, or some of them.
        field: The box in which cells are seen.
        cell_size: A typical diameter.
        about: What the fit is for.
    """
    priors, start = start_model(pairs, field, cell_size)
    one = np.ones((len(pairs), len(pairs)))
    pooled = _climb(pairs, [start] * len(pairs), priors, one)
    fit, kernel = _varying(pooled, priors, one)
    moved = _collective(fit, priors, kernel)
    first = fit.models[0] if moved is not None else None
    if moved is not None:
        first = pooled.models[0]
        pooled = _climb(moved.pairs, pooled.models, priors, one)
        fit = moved
    problems = find_problems(fit.models, fit.pairs, fit.expected)
    if problems:
        fit = pooled = _climb(pairs, [start] * len(pairs), priors, one, rates=False)
        first, kernel = None, one
    varies = kernel is not one and not problems
    model = pooled.models[0]
    return ModelCalibration(
        model=model,
        fitted="self",
        frames=tuple(pair.frame for pair in pairs) if varies else (),
        varying={name: tuple(getattr(each, name) for each in fit.models) for name in RATES} if varies else {},
        collective=first is not None,
        first=first,
        trusted=not problems,
        problems=tuple(problems),
        intervals={} if problems else bootstrap_intervals(pooled.models, pooled.pairs, pooled.expected, priors),
        summary=_summary(fit),
        fitted_for=dict(about or {}),
    )


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
    pairs: Sequence[MotionPair], models: Sequence[MotionModel], priors: Priors, kernel: Floats, *, rates: bool = True
) -> Fit:
    """Expect and maximise until the evidence stands still."""
    models = list(models)
    before = -np.inf
    for iteration in range(1, ITERATIONS + 1):
        expected = [expect(model, pair) for model, pair in zip(models, pairs, strict=True)]
        evidence = sum(each.log_evidence for each in expected)
        if iteration > 3 and abs(evidence - before) < TOLERANCE * abs(evidence) + 0.01:
            break
        before = evidence
        models = maximise(models, pairs, expected, priors, kernel, rates=rates, tail=rates)
    return Fit(pairs, models, expected, iteration)


def _varying(pooled: Fit, priors: Priors, one: Floats) -> tuple[Fit, Floats]:
    """Let motion scale and rates vary in time, if that explains more than it adds."""
    n = len(pooled.pairs)
    mothers = max(float(np.mean([pair.n_mothers for pair in pooled.pairs])), 1.0)
    width = WINDOW_CELLS / mothers / 2
    kernel = np.exp(-np.abs(np.subtract.outer(np.arange(n), np.arange(n))) / width)
    added = len(RATES) * (n / kernel.sum(axis=1).mean() - 1)
    if added < 1:
        return pooled, one
    fit = _climb(pooled.pairs, pooled.models, priors, kernel)
    return (fit, kernel) if fit.log_evidence > pooled.log_evidence + added else (pooled, one)


def _collective(fit: Fit, priors: Priors, kernel: Floats) -> Fit | None:
    """Predict mothers from their neighbours, if that explains clearly more."""
    if fit.certainty < COLLECTIVE_CERTAINTY:
        return None
    mothers = sum(pair.n_mothers for pair in fit.pairs)
    moved = fit
    for _ in range(COLLECTIVE_ROUNDS):
        pairs = [carried(model, pair) for model, pair in zip(moved.models, moved.pairs, strict=True)]
        moved = _climb(pairs, moved.models, priors, kernel)
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
