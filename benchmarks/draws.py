"""Frame pairs drawn from a model, for tests and benchmarks of its fit."""

from __future__ import annotations

import numpy as np

from dunno.models.model import Model
from dunno.types import Candidates, Detections, Floats
from dunno.types.neighbours import within
from dunno.types.stretch import Transition

MARGIN_BEYOND = 1e-3
"""Share of displacements that may come from farther outside the field than cells are drawn."""


def draw_transition(
    model: Model, n_mothers: float, gate: float, rng: np.random.Generator, frame: int = 0
) -> Transition:
    """Draw two frames: on average `n_mothers` in the field, as crowded outside as inside.

    Args:
        model: With motion, division and turnover; whatever crosses the border is seen no more.
        n_mothers: Mean number of mothers in the field.
        gate: Longest candidate edge.
        rng: Random numbers.
        frame: What to call the mothers' frame; the daughters' is the next.
    """
    value = {name: each.value for name, each in model.parameters.items()}
    d, field = model.n_dimensions, model.field
    margin = model.reach(MARGIN_BEYOND)
    low, high = np.array(field.low) - margin, np.array(field.high) + margin
    everyone = rng.poisson(n_mothers / field.size * float(np.prod(high - low)))
    places = rng.uniform(low, high, (everyone, d))
    lost, divide = value["p_lost"], (1 - value["p_lost"]) * value["p_divide"]
    load = rng.choice(3, everyone, p=[lost, 1 - lost - divide, divide])
    normal = rng.standard_normal((everyone, 2, d))
    tail = value["tail"]
    heavy = np.ones(everyone) if np.isinf(tail) else np.sqrt(rng.chisquare(tail, everyone) / tail)
    single = places + np.sqrt(value["motion_scale"]) * normal[:, 0] / heavy[:, None]
    twins = places[:, None] + np.sqrt(value["division_scale"]) * normal
    new = rng.uniform(field.low, field.high, (rng.poisson(value["appear_density"] * field.size), d))
    mothers = _seen(model, places)
    daughters = _seen(model, np.concatenate([single[load == 1], twins[load == 2].reshape(-1, d), new]))
    return transition_between(mothers, daughters, gate, frame)


def transition_between(mothers: Floats, daughters: Floats, gate: float, frame: int = 0) -> Transition:
    """Points in two frames, (m, d) and (n, d), with every edge no longer than the gate."""
    daughter, mother = within(daughters, mothers, gate)
    cells = [_points(places, frame + late) for late, places in enumerate((mothers, daughters))]
    return Transition(cells[0], cells[1], Candidates(mother, daughter), np.ones(len(mothers)))


def _points(places: Floats, frame: int) -> Detections:
    n, d = places.shape
    return Detections(np.arange(1, n + 1), places, np.ones(n), np.zeros((n, 2, d), np.int64), frame)


def _seen(model: Model, places: Floats) -> Floats:
    inside = ((places >= model.field.low) & (places <= model.field.high)).all(axis=1)
    return np.asarray(places[inside])
