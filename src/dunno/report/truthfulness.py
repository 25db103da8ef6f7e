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
    plot, shown = _square(0.0), found.curve
    filled, many = shown.count > 0, shown.count >= FEW_LINKS
    dots = zip(plot.points(shown.confidence[filled], shown.accuracy[filled]), many[filled].tolist(), strict=True)
    marks = [
        plot.line((0, 1), (0, 1), "ideal"),
        plot.line(shown.confidence[many], shown.accuracy[many]),
        *(svg.dot(*at, "dot" if enough else "dot hollow") for at, enough in dots),
    ]
    told = f"Calibration curve; the calibration error is {found.curve.ece:.3f}."
    return _chart(plot, marks, told, ("probability of the link", "share that is right"))


def draw_sparsification(found: Truthfulness) -> str:
    """Share of the remaining links that is right after leaving out the least certain."""
    shown = found.sparsification
    low = float(min(shown.accuracy.min(), shown.oracle.min()))
    plot = _square(low - (1 - low) * 0.1 if low < 1 else 0.9)
    marks = [plot.line(shown.removed, shown.oracle, "ideal"), plot.line(shown.removed, shown.accuracy)]
    told = f"Sparsification curve: leaving out links gains {shown.gain:.4f} on average, of at most {shown.oracle_gain:.4f}."
    return _chart(plot, marks, told, ("links left out, least certain first", "share of the rest that is right"))


def _square(low: float) -> svg.Plot:
    """Shares, those upwards from a lowest one."""
    return svg.Plot(svg.across(0, 1, right=SQUARE + svg.LEFT), svg.upwards(low, 1, bottom=svg.TOP + SQUARE))


def _chart(plot: svg.Plot, marks: list[str], told: str, titles: tuple[str, str]) -> str:
    size = {"width": SQUARE + svg.LEFT + svg.RIGHT, "height": SQUARE + svg.TOP + 46}
    return plot.chart(marks, told, titles, (svg.as_percent, svg.as_percent), (6, 6), **size)


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
