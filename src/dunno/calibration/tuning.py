"""How strongly to perturb: the paper's stated future work."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dunno.calibration.kinds.temperature import beside_truth, best_temperature
from dunno.errors import InputError
from dunno.perturbations import Perturbation
from dunno.types import Movie, Truth

if TYPE_CHECKING:
    from dunno.tracking import Tracking
    from dunno.tracking.tracker import Tracker


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
