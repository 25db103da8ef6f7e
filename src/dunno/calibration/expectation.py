"""The E and M steps: what is expected under a motion model, and the model that makes it most likely."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dunno.assignment import marginals
from dunno.calibration.motion_model import MotionModel, MotionPair, log_student
from dunno.types import Floats

PRIOR_CELLS = 300.0
"""Weight of the priors on rates, in cells."""

PRIOR_DIVIDING = 5.0
"""Weight of the prior on the division scale, in edges."""

PRIOR_CROSSING = 1.0
"""Weight of the prior on crossing the border (as crowded outside as inside), in cells."""

TAILS = (2.0, 100.0)
"""Bounds on ν; above the upper one, motion is as good as Gaussian."""


@dataclass(frozen=True)
class Priors:
    """What is believed before the movie: most cells live on, growth comes from divisions, few appear from nowhere.

    Attributes:
        p_lost: Share of mothers lost inside the field.
        p_divide: Share of surviving mothers that divide.
        appear_density: Cells that appear inside the field, per area and frame pair.
        division_scale: T₂.
    """

    p_lost: float
    p_divide: float
    appear_density: float
    division_scale: float


class Expected(NamedTuple):
    """One pair's expectations; numbers of cells, and (E,) weights of its edges (0 near the border; see `interior`)."""

    lost: float
    left: float
    could_leave: float
    single: float
    divided: float
    appeared: float
    entered: float
    could_enter: float
    single_weight: Floats
    dividing_weight: Floats
    log_evidence: float
    confidence: float


def expect(model: MotionModel, pair: MotionPair) -> Expected:
    """The E step: the posterior's marginals, with losses and appearances split into inside the field and across its border.

    The evidence includes every normaliser: m·log π₁, which the problem leaves out, and −∫ρ.
    """
    events = model.events(pair)
    found = marginals(model.problem(pair, events))
    lost_inside = np.minimum(model.p_lost / events.lost, 1.0)
    appeared_inside = np.minimum(model.appear_density / events.appear, 1.0)
    appearances = model.appear_density * model.field.size + model.entering * events.could_enter
    inside = model.interior(pair)[pair.mother]
    best = np.zeros(pair.n_daughters)
    np.maximum.at(best, pair.daughter, found.edge)
    return Expected(
        lost=float((found.disappear * lost_inside).sum()),
        left=float((found.disappear * (1 - lost_inside)).sum()),
        could_leave=events.could_leave,
        single=float((1 - found.disappear - found.divide).sum()),
        divided=float(found.divide.sum()),
        appeared=float((found.appear * appeared_inside).sum()),
        entered=float((found.appear * (1 - appeared_inside)).sum()),
        could_enter=events.could_enter,
        single_weight=np.clip(found.edge - found.edge_dividing, 0.0, 1.0) * inside,
        dividing_weight=found.edge_dividing * inside,
        log_evidence=found.log_evidence + pair.n_mothers * np.log(model.p_single) - appearances,
        confidence=float(np.maximum(best, found.appear).sum()),
    )


def maximise(
    models: Sequence[MotionModel],
    pairs: Sequence[MotionPair],
    expected: Sequence[Expected],
    priors: Priors,
    kernel: Floats,
    weight: Floats | None = None,
    *,
    rates: bool = True,
    tail: bool = True,
) -> list[MotionModel]:
    """The M step: the models that make the expectations most likely.

    Args:
        models: (R,) the current model of each pair.
        pairs: (R,) the pairs.
        expected: (R,) their expectations.
        priors: What is believed before.
        kernel: (R, R) how much each pair counts for each pair's motion scale and rates; all ones pools them.
        weight: (R,) how often each pair counts (a bootstrap); `None` for once.
        rates: Whether to fit rates, or leave them.
        tail: Whether to fit ν, or leave it.
    """
    weight = np.ones(len(pairs)) if weight is None else weight
    smooth = kernel * weight

    def total(name: str) -> Floats:
        return np.array([getattr(each, name) for each in expected])

    new_tail = _best_tail(models, pairs, expected, weight) if tail else models[0].tail
    scale = _motion_scales(models, pairs, expected, smooth, new_tail)
    division = _division_scale(models[0], pairs, expected, weight, priors)
    if not rates:
        return [
            model.evolved(motion_scale=float(t), tail=new_tail, division_scale=division)
            for model, t in zip(models, scale, strict=True)
        ]
    mothers = np.array([pair.n_mothers for pair in pairs], dtype=np.float64)
    lost = _shrunk(total("lost"), mothers, smooth, weight, priors.p_lost)
    divide = (1 - lost) * _shrunk(total("divided"), total("single") + total("divided"), smooth, weight, priors.p_divide)
    cells = np.full(len(pairs), models[0].field.size)
    unit = PRIOR_CELLS / max(float(mothers.mean()), 1.0) * cells[0]  # the prior's weight as an area
    appear = _shrunk(total("appeared"), cells, smooth, weight, priors.appear_density, unit)
    entering = _ratio(total("entered"), total("could_enter"), weight)
    leaving = min(_ratio(total("left"), total("could_leave"), weight), 1.0)
    return [
        model.evolved(
            motion_scale=float(scale[r]),
            tail=new_tail,
            division_scale=division,
            p_lost=float(np.clip(lost[r], 1e-9, 0.98)),
            p_divide=float(np.clip(divide[r], 1e-9, 0.99 - min(lost[r], 0.98))),
            appear_density=float(max(appear[r], 1e-9 / model.field.size)),
            entering=entering,
            leaving=leaving,
        )
        for r, model in enumerate(models)
    ]


