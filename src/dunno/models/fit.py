"""Fit without truth: the model that explains a movie best, by expectation–maximisation on the movie itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dunno.models.carrying import carried_by, with_flow, without_flow
from dunno.models.climbing import UNLIKELY, Climb, Climber, Tell
from dunno.models.diagnostics import find_problems
from dunno.models.expectation import expect
from dunno.models.intervals import Intervals, fitted_intervals, one_step_intervals
from dunno.models.model import Model, is_place, start_model
from dunno.terms.axes import Axes
from dunno.terms.flow import Flow
from dunno.types import Floats
from dunno.types.field import Field
from dunno.types.stretch import Stretch

REFIT_ITERATIONS, WARM_ITERATIONS = 12, 5
"""Rounds in which motion over several steps is fitted: from single steps, and from two of them."""

WINDOW_CELLS = 600.0
"""How many mothers the time-varying parameters of one transition are fitted on."""

COLLECTIVE_GAIN = 0.05
"""Least gain in log evidence per mother for collective motion to be kept."""

ROUGH_ROUNDS, HOPELESS = 3, 0.2
"""Rounds in which collective motion is first looked at, and the share of the gain below which it is not looked at again."""

AXES_GAIN, AXES_ROUNDS = 0.02, 3
"""Least gain in log evidence per mother for motion that differs between axes, and rounds in which it is fitted."""

RATES = frozenset({"tail", "p_divide", "p_lost", "appear_density", "entering", "leaving"})
"""What is held where the model does not explain the movie: all but the scales of motion."""

MOVING = RATES - {"tail"}
"""What is held where only motion is fitted again."""


@dataclass(frozen=True, eq=False)
class Fit:
    """The fit that explains a movie best, and what was decided on the way.

    Attributes:
        pooled: With parameters that do not vary in time.
        best: The best one; its parameters may vary.
        varies: Whether they do.
        problems: What speaks against trusting it.
        places: The fit to which evidence beyond places was added; `None` where there is none.
    """

    pooled: Climb
    best: Climb
    varies: bool
    problems: tuple[str, ...]
    places: Fit | None = None

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
        return {name: tuple(np.asarray(self.best.model.value(name)).tolist()) for name in varying}

    def intervals(self) -> Intervals:
        """95 % intervals of the pooled parameters; none where the model does not explain the movie."""
        if self.problems:
            return {}
        if self.places is None:
            return fitted_intervals(self.pooled.expected)
        return one_step_intervals(self.best.expected, is_place) | self.places.intervals()

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
        }


def find_fit(
    stretch: Stretch,
    field: Field,
    cell_size: float,
    tell: Tell = lambda rounds: None,
    divisions: bool = True,
) -> Fit:
    """Find the model that explains a stretch best.

    In turn: pooled parameters; collective motion, kept where the evidence rises clearly and neighbours' displacements are
    known; parameters that vary slowly in time, kept where the evidence rises by more than their number (Akaike). Where the
    result does not explain the movie, rates are set to what growth alone says, only motion is fitted, and the result is
    marked as not to be trusted.

    Args:
        stretch: The movie's transitions, or some of them.
        field: The box in which cells are seen.
        cell_size: A typical diameter.
        tell: Is told how far it is.
        divisions: Whether cells may divide.
    """
    start = start_model(stretch, field, cell_size)
    start = start if divisions else start.without_divisions()
    climber, one = Climber(tell), _ones(stretch)
    pooled = _by_axis(climber, climber.climb(start, stretch, one))
    stretch, likely = pooled.expected.stretch, pooled.expected.found.edge > UNLIKELY
    light, finder = replace(pooled, expected=pooled.expected.among(likely)), pooled.model
    moved = _collective(climber, light)
    light = moved or light
    best, smooth = _varying(climber, light, one)
    best = climber.finish(climber.refined(best, smooth), stretch.carried(light.expected.stretch.drift), likely, smooth)
    pooled = best if smooth is one else climber.refined(light, one)
    if moved is not None:
        pooled, best = _with_flow(pooled, finder), _with_flow(best, finder)
    problems = find_problems(best.expected)
    if problems:
        pooled = best = _climbed(climber, start, stretch, RATES)
    return Fit(pooled, best, smooth is not one and not problems, tuple(problems))


def _ones(stretch: Stretch) -> Floats:
    """The kernel of parameters that do not vary in time."""
    return np.ones((len(stretch), len(stretch)))


def refit(
    fit: Fit,
    stretch: Stretch,
    cell_size: float,
    step: int,
    tell: Tell = lambda rounds: None,
    double: Fit | None = None,
) -> Fit:
    """Fit the same model to transitions over several steps: only motion is fitted again, where daughters land included.

    Rates over k steps follow from those over one. Fitted again, they would explain what is ambiguous over k steps by
    appearances; held, the model explains skipped frames better. Beyond two steps, which judge nothing, rounds stay rough.

    Args:
        fit: Of single steps.
        stretch: The transitions.
        cell_size: A typical diameter.
        step: How many single steps each takes.
        tell: Is told how far it is.
        double: The same over two steps, where that is known, to begin from.
    """
    axes = [term for term in fit.model.terms if isinstance(term, Axes)]
    for term in axes:
        stretch = term.measured(stretch)
    start = start_model(stretch, fit.model.field, cell_size)
    start = start.without_divisions() if fit.model.never_divides else start
    start = replace(start, terms=(*start.terms, *axes))
    rates = {name: each.value for name, each in without_flow(fit.model).parameters.items() if name in MOVING}
    rates |= {name: 1 - (1 - rates[name]) ** step for name in ("p_lost", "p_divide")}
    rates["appear_density"] *= step
    near = (double or fit).model.parameters
    once = fit.model.parameters["motion_scale"].value
    power = 1.0 if double is None else float(np.log2(near["motion_scale"].value / once))
    scales = {"motion_scale": once * step**power}
    scales |= {name: near[name].value for name in ("tail", "division_scale")}
    climber = Climber(tell, REFIT_ITERATIONS if double is None else WARM_ITERATIONS)
    model = start.with_values(rates | scales)
    again = _refit_with_flow if fit.model.has(Flow.name) else _climbed
    best = again(climber, model, stretch, MOVING, refined=double is None)
    return Fit(best, best, False, tuple(find_problems(best.expected)))


def _climbed(climber: Climber, model: Model, stretch: Stretch, held: frozenset[str], *, refined: bool = True) -> Climb:
    """An ascent that looks at all edges at its end."""
    one = _ones(stretch)
    climb = climber.climb(model, stretch, one, held)
    likely = climb.expected.found.edge > UNLIKELY
    light = replace(climb, expected=climb.expected.among(likely))
    return climber.finish(climber.refined(light, one, held) if refined else light, stretch, likely, one, held)


def _refit_with_flow(climber: Climber, model: Model, stretch: Stretch, held: frozenset[str], *, refined: bool) -> Climb:
    """Fit motion beside flow; without it, motion is fitted only as well as finding the neighbours' displacements asks for."""
    one, expected = _ones(stretch), expect(model, stretch, method="rough")
    likely = expected.found.edge > UNLIKELY
    light = Climb(expected.among(likely), 1, False)
    light = climber.go_on(light, light.expected.stretch, one, held, known=True, most=ROUGH_ROUNDS)
    moved = carried_by(light.expected, light.expected.stretch)
    found = climber.go_on(light, moved, one, held)
    found = climber.refined(found, one, held) if refined else found
    return _with_flow(climber.finish(found, stretch.carried(moved.drift), likely, one, held), light.model)


