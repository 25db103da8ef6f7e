"""How sure the links are, where in time they are not, and how much better the tracking gets if somebody checks them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape

import numpy as np

from dunno.report import svg
from dunno.report.html_parts import filled, table
from dunno.report.survey import HISTOGRAM_BINS, Survey
from dunno.runs.numbers import amount, count, percent
from dunno.types import Floats, Ints

BAR_GAP = 2.0
MOST_COLUMNS = 320
UPPER, LOWER = (16.0, 150.0), (186.0, 276.0)
TOTAL_HEIGHT = 320
CURVE_STEPS = 200
CURVE_END = 0.01
"""The curve of checking ends where less than this share of the expected wrong links is left."""

TABLE_ROWS = 10


def section(survey: Survey, state: str) -> str:
    """The sections about all links; there must be some."""
    spans, checks = over_time(survey), checking(survey)
    return filled(
        "links.html",
        state=state,
        histogram=draw_histogram(survey.histogram),
        histogram_table=histogram_table(survey.histogram),
        over_time=draw_over_time(spans),
        over_time_table=over_time_table(spans),
        pooled=_pooled(spans),
        checking=draw_checking(checks),
        checking_table=checking_table(checks),
        checking_data=escape(json.dumps(_steps(checks)), quote=True),
        sentence=escape(checks.sentence(checks.half)),
        half=str(checks.half),
        bottom=f"{checking_axes(checks)[1].begin:g}",
        steps=str(len(checks.checked) - 1),
    )


def draw_histogram(histogram: Ints) -> str:
    """A bar per bin of confidence, on a logarithmic scale because most links are nearly certain."""
    x = svg.across(0, 1)
    top = 10 ** np.ceil(np.log10(max(int(histogram.max()), 2) * 1.5))
    y = svg.upwards(0.6, float(top), log=True)
    marks = []
    for index, number in enumerate(histogram.tolist()):
        left, right = x(index / HISTOGRAM_BINS) + BAR_GAP / 2, x((index + 1) / HISTOGRAM_BINS) - BAR_GAP / 2
        if number:
            marks.append(svg.bar(left, y(number), right - left, y.begin))
            marks.append(svg.text((left + right) / 2, y(number) - 5, count(number), "middle", "small"))
    told = f"Histogram of link probabilities: {count(int(histogram[-1]))} of {count(int(histogram.sum()))} links are above 95 %."
    titles = "probability of the link", "links (log scale)"
    return svg.Plot(x, y).chart(marks, told, titles, (svg.as_percent, svg.whole), (11, 5))


def histogram_table(histogram: Ints) -> str:
    """The same in numbers."""
    rows = [
        (f"{100 * index // HISTOGRAM_BINS} – {100 * (index + 1) // HISTOGRAM_BINS} %", count(number))
        for index, number in enumerate(histogram.tolist())
    ]
    return table("Links by probability", ("probability", "links"), rows)


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


def draw_over_time(spans: OverTime) -> str:
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


def over_time_table(spans: OverTime) -> str:
    """The same in numbers."""
    rows = [
        (str(a) if a == b else f"{a} – {b}", count(links), amount(wrong), percent(confidence))
        for a, b, links, wrong, confidence in zip(
            *(column.tolist() for column in (spans.first, spans.last, spans.links, spans.wrong, spans.confidence)),
            strict=True,
        )
    ]
    return table("Certainty by frame", ("frame", "links", "expected wrong per frame", "mean probability"), rows)


def _pooled(spans: OverTime) -> str:
    most = int(spans.pairs.max())
    return f" Each bar is the mean of up to {most} frames." if most > 1 else ""


@dataclass(frozen=True, eq=False)
class Checking:
    """Expected wrong links left after the least certain ones were checked and corrected."""

    checked: Ints  # (S,) how many are checked, from 0
    wrong: Floats  # (S,) how many of the others are expected to be wrong
    links: int  # How many there are in all

    def sentence(self, step: int) -> str:
        """What one step of the slider says."""
        n, wrong = int(self.checked[step]), float(self.wrong[step])
        links, all_links = "link" if n == 1 else "links", max(self.links, 1)
        return (
            f"If you check the {count(n)} least certain {links} ({percent(n / all_links)} of all), the expected number of "
            f"wrong links falls from {amount(float(self.wrong[0]))} to {amount(wrong)}: {percent(wrong / all_links)} of all links."
        )

    @property
    def half(self) -> int:
        """The first step at which half of the expected error is gone."""
        return int(np.argmax(self.wrong <= self.wrong[0] / 2))


def checking(survey: Survey) -> Checking:
    """Sum up what the least certain links contribute."""
    total = float(survey.wrong.sum())
    left = np.maximum(total - np.concatenate([[0.0], np.cumsum(survey.doubt)]), 0.0)
    enough = np.flatnonzero(left <= CURVE_END * total)
    most = int(enough[0]) if total > 0 and len(enough) else len(left) - 1
    checked = np.unique(np.round(np.linspace(0, most, min(CURVE_STEPS, most) + 1)).astype(np.int64))
    return Checking(checked, left[checked], survey.summary.links)


def checking_axes(found: Checking) -> tuple[svg.Axis, svg.Axis]:
    """Of the chart; the page's script moves its marker along them."""
    return svg.across(0, max(int(found.checked[-1]), 1)), svg.upwards(0, max(float(found.wrong[0]) * 1.05, 1e-3))


def draw_checking(found: Checking) -> str:
    """The curve, with a marker that the slider moves."""
    plot, at = svg.Plot(*checking_axes(found)), found.half
    points, bottom = plot.points(found.checked, found.wrong), plot.y.begin
    under = "".join(f"L{px:.1f} {py:.1f}" for px, py in points)
    marks = [
        f'<path class="area" d="M{plot.x.begin:g} {bottom:g}{under}V{bottom:g}Z"/>',
        svg.line(points, "line"),
        f'<path id="guide" class="guide" d="M{points[at][0]:.1f} {bottom:g}V{points[at][1]:.1f}"/>',
        f'<circle id="marker" class="marker" cx="{points[at][0]:.1f}" cy="{points[at][1]:.1f}" r="6"/>',
    ]
    told = "Expected wrong links left after checking. " + found.sentence(at)
    titles = "links checked, least certain first", "expected wrong links left"
    return plot.chart(marks, told, titles, (svg.whole, svg.whole), (6, 5), name="checking")


def checking_table(found: Checking) -> str:
    """Some steps in numbers."""
    steps = np.unique(np.linspace(0, len(found.checked) - 1, TABLE_ROWS + 1).round().astype(np.int64)).tolist()
    rows = [
        (
            count(int(found.checked[step])),
            amount(float(found.wrong[step])),
            percent(found.wrong[step] / max(found.links, 1)),
        )
        for step in steps
    ]
    return table("Expected wrong links after checking", ("links checked", "expected wrong", "share of all links"), rows)


def _steps(found: Checking) -> list[tuple[float, float, str, str]]:
    """Marker and words for every step of the slider."""
    x, y = checking_axes(found)
    places = zip(found.checked.tolist(), found.wrong.tolist(), strict=True)
    return [
        (round(x(n), 1), round(y(wrong), 1), found.sentence(step), f"{count(n)} link{'' if n == 1 else 's'}")
        for step, (n, wrong) in enumerate(places)
    ]