def _ratio(count: Floats, possible: Floats, weight: Floats) -> float:
    return float(((weight * count).sum() + PRIOR_CROSSING) / ((weight * possible).sum() + PRIOR_CROSSING))


def _shrunk(
    count: Floats, possible: Floats, smooth: Floats, weight: Floats, prior: float, unit: float | None = None
) -> Floats:
    """(R,) smoothed shares, drawn to the movie's mean, which is drawn to the prior."""
    unit = PRIOR_CELLS if unit is None else unit
    mean = ((weight * count).sum() + unit * prior) / ((weight * possible).sum() + unit)
    return np.asarray((smooth @ count + unit * mean) / (smooth @ possible + unit))


def _motion_scales(
    models: Sequence[MotionModel],
    pairs: Sequence[MotionPair],
    expected: Sequence[Expected],
    smooth: Floats,
    tail: float,
) -> Floats:
    """(R,) T ← ΣPuδ / (dΣP), u = (ν + d)/(ν + δ/T), a few times over."""
    d = models[0].n_dimensions
    scale = np.array([model.motion_scale for model in models])
    weight = np.array([d * each.single_weight.sum() for each in expected])
    for _ in range(3):
        moved = np.array(
            [
                (each.single_weight * _robust(pair.squared / t, tail, d) * pair.squared).sum()
                for each, pair, t in zip(expected, pairs, scale, strict=True)
            ]
        )
        scale = np.maximum(smooth @ moved / np.maximum(smooth @ weight, 1e-12), 1e-9)
    return scale


def _robust(ratio: Floats, tail: float, d: int) -> Floats | float:
    return 1.0 if np.isinf(tail) else (tail + d) / (tail + ratio)


def _best_tail(
    models: Sequence[MotionModel], pairs: Sequence[MotionPair], expected: Sequence[Expected], weight: Floats
) -> float:
    """Half a step, on the log scale, towards the ν that makes the expected displacements most likely."""
    from scipy.optimize import minimize_scalar

    ratio = np.concatenate([pair.squared / model.motion_scale for pair, model in zip(pairs, models, strict=True)])
    share = np.concatenate([w * each.single_weight for w, each in zip(weight, expected, strict=True)])
    seen = share > 1e-4
    ratio, share, d = ratio[seen], share[seen], models[0].n_dimensions
    if len(share) == 0:
        return models[0].tail

    def loss(log_tail: float) -> float:
        return float(-(share * log_student(ratio, 1.0, np.exp(log_tail), d)).sum())

    found = minimize_scalar(loss, bounds=np.log(TAILS), method="bounded", options={"xatol": 0.02})
    return float(np.exp(0.5 * np.log(models[0].tail) + 0.5 * found.x))


def _division_scale(
    model: MotionModel, pairs: Sequence[MotionPair], expected: Sequence[Expected], weight: Floats, priors: Priors
) -> float:
    """T₂ ← ΣPδ / (dΣP), with a few edges' worth of the prior."""
    d = model.n_dimensions
    moved = sum(
        w * (each.dividing_weight * pair.squared).sum() for w, each, pair in zip(weight, expected, pairs, strict=True)
    )
    count = sum(w * each.dividing_weight.sum() for w, each in zip(weight, expected, strict=True))
    return float((moved + PRIOR_DIVIDING * d * priors.division_scale) / (d * count + PRIOR_DIVIDING * d))
