"""Where in time the links are uncertain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dunno.report import svg
from dunno.report.html_tables import table
from dunno.report.survey import Survey
from dunno.runs.numbers import amount, count, percent
from dunno.types import Floats, Ints

MOST_COLUMNS = 320
UPPER, LOWER = (16.0, 150.0), (186.0, 276.0)
TOTAL_HEIGHT = 320


@dataclass(frozen=True, eq=False)
class OverTime:
    """Certainty in spans of time, of one frame pair each unless there are very many."""

    first: Ints  # (S,) original index of each span's first later frame
    last: Ints  # (S,) of its last one
    pairs: Ints  # (S,) frame pairs in it
    links: Ints  # (S,) links in it
    wrong: Floats  # (S,) how many of them are expected to be wrong, per frame pair
    confidence: Floats  # (S,) mean probability of its links; NaN without any


def over_time(survey: Survey) -> OverTime:
    """Pool frame pairs so that at most 320 spans remain."""
    size = -(-len(survey.frame) // MOST_COLUMNS) or 1
    begins = np.arange(0, len(survey.frame), size)
    ends = np.append(begins[1:], len(survey.frame)) - 1
    links, wrong = (np.add.reduceat(values, begins) for values in (survey.links, survey.wrong))
    pairs = ends - begins + 1
    with np.errstate(invalid="ignore", divide="ignore"):
        confidence = 1 - wrong / links
    return OverTime(survey.frame[begins], survey.frame[ends], pairs, links, wrong / pairs, confidence)


def draw(spans: OverTime) -> str:
    """Expected wrong links above, mean confidence below."""
    low, high = float(spans.first[0]), float(spans.last[-1])
    step = (high - low) / max(len(spans.first) - 1, 1) or 1.0
    x = svg.across(low - step / 2, high + step / 2)
    wrong = svg.upwards(0, max(float(spans.wrong.max()) * 1.05, 0.1), *UPPER)
    worst = float(np.nanmin(spans.confidence, initial=1.0))
    sure = svg.upwards(_floor(worst), 1, *LOWER)
    width = max((x.end - x.begin) / len(spans.first) - 1, 0.8)
    middle = (spans.first + spans.last) / 2
    bars = [
        svg.bar(x(at) - width / 2, wrong(value), width, wrong.begin)
        for at, value in zip(middle.tolist(), spans.wrong.tolist(), strict=True)
    ]
    points = [(x(at), sure(value)) for at, value in zip(middle.tolist(), spans.confidence.tolist(), strict=True)]
    dots = [svg.dot(px, py, "dot", 2.5) for px, py in points if not np.isnan(py)] if len(points) <= 60 else []
    body = [
        svg.y_axis(wrong, x.begin, x.end, "expected wrong links", svg.whole),
        *bars,
        f'<path class="axis" d="M{x.begin:g} {wrong.begin:g}H{x.end:g}"/>',
        svg.y_axis(sure, x.begin, x.end, "mean probability", svg.as_percent, 4),
        svg.line(points, "line"),
        *dots,
        svg.x_axis(x, LOWER[1], "frame of the daughters", svg.whole),
    ]
    peak = int(np.argmax(spans.wrong))
    told = (
        f"Certainty over time: most wrong links are expected at frame {spans.first[peak]} ({amount(float(spans.wrong[peak]))} "
        f"per frame); the lowest mean probability is {percent(worst)}."
    )
    return svg.chart(body, told, height=TOTAL_HEIGHT)


def _floor(worst: float) -> float:
    """Where the axis of the mean probability begins: a round value below all."""
    return next((low for low in (0.99, 0.95, 0.9, 0.8, 0.5) if worst > low), 0.0)


def as_table(spans: OverTime) -> str:
    """The same in numbers."""
    rows = [
        (str(a) if a == b else f"{a} – {b}", count(links), amount(wrong), percent(confidence))
        for a, b, links, wrong, confidence in zip(
            *(column.tolist() for column in (spans.first, spans.last, spans.links, spans.wrong, spans.confidence)),
            strict=True,
        )
    ]
    return table("Certainty by frame", ("frame", "links", "expected wrong per frame", "mean probability"), rows)
