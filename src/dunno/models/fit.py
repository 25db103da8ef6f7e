"""Fit without truth: the model that explains a movie best, by expectation–maximisation on the movie itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dunno.models.diagnostics import find_problems
from dunno.models.em import EMResult, OnRounds
from dunno.models.expectation import carried_by, expect, with_finder, without_drift
from dunno.models.fast_em import ROUGH_EDGES_FROM, FastEM
from dunno.models.intervals import Intervals, fitted_intervals, one_step_intervals
from dunno.models.model import Model, start_model
from dunno.terms.axes import Axes
from dunno.types import Floats
from dunno.types.field import Field
from dunno.types.stretch import Stretch

REFIT_ITERATIONS, WARM_ITERATIONS = 12, 5  # rounds; speed, benchmarks.fit
"""Rounds in which motion over several steps is fitted: from single steps, and from two of them."""

WINDOW_CELLS = 600.0  # cells; judged
"""How many mothers the time-varying parameters of one transition are fitted on."""

COLLECTIVE_GAIN = 0.05  # nats per mother; judged
"""Least gain in log evidence per mother for collective motion to be kept."""

ROUGH_ROUNDS, HOPELESS_GAIN = 3, 0.2  # rounds, share; speed, benchmarks.fit
"""Rounds in which collective motion is first looked at, and the share of the gain below which it is not looked at again."""

AXES_GAIN, AXES_ROUNDS = 0.02, 3  # nats per mother, rounds; judged
"""Least gain in log evidence per mother for motion that differs between axes, and rounds in which it is fitted."""

RATE_PARAMETERS = frozenset({"tail", "p_divide", "p_lost", "appear_density", "entering", "leaving"})
"""What is held where the model does not explain the movie: all but the scales of motion."""

MOVING = RATE_PARAMETERS - {"tail"}
"""What is held where only motion is fitted again."""


@dataclass(frozen=True, eq=False)
class Fit:
    """The fit that explains a movie best, and what was decided on the way."""

    pooled: EMResult  # With parameters that do not vary in time
    best: EMResult  # The best one; its parameters may vary
    varies: bool  # Whether they do
    problems: tuple[str, ...]  # What speaks against trusting it
    places: Fit | None = None  # The fit to which evidence beyond places was added; `None` where there is none

    @property
    def model(self) -> Model:
        """The movie's pooled parameters."""
        return self.pooled.model

    @property
    def converged(self) -> bool:
        """Whether both ascents ended where the evidence stood still."""
        return self.pooled.converged and self.best.converged

    def courses(self) -> dict[str, tuple[float, ...]]:
        """For each parameter that varies in time, its value at each transition."""
        if not self.varies:
            return {}
        varying = [each.name for each in self.best.model.parameters.values() if each.varies]
        n = len(self.best.expected.stretch)
        return {name: tuple(np.broadcast_to(self.best.model.value(name), n).tolist()) for name in varying}

    def intervals(self) -> Intervals:
        """95 % intervals of the pooled parameters; none where the model does not explain the movie."""
        if self.problems:
            return {}
        if self.places is None:
            return fitted_intervals(self.pooled.expected)
        return one_step_intervals(self.best.expected) | self.places.intervals()

    def summary(self) -> dict[str, Any]:
        """What the fit saw."""
        return {
            "log_evidence": self.best.log_evidence,
            "iterations": self.best.rounds,
            "converged": self.converged,
            "frame_pairs": len(self.best.expected.stretch),
            "certainty": self.best.expected.certainty,
            "expected": self.best.expected.totals(),
            "stage_jumps": _stage_jumps(self.best.expected.stretch),
            "blackouts": _blackouts(self.best.expected.stretch),
        }


def find_fit(
    stretch: Stretch,
    field: Field,
    cell_size: float,
    tell: OnRounds = lambda rounds: None,
    divisions: bool = True,
) -> Fit:
    """Find the model that explains a stretch best.

    In turn: pooled parameters; collective motion, kept where the evidence rises clearly and neighbours' displacements are
    known; parameters that vary slowly in time, kept where the evidence rises by more than their number (Akaike). Where the
    result does not explain the movie, rates are set to what growth alone says, only motion is fitted, and the result is
    marked as not to be trusted.
    """
    start = start_model(stretch, field, cell_size)
    start = start if divisions else start.without_divisions()
    em = FastEM(tell)
    pooled = _by_axis(em, em.fit(start, stretch))
    stretch, likely = pooled.expected.stretch, pooled.expected.found.edge > ROUGH_EDGES_FROM
    light, finder = replace(pooled, expected=pooled.expected.among(likely)), pooled.model
    moved = _collective(em, light)
    light = moved or light
    best, smooth = _varying(em, light)
    best = em.finished(em.refined(best, smooth), stretch.carried(light.expected.stretch.drift), likely, smooth)
    pooled = best if smooth is None else em.refined(light)
    if moved is not None:
        pooled, best = (each.with_model(with_finder(each.model, finder)) for each in (pooled, best))
    problems = find_problems(best.expected)
    if problems:
        pooled = best = _motion(em, start, stretch, RATE_PARAMETERS)
    return Fit(pooled, best, smooth is not None and not problems, tuple(problems))


