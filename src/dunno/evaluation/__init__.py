"""Are the links right, and are the probabilities true?"""

from dunno.evaluation.accuracy import Scores, score
from dunno.evaluation.calibration_error import CalibrationCurve, calibration_curve
from dunno.evaluation.sparsification import Sparsification, sparsification

__all__ = ["CalibrationCurve", "Scores", "Sparsification", "calibration_curve", "score", "sparsification"]
