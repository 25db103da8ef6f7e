"""95 % intervals of a fitted model's parameters, by a bootstrap over transitions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dunno.models.expectation import Expected, expect, maximise
from dunno.models.model import Model
from dunno.terms import from_free
from dunno.types import Floats

DRAWS = 100
FEW_DRAWS = 20
LEAST_TRANSITIONS = 4
NUDGE = 0.02
WIDEST = 5.0
"""Largest standard deviation that is told, on the scale of the link."""

Intervals = dict[str, tuple[float, float]]


def bootstrap_intervals(expected: Expected, seed: int = 0) -> Intervals:
    r"""Intervals of the pooled parameters; none where there are too few transitions to resample.

    Refitting every resample would cost hundreds of fits. Each resample takes one M step instead, whose deviation Δ from the fit
    is then carried to the fixed point it leads to: an EM map with Jacobian J has its fixed point at $(I - J)^{-1} Δ$. J is
    found by nudging each parameter once. Everything is on the scale of the parameters' links, on which no interval can leave
    what is possible; the spread is Student's for the number of transitions.
    """
    model, n = expected.model, len(expected.stretch)
    if n < LEAST_TRANSITIONS:
        return {}
    from scipy.special import stdtrit

    one, parameters = np.ones((n, n)), list(model.parameters.values())
    best = to_free(model)
    base = to_free(maximise(expected, one))
    jacobian = np.zeros((len(best), len(best)))
    for column in range(len(best)):
        nudged = best.copy()
        nudged[column] += NUDGE
        shifted = expect(from_free_values(model, nudged), expected.stretch)
        jacobian[:, column] = (to_free(maximise(shifted, one)) - base) / NUDGE
    rng = np.random.default_rng(seed)
    weights = rng.multinomial(n, np.full(n, 1 / n), size=DRAWS).astype(np.float64)
    steps = np.array([to_free(maximise(expected, one, weight)) - base for weight in weights])
    reached = np.linalg.lstsq(np.eye(len(best)) - jacobian, steps.T, rcond=1e-6)[0].T
    spread = np.minimum(reached.std(axis=0, ddof=1), WIDEST) * stdtrit(n - 1, 0.975)
    return {
        each.name: (from_free(best[k] - spread[k], each.link), from_free(best[k] + spread[k], each.link))
        for k, each in enumerate(parameters)
    }


def resampled_intervals(expected: Expected, seed: int = 0) -> Intervals:
    """The same without the way to the fixed point: for terms whose expectations hardly depend on their own parameters."""
    model, n = expected.model, len(expected.stretch)
    if n < LEAST_TRANSITIONS:
        return {}
    from scipy.special import stdtrit

    one, best = np.ones((n, n)), to_free(model)
    rng = np.random.default_rng(seed)
    weights = rng.multinomial(n, np.full(n, 1 / n), size=FEW_DRAWS).astype(np.float64)
    steps = np.array([to_free(maximise(expected, one, weight)) for weight in weights])
    spread = np.minimum(steps.std(axis=0, ddof=1), WIDEST) * stdtrit(n - 1, 0.975)
    return {
        each.name: (from_free(best[k] - spread[k], each.link), from_free(best[k] + spread[k], each.link))
        for k, each in enumerate(model.parameters.values())
    }


def to_free(model: Model) -> Floats:
    """(P,) all parameters on the scales of their links."""
    return np.array([each.free() for each in model.parameters.values()])


def from_free_values(model: Model, free: Floats) -> Model:
    """The model with parameters from the scales of their links, within their bounds."""
    parameters = model.parameters.values()
    values = {each.name: each.bound(value) for each, value in zip(parameters, free.tolist(), strict=True)}
    return replace(model, terms=model.with_values(values).terms)