def refit(
    fit: Fit,
    stretch: Stretch,
    cell_size: float,
    step: int,
    tell: OnRounds = lambda rounds: None,
    double: Fit | None = None,
) -> Fit:
    """Fit the same model to transitions over several steps: only motion is fitted again, where daughters land included.

    Rates over k steps follow from those over one. Fitted again, they would explain what is ambiguous over k steps by
    appearances; held, the model explains skipped frames better. Beyond two steps, which judge nothing, rounds stay rough.
    `double` is the same over two steps, where that is known, to begin from.
    """
    stretch = fit.model.measured(stretch)
    start = start_model(stretch, fit.model.field, cell_size)
    start = start.without_divisions() if fit.model.never_divides else start
    start = start.plus(*fit.model.where(lambda term: term.is_unit).terms)
    rates = {name: each.value for name, each in without_drift(fit.model).parameters.items() if name in MOVING}
    rates |= {name: 1 - (1 - rates[name]) ** step for name in ("p_lost", "p_divide")}
    rates["appear_density"] *= step
    near = (double or fit).model.parameters
    once = fit.model.parameters["motion_scale"].value
    power = 1.0 if double is None else float(np.log2(near["motion_scale"].value / once))
    scales = {"motion_scale": once * step**power}
    scales |= {name: near[name].value for name in ("tail", "division_scale")}
    em = FastEM(tell, REFIT_ITERATIONS if double is None else WARM_ITERATIONS)
    model = start.with_values(rates | scales)
    again = _motion if fit.model.drift is None else _motion_with_drift
    best = again(em, model, stretch, MOVING, refined=double is None)
    return Fit(best, best, False, tuple(find_problems(best.expected)))


def _motion(em: FastEM, model: Model, stretch: Stretch, held: frozenset[str], *, refined: bool = True) -> EMResult:
    """Fit what is not held, and look at all edges at the end."""
    whole = em.fit(model, stretch, held=held)
    likely = whole.expected.found.edge > ROUGH_EDGES_FROM
    light = replace(whole, expected=whole.expected.among(likely))
    return em.finished(em.refined(light, held=held) if refined else light, stretch, likely, held=held)


def _motion_with_drift(em: FastEM, model: Model, stretch: Stretch, held: frozenset[str], *, refined: bool) -> EMResult:
    """The same beside drift; without it, motion is fitted only as well as finding the neighbours' displacements asks for."""
    expected = expect(model, stretch, method="rough")
    likely = expected.found.edge > ROUGH_EDGES_FROM
    finder = em.ascend(expected.among(likely), held=held, most=ROUGH_ROUNDS)
    moved = carried_by(finder.expected, finder.expected.stretch)
    light = em.ascend(em.expect(finder.model, moved), held=held)
    light = em.refined(light, held=held) if refined else light
    whole = em.finished(light, stretch.carried(moved.drift), likely, held=held)
    return whole.with_model(with_finder(whole.model, finder.model))


def _by_axis(em: FastEM, alike: EMResult) -> EMResult:
    """In volumes, let motion differ between axes, if that explains clearly more."""
    if alike.expected.stretch.n_dimensions < 3:
        return alike
    found = alike
    for _ in range(AXES_ROUNDS):
        expected = found.expected
        axes = Axes.of(expected.stretch, expected.single * expected.interior)
        found = em.fit(expected.model.plus(axes), axes.measured(expected.stretch))
    gain = AXES_GAIN * float(alike.expected.stretch.n_mothers.sum())
    return found if found.log_evidence > alike.log_evidence + gain else alike


def _stage_jumps(stretch: Stretch) -> list[list[float]]:
    """After which frames the stage jumped, and by how much along each axis."""
    if stretch.stage is None:
        return []
    found = np.column_stack([stretch.transition_frame, stretch.stage])
    return [[float(number) for number in row] for row in found[stretch.stage.any(axis=1)].round(2)]


def _blackouts(stretch: Stretch) -> list[list[float]]:
    """Frames in which many masks are missing at once, and the share of the cells that are."""
    if stretch.unseen is None:
        return []
    dark = np.flatnonzero(stretch.unseen)
    return [[int(stretch.frames[t]), float(stretch.unseen[t].round(3))] for t in dark.tolist()]


def _varying(em: FastEM, pooled: EMResult) -> tuple[EMResult, Floats | None]:
    """Let motion scale and rates vary in time, if that explains more than it adds; with the kernel, where they do."""
    smooth = kernel(pooled.expected.stretch)
    varying = [each for each in pooled.model.parameters.values() if each.varies]
    added = len(varying) * (len(smooth) / smooth.sum(axis=1).mean() - 1)
    if added < 1:
        return pooled, None
    fit = em.ascend(pooled.expected, smooth)
    return (fit, smooth) if fit.log_evidence > pooled.log_evidence + added else (pooled, None)


def kernel(stretch: Stretch) -> Floats:
    """(R, R) how much each transition counts for each one's varying parameters."""
    when = np.arange(len(stretch))
    width = WINDOW_CELLS / max(float(stretch.n_mothers.mean()), 1.0) / 2
    return np.asarray(np.exp(-np.abs(np.subtract.outer(when, when)) / width))


def _collective(em: FastEM, light: EMResult) -> EMResult | None:
    """Predict mothers from their neighbours, if that explains clearly more."""
    stretch = carried_by(light.expected, light.expected.stretch)
    rough = em.ascend(em.expect(light.model, stretch), most=ROUGH_ROUNDS)
    gain = COLLECTIVE_GAIN * float(stretch.n_mothers.sum())
    if rough.log_evidence < light.log_evidence + HOPELESS_GAIN * gain:
        return None
    moved = em.ascend(em.expect(rough.model, carried_by(rough.expected, stretch)))
    return moved if moved.log_evidence > light.log_evidence + gain else None
