"""How many links are how sure."""

from __future__ import annotations

import numpy as np

from dunno.report import svg
from dunno.report.html_tables import table
from dunno.report.survey import HISTOGRAM_BINS
from dunno.runs.numbers import count
from dunno.types import Ints

BAR_GAP = 2.0


def draw(histogram: Ints) -> str:
    """A bar per bin of confidence, on a logarithmic scale because most links are nearly certain."""
    x = svg.across(0, 1)
    top = 10 ** np.ceil(np.log10(max(int(histogram.max()), 2) * 1.5))
    y = svg.upwards(0.6, float(top), log=True)
    body = [svg.y_axis(y, x.begin, x.end, "links (log scale)", svg.whole)]
    for index, number in enumerate(histogram.tolist()):
        left, right = x(index / HISTOGRAM_BINS) + BAR_GAP / 2, x((index + 1) / HISTOGRAM_BINS) - BAR_GAP / 2
        if number:
            body.append(svg.bar(left, y(number), right - left, y.begin))
            body.append(svg.text((left + right) / 2, y(number) - 5, count(number), "middle", "small"))
    body.append(svg.x_axis(x, y.begin, "probability of the link", svg.as_percent, 11))
    surest = int(histogram[-1])
    told = f"Histogram of link probabilities: {count(surest)} of {count(int(histogram.sum()))} links are above 95 %."
    return svg.chart(body, told)


def as_table(histogram: Ints) -> str:
    """The same in numbers."""
    rows = [
        (f"{100 * index // HISTOGRAM_BINS} – {100 * (index + 1) // HISTOGRAM_BINS} %", count(number))
        for index, number in enumerate(histogram.tolist())
    ]
    return table("Links by probability", ("probability", "links"), rows)
