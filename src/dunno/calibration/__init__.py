"""Calibrations: what makes probabilities true.

A calibration is fitted on a tracking or a movie, with truth or without, saved, and applied to others of the same cost and
method, either to a finished tracking, `scaling(tracking)`, or while tracking, `Tracker(calibration=scaling)`.
"""

from dunno.calibration.base import Calibration, load_calibration
from dunno.calibration.kinds.model import ModelCalibration
from dunno.calibration.kinds.temperature import TemperatureScaling
from dunno.calibration.kinds.tempered_costs import TemperedCosts
from dunno.calibration.with_truth import fit_event_costs

__all__ = [
    "Calibration",
    "ModelCalibration",
    "TemperatureScaling",
    "TemperedCosts",
    "fit_event_costs",
    "load_calibration",
]
