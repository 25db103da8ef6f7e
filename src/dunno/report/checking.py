"""How much better the tracking gets if somebody checks its least certain links."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dunno.report import svg
from dunno.report.html_tables import table
from dunno.report.survey import Survey
from dunno.runs.numbers import amount, count, percent
from dunno.types import Floats, Ints

CURVE_STEPS = 200
CURVE_END = 0.01
"""The curve ends where less than this share of the expected wrong links is left."""

TABLE_ROWS = 10


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


def axes(found: Checking) -> tuple[svg.Axis, svg.Axis]:
    """Of the chart; the page's script moves its marker along them."""
    return svg.across(0, max(int(found.checked[-1]), 1)), svg.upwards(0, max(float(found.wrong[0]) * 1.05, 1e-3))


def draw(found: Checking) -> str:
    """The curve, with a marker that the slider moves."""
    x, y = axes(found)
    points = [(x(n), y(wrong)) for n, wrong in zip(found.checked.tolist(), found.wrong.tolist(), strict=True)]
    under = "".join(f"L{px:.1f} {py:.1f}" for px, py in points)
    at = found.half
    body = [
        svg.y_axis(y, x.begin, x.end, "expected wrong links left", svg.whole),
        f'<path class="area" d="M{x.begin:g} {y.begin:g}{under}V{y.begin:g}Z"/>',
        svg.line(points, "line"),
        f'<path id="guide" class="guide" d="M{points[at][0]:.1f} {y.begin:g}V{points[at][1]:.1f}"/>',
        f'<circle id="marker" class="marker" cx="{points[at][0]:.1f}" cy="{points[at][1]:.1f}" r="6"/>',
        svg.x_axis(x, y.begin, "links checked, least certain first", svg.whole, 6),
    ]
    return svg.chart(body, "Expected wrong links left after checking. " + found.sentence(at), name="checking")


def as_table(found: Checking) -> str:
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
