"""Are the links right, and are the probabilities true?"""

from dunno.evaluation.accuracy import Scores, score
from dunno.evaluation.arrow import ArrowScores, arrow
from dunno.evaluation.calibration_error import CalibrationCurve, calibration_curve
from dunno.evaluation.mask_scores import RepairScores, repair_scores
from dunno.evaluation.sparsification import Sparsification, sparsification

__all__ = [
    "ArrowScores",
    "CalibrationCurve",
    "RepairScores",
    "Scores",
    "Sparsification",
    "arrow",
    "calibration_curve",
    "repair_scores",
    "score",
    "sparsification",
]
