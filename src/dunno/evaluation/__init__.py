"""Are the links right, and are the probabilities true?"""

from dunno.evaluation.accuracy import Scores, score
from dunno.evaluation.calibration_error import CalibrationCurve, calibration_curve
from dunno.evaluation.repairs_with_truth import RepairScores, repair_scores
from dunno.evaluation.sparsification import Sparsification, sparsification

__all__ = [
    "CalibrationCurve",
    "RepairScores",
    "Scores",
    "Sparsification",
    "calibration_curve",
    "repair_scores",
    "score",
    "sparsification",
]
