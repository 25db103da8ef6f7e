"""Calibrations: what makes probabilities true.

A calibration is fitted on a tracking (with its truth), saved, and applied to others of the same cost and method, either
to a finished tracking, `scaling(tracking)`, or while tracking, `Tracker(calibration=scaling)`.
"""

from dunno.calibration.temperature import TemperatureScaling

__all__ = ["TemperatureScaling"]
