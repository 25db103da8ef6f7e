"""What remains right when the least certain links are left out."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dunno.errors import InputError
from dunno.evaluation.pairs_with_truth import decide
from dunno.tracking import Tracking
from dunno.types import Bools, Floats, Truth

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SPARSIFICATION_STEPS = 100


@dataclass(frozen=True, eq=False)
class Sparsification:
    """Accuracy of the links that remain after removing the least certain ones."""

    removed: Floats  # (S,) share of links removed, from 0 to just below 1
    accuracy: Floats  # (S,) share of the remaining ones that is right
    oracle: Floats  # (S,) the same if the wrong ones were removed first
    gain: float  # Mean improvement over removing nothing: the area between the curve and its beginning
    oracle_gain: float  # The most that any order could gain
    by: str  # "edge" (the links' probabilities) or "entropy" (of their daughters)

    def to_dict(self) -> dict[str, Any]:
        """Lists and numbers only."""
        return {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in asdict(self).items()}

    def plot(self, ax: Axes, label: str | None = None) -> None:
        """Draw the curve, and the oracle's."""
        ax.plot(self.removed, self.oracle, linestyle="--", color="0.6", linewidth=1)
        ax.plot(self.removed, self.accuracy, label=label or self.by)
        ax.set(xlabel="share of links removed, least certain first", ylabel="share of the rest that is right")


def sparsification(tracking: Tracking, truth: Truth, by: Literal["edge", "entropy"] = "edge") -> Sparsification:
    """Remove the least certain links step by step.

    Links that are equally certain count with their expected accuracy under random order, since many methods put most
    links at exactly 1.

    Args:
        tracking: What was tracked.
        truth: What is true, with the same frames.
        by: Order by the links' probabilities or by their daughters' entropy.
    """
    decisions = decide(tracking, truth)
    if by not in ("edge", "entropy"):
        raise InputError(f"by is {by!r}; expected 'edge' or 'entropy'")
    certainty = decisions.link_confidence if by == "edge" else -decisions.link_entropy
    return sparsify(certainty, decisions.link_right, by)


def sparsify(certainty: Floats, right: Bools, by: str = "certainty") -> Sparsification:
    """Remove the least certain of any decisions; see `sparsification`."""
    removed = np.arange(SPARSIFICATION_STEPS) / SPARSIFICATION_STEPS
    accuracy = _remaining(certainty, right, removed)
    oracle = _remaining(right.astype(np.float64), right, removed)
    gain, most = (float(np.mean(line - line[0])) for line in (accuracy, oracle))
    return Sparsification(removed, accuracy, oracle, gain, most, by)


def kept_right(certainty: Floats, right: Bools) -> Floats:
    """(N,) expected number of right decisions among the k + 1 most certain ones, ties in random order."""
    order = np.argsort(-certainty, kind="stable")
    sure, good = certainty[order], right[order].astype(np.float64)
    begins = np.flatnonzero(np.r_[True, sure[1:] != sure[:-1]])
    size = np.diff(np.r_[begins, len(sure)])
    share = np.add.reduceat(good, begins) / size
    return np.asarray(np.cumsum(np.repeat(share, size)))


def _remaining(certainty: Floats, right: Bools, removed: Floats) -> Floats:
    n = len(right)
    if n == 0:
        return np.full(len(removed), np.nan)
    kept = np.maximum(1, n - np.round(removed * n).astype(np.int64))
    return np.asarray(kept_right(certainty, right)[kept - 1] / kept)
