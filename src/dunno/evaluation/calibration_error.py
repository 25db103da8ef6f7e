"""Are confidences true? Calibration curves, their error, and the error that a perfect predictor would show."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dunno.errors import InputError
from dunno.evaluation.pairs_with_truth import decide
from dunno.tracking import Tracking
from dunno.types import Bools, Floats, Ints, Truth

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FLOOR_DRAWS = 1000
FLOOR_QUANTILE = 0.95
FLOOR_GROUPS = 40
BINS, MOST_BINS = 10, 1000


def check_bins(n_bins: int) -> int:
    """Refuse what is no number of bins."""
    if isinstance(n_bins, bool) or int(n_bins) != n_bins or not 1 <= n_bins <= MOST_BINS:
        raise InputError(f"{n_bins} bins of confidence; expected a whole number from 1 to {MOST_BINS}")
    return int(n_bins)


@dataclass(frozen=True, eq=False)
class CalibrationCurve:
    """Accuracy against confidence, bin by bin; empty bins are NaN."""

    low: Floats  # (B,) lower ends of the bins, not included, but for 0 in the first
    high: Floats  # (B,) upper ends, included
    count: Ints  # (B,) how many decisions fall into each
    confidence: Floats  # (B,) their mean confidence
    accuracy: Floats  # (B,) the share of them that is right
    ece: float  # The mean of |accuracy − confidence|, weighted by count

    def to_dict(self) -> dict[str, Any]:
        """Lists and numbers only."""
        return {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in asdict(self).items()}

    def plot(self, ax: Axes, label: str | None = None) -> None:
        """Draw accuracy over confidence, with the diagonal on which a calibrated predictor lies."""
        filled = self.count > 0
        ax.plot([0, 1], [0, 1], linestyle="--", color="0.6", linewidth=1)
        ax.plot(self.confidence[filled], self.accuracy[filled], marker="o", label=label)
        ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="confidence", ylabel="share of links that is right")


def calibration_curve(
    tracking: Tracking, truth: Truth, n_bins: int = BINS, *, equal_mass: bool = False
) -> CalibrationCurve:
    """Compare the links' confidence with the share that is right.

    Args:
        tracking: What was tracked.
        truth: What is true, with the same frames.
        n_bins: Number of bins.
        equal_mass: Bins with equally many links instead of equal width.
    """
    decisions = decide(tracking, truth)
    return curve(decisions.link_confidence, decisions.link_right, n_bins, equal_mass=equal_mass)


def curve(confidence: Floats, right: Bools, n_bins: int = BINS, *, equal_mass: bool = False) -> CalibrationCurve:
    """Bin any confidences with whether they were right; see `calibration_curve`."""
    check_bins(n_bins)
    edges = _edges(confidence, n_bins, equal_mass)
    place = bins(confidence, edges)
    count = np.bincount(place, minlength=n_bins)
    with np.errstate(invalid="ignore"):
        mean = np.bincount(place, confidence, minlength=n_bins) / count
        accuracy = np.bincount(place, right, minlength=n_bins) / count
    return CalibrationCurve(
        edges[:-1], edges[1:], count, mean, accuracy, expected_error(confidence, right, n_bins, edges)
    )


def expected_error(confidence: Floats, right: Bools, n_bins: int = BINS, edges: Floats | None = None) -> float:
    r"""Expected calibration error (Eq. 19 of the paper, binned as Guo et al. do).

    $$ECE = \sum_b \frac{|b|}{N} \lvert acc(b) - conf(b) \rvert$$

    over bins (a, b] of equal width, 0 in the first. NaN without any decisions.
    """
    if len(confidence) == 0:
        return float("nan")
    place = bins(confidence, _edges(confidence, n_bins, False) if edges is None else edges)
    return float(np.abs(np.bincount(place, right - confidence, minlength=n_bins)).sum() / len(confidence))


def bins(confidence: Floats, edges: Floats) -> Ints:
    """(N,) the bin (a, b] of each confidence."""
    return np.clip(np.searchsorted(edges, confidence, side="left") - 1, 0, len(edges) - 2)


def _edges(confidence: Floats, n_bins: int, equal_mass: bool) -> Floats:
    if equal_mass and len(confidence):
        edges = np.quantile(confidence, np.linspace(0, 1, n_bins + 1))
        edges[0], edges[-1] = 0.0, 1.0
        return np.asarray(np.maximum.accumulate(edges))
    return np.linspace(0.0, 1.0, n_bins + 1)


def error_floor(confidence: Floats, n_bins: int = BINS, seed: int = 0) -> float:
    """The ECE below which a perfectly calibrated predictor with these very confidences stays in 95 % of draws.

    Each decision is right by the toss of a coin with its own confidence, independently of the others. Decisions of nearly the same
    confidence (a 400th apart) are tossed together, which is exact up to their difference.
    """
    if len(confidence) == 0:
        return float("nan")
    rng = np.random.default_rng(seed)
    fine = bins(confidence, np.linspace(0.0, 1.0, n_bins * FLOOR_GROUPS + 1))
    count = np.bincount(fine, minlength=n_bins * FLOOR_GROUPS)
    total = np.bincount(fine, confidence, minlength=n_bins * FLOOR_GROUPS)
    filled = count > 0
    chance = np.clip(total[filled] / count[filled], 0.0, 1.0)
    right = rng.binomial(count[filled], chance, size=(FLOOR_DRAWS, int(filled.sum())))
    excess = np.zeros((FLOOR_DRAWS, n_bins))
    np.add.at(excess.T, np.flatnonzero(filled) // FLOOR_GROUPS, (right - total[filled]).T)
    return float(np.quantile(np.abs(excess).sum(axis=1) / len(confidence), FLOOR_QUANTILE))
