"""Beside the truth, where it is known: are the probabilities true?"""

from __future__ import annotations

from dataclasses import dataclass

from dunno.evaluation.accuracy import Scores, score
from dunno.evaluation.calibration_error import BINS, CalibrationCurve, curve
from dunno.evaluation.pairs_with_truth import decide
from dunno.evaluation.sparsification import Sparsification, sparsify
from dunno.report import svg
from dunno.report.html_parts import table
from dunno.runs.numbers import count, percent
from dunno.tracking import Tracking
from dunno.types import Truth

SQUARE = 330.0
FEW_LINKS = 10
"""Bins with fewer links are drawn hollow: they say little."""


@dataclass(frozen=True, eq=False)
class Truthfulness:
    """How right the links and how true their probabilities are."""

    scores: Scores
    curve: CalibrationCurve
    sparsification: Sparsification

    @property
    def is_honest(self) -> bool:
        """Whether the calibration error is one that chance explains."""
        return bool(self.scores.ece <= self.scores.ece_floor)

    def sentence(self) -> str:
        """What was found."""
        found = self.scores
        wrong = round((1 - found.accuracy) * found.n_links)
        floor = f"a perfectly calibrated tracker would stay below {found.ece_floor:.3f} 95 times in 100"
        return (
            f"{count(found.n_links - wrong)} of {count(found.n_links)} links are right ({percent(found.accuracy)}), and "
            f"{percent(found.recall)} of the true links were found. Probabilities are off by {found.ece:.3f} on average "
            f"(calibration error); {floor}. {found.sentence().capitalize()}."
        )


def compare(tracking: Tracking, truth: Truth, n_bins: int = BINS) -> Truthfulness:
    """Lay a tracking beside its truth."""
    scores, decisions = score(tracking, truth, n_bins=n_bins), decide(tracking, truth)
    confidence, right = decisions.link_confidence, decisions.link_right
    return Truthfulness(scores, curve(confidence, right, n_bins), sparsify(confidence, right, "edge"))


def draw_curve(found: Truthfulness) -> str:
    """Share of links that is right over what they were said to be."""
    x = svg.across(0, 1, right=SQUARE + svg.LEFT)
    y = svg.upwards(0, 1, bottom=svg.TOP + SQUARE)
    shown = found.curve
    points = [
        (x(sure), y(right), number)
        for sure, right, number in zip(
            shown.confidence.tolist(), shown.accuracy.tolist(), shown.count.tolist(), strict=True
        )
        if number
    ]
    many = [(px, py) for px, py, number in points if number >= FEW_LINKS]
    body = [
        svg.y_axis(y, x.begin, x.end, "share that is right", svg.as_percent, 6),
        svg.line([(x(0), y(0)), (x(1), y(1))], "ideal"),
        svg.line(many, "line"),
        *(svg.dot(px, py, "dot" if number >= FEW_LINKS else "dot hollow") for px, py, number in points),
        svg.x_axis(x, y.begin, "probability of the link", svg.as_percent, 6),
    ]
    told = f"Calibration curve; the calibration error is {found.curve.ece:.3f}."
    return svg.chart(body, told, SQUARE + svg.LEFT + svg.RIGHT, SQUARE + svg.TOP + 46)


def draw_sparsification(found: Truthfulness) -> str:
    """Share of the remaining links that is right after leaving out the least certain."""
    shown = found.sparsification
    low = float(min(shown.accuracy.min(), shown.oracle.min()))
    x = svg.across(0, 1, right=SQUARE + svg.LEFT)
    y = svg.upwards(low - (1 - low) * 0.1 if low < 1 else 0.9, 1, bottom=svg.TOP + SQUARE)
    lines = [
        svg.line([(x(a), y(b)) for a, b in zip(shown.removed.tolist(), values.tolist(), strict=True)], name)
        for values, name in ((shown.oracle, "ideal"), (shown.accuracy, "line"))
    ]
    body = [
        svg.y_axis(y, x.begin, x.end, "share of the rest that is right", svg.as_percent, 6),
        *lines,
        svg.x_axis(x, y.begin, "links left out, least certain first", svg.as_percent, 6),
    ]
    told = f"Sparsification curve: leaving out links gains {shown.gain:.4f} on average, of at most {shown.oracle_gain:.4f}."
    return svg.chart(body, told, SQUARE + svg.LEFT + svg.RIGHT, SQUARE + svg.TOP + 46)


def as_table(found: Truthfulness) -> str:
    """The curve in numbers."""
    shown = found.curve
    rows = [
        (f"{100 * low:.3g} – {100 * high:.3g} %", count(number), percent(sure), percent(right))
        for low, high, number, sure, right in zip(
            *(part.tolist() for part in (shown.low, shown.high, shown.count, shown.confidence, shown.accuracy)),
            strict=True,
        )
        if number
    ]
    return table("Calibration curve", ("bin", "links", "mean probability", "share that is right"), rows)


def scores_table(found: Truthfulness) -> str:
    """All scores that matter here."""
    told = found.scores
    rows = [
        ("links that are right", percent(told.accuracy)),
        ("true links found", percent(told.recall)),
        ("daughters decided right", percent(told.daughter_accuracy)),
        ("calibration error of links", _score(told.ece)),
        ("… its floor", _score(told.ece_floor)),
        ("calibration error of daughters", _score(told.ece_daughters)),
        ("… its floor", _score(told.ece_daughters_floor)),
        ("area under the ROC curve", _score(told.auroc)),
        ("sparsification gain", _score(found.sparsification.gain)),
        ("… at most", _score(found.sparsification.oracle_gain)),
    ]
    return table("Scores", ("score", "value"), rows)


def _score(value: float) -> str:
    """A score; those that are undefined are a dash."""
    return f"{value:.4f}" if value == value else "–"
