"""Calibrations: what makes probabilities true.

A calibration is fitted on a tracking or a movie, with truth or without, saved, and applied to others of the same cost and
method, either to a finished tracking, `scaling(tracking)`, or while tracking, `Tracker(calibration=scaling)`.
"""

from dunno.calibration.event_costs import TemperedCosts, fit_event_costs
from dunno.calibration.load import load_calibration
from dunno.calibration.model_calibration import ModelCalibration
from dunno.calibration.self_calibration import fit_motion
from dunno.calibration.temperature import TemperatureScaling

__all__ = [
    "ModelCalibration",
    "TemperatureScaling",
    "TemperedCosts",
    "fit_event_costs",
    "fit_motion",
    "load_calibration",
]
