"""95 % intervals of a fitted model's parameters, by a jackknife over groups of transitions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dunno.models.expectation import Expected, expect, maximise, step_of, updated
from dunno.models.model import IS_PLACE, Model
from dunno.terms import Term
from dunno.types import Floats, Ints, special
from dunno.types.stretch import Stretch

MOST_GROUPS = 25  # groups; speed, benchmarks.fit
"""Transitions are left out in this many groups at most."""

LEAST_TRANSITIONS = 4  # transitions; judged; below which there is no interval
PROFILE_STEP = 0.02  # scale of the link; judged; by which a parameter is nudged
SOME_CELLS, FRAMES_TOGETHER = 2500, 3  # cells, transitions; speed, benchmarks.fit
"""On how many cells parameters are nudged, in runs of how many transitions."""

INTERVAL_EDGES_FROM = 1e-4  # probability; speed, benchmarks.fit
"""Edges below this say next to nothing about spreads."""

LARGEST_DEVIATION = 5.0  # scale of the link; judged
"""Largest standard deviation that is told, on the scale of the link."""

Intervals = dict[str, tuple[float, float]]


def fitted_intervals(expected: Expected) -> Intervals:
    r"""Intervals of the pooled parameters; none where there are too few transitions to leave some out.

    Refitting without each group of transitions would cost many fits. Each takes one M step instead, whose deviation Δ from the
    fit is then carried to the fixed point it leads to: an EM map with Jacobian J has its fixed point at $(I - J)^{-1} Δ$. J is
    found by nudging each parameter once, on some of the transitions. Everything is on the scale of the parameters' links, and
    no interval leaves a parameter's bounds; the spread is Student's for the number of groups.
    """
    if len(expected.stretch) < LEAST_TRANSITIONS:
        return {}
    stretch = expected.stretch.among(expected.found.edge > INTERVAL_EDGES_FROM)
    expected = expect(expected.model, stretch, method="rough")  # as those that are nudged
    steps, base = _left_out(expected), maximise(expected).free
    jacobian = _jacobian(expected.during(_some(expected.stretch)))
    reached = np.linalg.lstsq(np.eye(len(base)) - jacobian, (steps - base).T, rcond=1e-6)[0].T
    return _intervals(expected, np.asarray(reached, np.float64))


def _some(stretch: Stretch) -> Ints:
    """Transitions spread over a stretch, in runs, that have so many cells; all where there are not twice as many."""
    n = len(stretch)
    n_runs = int(n * SOME_CELLS / max(stretch.n_rows, 1)) // FRAMES_TOGETHER
    if n_runs < 1 or 2 * n_runs * FRAMES_TOGETHER > n:
        return np.arange(n)
    starts = ((np.arange(n_runs) + 0.5) * n / n_runs - FRAMES_TOGETHER / 2).astype(np.int64)
    return np.asarray((starts[:, None] + np.arange(FRAMES_TOGETHER)).ravel())


def _jacobian(expected: Expected) -> Floats:
    """(P, P) how an M step follows where the model stands, by nudging each parameter once."""
    best, base = expected.model.free, maximise(expected).free
    columns = []
    for nudge in PROFILE_STEP * np.eye(len(best)):
        # not by warm rounds, whose messages go on settling: that would count as an answer to the nudge
        shifted = expect(expected.model.with_free(best + nudge), expected.stretch, method="rough")
        columns.append((maximise(shifted).free - base) / PROFILE_STEP)
    return np.array(columns).T


def one_step_intervals(expected: Expected) -> Intervals:
    """The same of evidence beyond places, without the way to the fixed point: it hardly changes what is expected."""
    if len(expected.stretch) < LEAST_TRANSITIONS:
        return {}
    likely = expected.among(expected.found.edge > INTERVAL_EDGES_FROM)
    found = _intervals(expected, _left_out(likely, IS_PLACE))
    own = expected.model.where(lambda term: not term.is_place).parameters
    return {name: ends for name, ends in found.items() if name in own}


def _left_out(expected: Expected, fixed: Callable[[Term], bool] = lambda term: False) -> Floats:
    """(G, P) the parameters, on the scales of their links, one M step after each group of transitions is left out."""
    n, whole = len(expected.stretch), step_of(expected)
    group = np.arange(n) % min(n, MOST_GROUPS)  # neighbouring transitions in different groups
    weights = [(group != left_out).astype(np.float64) for left_out in range(group.max() + 1)]
    steps = [replace(whole, smooth=whole.smooth * weight, weight=weight) for weight in weights]
    return np.array([updated(expected.model, step, fixed).free for step in steps])


def _intervals(expected: Expected, reached: Floats) -> Intervals:
    """From (G, P) what is reached without each group; never surer than so many cells can be."""
    model, n = expected.model, len(reached)
    best = model.free
    counted = _of_counts(model, float(expected.stretch.n_mothers.sum()))
    deviation = np.maximum(np.sqrt((n - 1) * reached.var(axis=0)), counted)
    spread = np.minimum(deviation, LARGEST_DEVIATION) * special.student_beyond(n - 1, 0.025)
    return {
        each.name: (each.bound(best[k] - spread[k]), each.bound(best[k] + spread[k]))
        for k, each in enumerate(model.parameters.values())
    }


def _of_counts(model: Model, cells: float) -> Floats:
    """(P,) deviations of shares of cells, on the scale of the link, as those of events that are counted; 0 for other parameters.

    Where nothing happened, leaving out frames changes nothing, and the prior alone would look like knowledge. A share p of n cells
    and of the prior's worth w varies by 1 / ((n + w) p (1 − p)) on the logit scale.
    """
    shares = [each.link == "logit" and each.prior.of == "cells" for each in model.parameters.values()]
    p = np.clip([each.value for each in model.parameters.values()], 1e-12, 1 - 1e-12)
    worth = np.array([each.prior.worth for each in model.parameters.values()])
    return np.where(shares, ((cells + worth) * p * (1 - p)) ** -0.5, 0.0)
