"""95 % intervals of a fitted model's parameters, by a bootstrap over frame pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dunno.calibration.expectation import TAILS, Expected, Priors, expect, maximise
from dunno.calibration.motion_model import MotionModel, MotionPair
from dunno.types import Floats

PARAMETERS = ("motion_scale", "tail", "division_scale", "p_lost", "p_divide", "appear_density", "entering", "leaving")
DRAWS = 200
LEAST_PAIRS = 4
NUDGE = 0.02


def bootstrap_intervals(
    models: Sequence[MotionModel],
    pairs: Sequence[MotionPair],
    expected: Sequence[Expected],
    priors: Priors,
    seed: int = 0,
    each: Callable[..., list[Any]] = lambda function, *items: list(map(function, *items)),
) -> dict[str, tuple[float, float]]:
    r"""Intervals of the pooled parameters; none where there are too few pairs to resample.

    Refitting every resample would cost hundreds of fits. Each resample takes one M step instead, whose deviation Δ from the fit
    is then carried to the fixed point it leads to: an EM map with Jacobian J has its fixed point at $(I - J)^{-1} Δ$. J is
    found by nudging each parameter once. Everything is on the log scale; the spread is Student's for the number of pairs.
    """
    if len(pairs) < LEAST_PAIRS:
        return {}
    from scipy.special import stdtrit

    one = np.ones((len(pairs), len(pairs)))
    best = to_logs(models[0])
    base = to_logs(maximise(models, pairs, expected, priors, one)[0])
    jacobian = np.zeros((len(PARAMETERS), len(PARAMETERS)))
    for column in range(len(PARAMETERS)):
        nudged = best.copy()
        nudged[column] += NUDGE
        shifted = [from_logs(models[0], nudged)] * len(pairs)
        again = each(expect, shifted, pairs)
        jacobian[:, column] = (to_logs(maximise(shifted, pairs, again, priors, one)[0]) - base) / NUDGE
    rng = np.random.default_rng(seed)
    steps = []
    for _ in range(DRAWS):
        weight = rng.multinomial(len(pairs), np.full(len(pairs), 1 / len(pairs))).astype(np.float64)
        steps.append(to_logs(maximise(models, pairs, expected, priors, one, weight)[0]) - base)
    reached = np.linalg.lstsq(np.eye(len(PARAMETERS)) - jacobian, np.array(steps).T, rcond=1e-6)[0].T
    spread = np.minimum(reached.std(axis=0, ddof=1), 5.0) * stdtrit(len(pairs) - 1, 0.975)
    return {
        name: (float(np.exp(best[k] - spread[k])), float(np.exp(best[k] + spread[k])))
        for k, name in enumerate(PARAMETERS)
    }


def to_logs(model: MotionModel) -> Floats:
    """(8,) the parameters' logarithms, in the order of `PARAMETERS`."""
    return np.asarray(np.log(np.array([getattr(model, name) for name in PARAMETERS])))


def from_logs(model: MotionModel, logs: Floats) -> MotionModel:
    """A model with parameters from their logarithms, kept within their bounds."""
    values = dict(zip(PARAMETERS, np.exp(logs).tolist(), strict=True))
    values["leaving"] = min(values["leaving"], 1.0)
    values["tail"] = float(np.clip(values["tail"], *TAILS))
    values["p_divide"] = min(values["p_divide"], 0.99 - values["p_lost"])
    return model.evolved(**values)
