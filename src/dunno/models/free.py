"""A model's parameters as free numbers, on the scales of their links."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dunno.models.model import Model
from dunno.types import Floats


def to_free(model: Model) -> Floats:
    """(P,) all parameters on the scales of their links."""
    return np.array([each.free() for each in model.parameters.values()])


def from_free_values(model: Model, free: Floats) -> Model:
    """The model with parameters from the scales of their links, within their bounds."""
    parameters = model.parameters.values()
    values = {each.name: each.bound(value) for each, value in zip(parameters, free.tolist(), strict=True)}
    return replace(model, terms=model.with_values(values).terms)


LONGEST = 8.0
"""How many strides an extrapolation goes at most."""


def extrapolated(trail: list[Floats]) -> Floats | None:
    r"""Where three (P,) places of a slow approach lead (SQUAREM's third scheme); `None` where that cannot be told.

    With $r = θ_1 - θ_0$, $v = (θ_2 - θ_1) - r$ and $α = \max(\|r\| / \|v\|, 1)$ it is $θ_0 + 2 α r + α^2 v$.
    """
    first, second, third = trail
    moved, bent = second - first, third - 2 * second + first
    with np.errstate(divide="ignore", invalid="ignore"):
        stride = np.clip(np.linalg.norm(moved) / np.linalg.norm(bent), 1.0, LONGEST)
        place = first + 2 * stride * moved + stride**2 * bent
    return place if np.isfinite(place).all() else None
