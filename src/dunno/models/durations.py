"""Motion and rates of steps that take longer than usual, or shorter."""

from __future__ import annotations

import numpy as np

from dunno.models.model import Model
from dunno.types import Floats


def over_time(model: Model, duration: Floats) -> Model:
    """The model for transitions that take (R,) usual steps each.

    Squared motion grows as over several frames (`lag_power`); in equal times, equal shares of the cells are lost and divide.
    """
    grown = duration ** model.value("lag_power")
    lost, divide = (1 - (1 - np.asarray(model.value(name))) ** duration for name in ("p_lost", "p_divide"))
    bounds = model.parameters
    return model.with_values(
        {
            "motion_scale": np.asarray(model.value("motion_scale") * grown, np.float64),
            "p_lost": np.clip(lost, *bounds["p_lost"].bounds),
            "p_divide": np.clip(divide, *bounds["p_divide"].bounds),
            "appear_density": np.asarray(model.value("appear_density") * duration, np.float64),
        }
    )
