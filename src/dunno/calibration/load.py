"""Reading any calibration that dunno wrote."""

from __future__ import annotations

import json
from pathlib import Path

from dunno.calibration import event_costs, model_calibration, temperature
from dunno.calibration.event_costs import TemperedCosts
from dunno.calibration.model_calibration import ModelCalibration
from dunno.calibration.temperature import TemperatureScaling


def load_calibration(path: str | Path) -> TemperatureScaling | ModelCalibration | TemperedCosts:
    """Read a calibration, whichever kind it is."""
    try:
        kind = json.loads(Path(path).read_text()).get("kind")
    except (OSError, ValueError, AttributeError):
        kind = temperature.KIND  # whose reader says what is wrong
    if kind == event_costs.KIND:
        return TemperedCosts.load(path)
    return ModelCalibration.load(path) if kind == model_calibration.KIND else TemperatureScaling.load(path)