def _by_axis(climber: Climber, climb: Climb) -> Climb:
    """In volumes, let motion differ between axes, if that explains clearly more."""
    if climb.expected.stretch.n_dimensions < 3:
        return climb
    found = climb
    for _ in range(AXES_ROUNDS):
        expected = found.expected
        axes = Axes.of(expected.stretch, expected.single * expected.interior)
        others = tuple(term for term in expected.model.terms if term.name != Axes.name)
        model = replace(expected.model, terms=(*others, axes))
        found = climber.climb(model, axes.measured(expected.stretch), _ones(expected.stretch))
    gain = AXES_GAIN * float(climb.expected.stretch.n_mothers.sum())
    return found if found.log_evidence > climb.log_evidence + gain else climb


def _stage_jumps(stretch: Stretch) -> list[list[float]]:
    """After which frames the stage jumped, and by how much along each axis."""
    if stretch.stage is None:
        return []
    found = np.column_stack([stretch.transition_frame, stretch.stage])
    return [[float(number) for number in row] for row in found[stretch.stage.any(axis=1)].round(2)]


def _varying(climber: Climber, pooled: Climb, one: Floats) -> tuple[Climb, Floats]:
    """Let motion scale and rates vary in time, if that explains more than it adds."""
    stretch, model = pooled.expected.stretch, pooled.model
    n = len(stretch)
    smooth = kernel(stretch)
    varying = [each for each in model.parameters.values() if each.varies]
    added = len(varying) * (n / smooth.sum(axis=1).mean() - 1)
    if added < 1:
        return pooled, one
    fit = climber.go_on(pooled, stretch, smooth, known=True)
    return (fit, smooth) if fit.log_evidence > pooled.log_evidence + added else (pooled, one)


def kernel(stretch: Stretch) -> Floats:
    """(R, R) how much each transition counts for each one's varying parameters."""
    when = np.arange(len(stretch))
    width = WINDOW_CELLS / max(float(stretch.n_mothers.mean()), 1.0) / 2
    return np.asarray(np.exp(-np.abs(np.subtract.outer(when, when)) / width))


def kernel_of(model: Model, stretch: Stretch) -> Floats:
    """The kernel with which a model was fitted: all ones where its parameters do not vary."""
    return kernel(stretch) if np.ndim(model.value("motion_scale")) else np.ones((len(stretch), len(stretch)))


def _collective(climber: Climber, light: Climb) -> Climb | None:
    """Predict mothers from their neighbours, if that explains clearly more."""
    one, stretch = _ones(light.expected.stretch), carried_by(light.expected, light.expected.stretch)
    rough = climber.go_on(light, stretch, one, most=ROUGH_ROUNDS)
    gain = COLLECTIVE_GAIN * float(stretch.n_mothers.sum())
    if rough.log_evidence < light.log_evidence + HOPELESS * gain:
        return None
    moved = climber.go_on(rough, carried_by(rough.expected, stretch), one)
    return moved if moved.log_evidence > light.log_evidence + gain else None


def _with_flow(climb: Climb, finder: Model) -> Climb:
    return replace(climb, expected=replace(climb.expected, model=with_flow(climb.model, finder)))
