"""The page's charts, each with its band, also as files of their own."""

from __future__ import annotations

import re

import numpy as np

from dunno.biology.pooling import quantile_interval
from dunno.biology.quantities import Biology
from dunno.biology.survival import Survival
from dunno.biology.tables import divisions_by_frame
from dunno.report import forest, svg
from dunno.report.families import Families
from dunno.report.html_parts import read_part
from dunno.types import Floats, Ints

SPANS = 20
"""Spans of time, at the most, that rates are shown for."""


def draw_survival(found: Survival, unit: str) -> str:
    """The share of cells that have not divided, by age."""
    x, y = svg.across(0, float(found.age[-1]) or 1.0), svg.upwards(0, 1)
    body = [
        svg.y_axis(y, x.begin, x.end, "not yet divided", svg.as_percent),
        band(_stairs(found.age, found.low), _stairs(found.age, found.high), x, y),
        svg.line([(x(a), y(s)) for a, s in _stairs(found.age, found.share)], "line"),
        svg.line([(x(a), y(s)) for a, s in _stairs(found.age, found.reported)], "ideal"),
        svg.x_axis(x, y.begin, f"age ({unit})", svg.whole),
    ]
    median, low, high = found.median()
    told = f"Survival: half of the cells have divided by {median:.4g} {unit} (band {low:.4g} to {high:.4g})."
    return svg.chart(body, told)


def rates(found: Biology) -> dict[str, Floats]:
    """Divisions per cell and unit of time in spans of frames, with the band of their doubt and of chance.

    In each drawn lineage a rate is drawn that fits its count (Gamma with shape d + ½); 95 % of these make the band.
    """
    rows = found.lineage.rows
    n = len(rows.frames)
    edges = np.unique(np.linspace(0, n - 1, min(SPANS, max(n - 1, 1)) + 1).round().astype(np.int64))
    span = np.clip(np.searchsorted(edges, np.arange(n), side="left") - 1, 0, None)
    exposure = np.zeros(len(edges) - 1)
    np.add.at(exposure, span[1:], np.diff(rows.times) * np.diff(rows.ends)[:-1])
    counts = np.array(
        [_by_span(divisions_by_frame(each), span, len(exposure)) for each in found.draws or (found.lineage,)]
    )
    rng = np.random.default_rng(0)
    drawn = rng.gamma(np.repeat(counts, max(1, 400 // len(counts)), axis=0) + 0.5) / np.maximum(exposure, 1e-12)
    low, high = quantile_interval(drawn)
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = np.where(exposure > 0, counts.mean(axis=0) / exposure, np.nan)
    time = rows.times[edges]
    return {
        "begin": time[:-1],
        "end": time[1:],
        "rate": rate,
        "low": np.minimum(low, rate),
        "high": np.maximum(high, rate),
    }


def _by_span(events: Ints, span: Ints, n: int) -> Floats:
    return np.bincount(span[1:], events[1:], minlength=n).astype(np.float64)


def draw_rates(told: dict[str, Floats], unit: str) -> str:
    """The rate of divisions over time."""
    one = unit.removesuffix("s")
    top = float(np.nanmax(np.append(np.minimum(told["high"], 8 * np.nanmax(np.append(told["rate"], 1e-9))), 1e-9)))
    x, y = svg.across(float(told["begin"][0]), float(told["end"][-1])), svg.upwards(0, top)
    middle = (told["begin"] + told["end"]) / 2
    points = [(x(m), y(r)) for m, r in zip(middle.tolist(), told["rate"].tolist(), strict=True)]
    clipped = np.minimum(told["high"], top)
    ends = [list(zip(middle.tolist(), line.tolist(), strict=True)) for line in (told["low"], clipped)]
    body = [
        svg.y_axis(y, x.begin, x.end, f"divisions per cell and {one}", lambda value: f"{value:.3g}"),
        band(ends[0], ends[1], x, y),
        svg.line(points, "line"),
        *(svg.dot(px, py, "dot", 3) for px, py in points if not np.isnan(py)),
        svg.x_axis(x, y.begin, f"time ({unit})", svg.whole),
    ]
    return svg.chart(body, f"Divisions per cell and {one} over time, with the band of their doubt.")


def draw_cells(found: Biology) -> str:
    """How many masks there are over time, and the divisions' running number with its band."""
    rows = found.lineage.rows
    number = np.diff(rows.ends).astype(np.float64)
    running = np.array([np.cumsum(divisions_by_frame(each)) for each in found.draws or (found.lineage,)])
    low, high = quantile_interval(running)
    own = np.quantile(running, 0.5, axis=0, method="nearest").astype(np.float64)
    top = float(max(number.max(initial=1), high.max(initial=1)))
    x, y = svg.across(float(rows.times[0]), float(rows.times[-1])), svg.upwards(0, top)

    def along(values: Floats) -> list[tuple[float, float]]:
        return list(zip(rows.times.tolist(), values.tolist(), strict=True))

    body = [
        svg.y_axis(y, x.begin, x.end, "cells; divisions so far", svg.whole),
        band(along(low), along(high), x, y),
        svg.line([(x(a), y(b)) for a, b in along(number)], "ideal"),
        svg.line([(x(a), y(b)) for a, b in along(own)], "line"),
        svg.x_axis(x, y.begin, f"time ({rows.unit})", svg.whole),
    ]
    return svg.chart(body, f"From {int(number[0])} to {int(number[-1])} cells; {int(own[-1])} divisions.")


def draw_trees(found: Biology) -> tuple[str, str]:
    """The largest families as trees, and what is shown, in words."""
    families = Families()
    for block in found.tracking.blocks:
        families.follow(block)
    debris = {row.track for row in families.table() if row.is_debris and not found.with_debris}
    cells = [family for family in families.listed() if family.root not in debris]
    listed = sorted(cells, key=lambda family: (-family.tracks, -family.links, family.root))
    trees, drawing = forest.grow(found.tracking.blocks, listed, families.table(), found.lineage.rows.frames)
    told = f"Shown are the {len(trees)} largest of {len(listed)} families." if trees else "There are no cells."
    return drawing, told


def band(low: list[tuple[float, float]], high: list[tuple[float, float]], x: svg.Axis, y: svg.Axis) -> str:
    """The area between two lines of values."""
    around = [*high, *reversed(low)]
    return f'<path class="area" d="M{"L".join(f"{x(a):.1f} {y(b):.1f}" for a, b in around)}Z"/>'


def _stairs(age: Floats, values: Floats) -> list[tuple[float, float]]:
    """A curve that falls in steps."""
    points: list[tuple[float, float]] = []
    for a, value in zip(age.tolist(), values.tolist(), strict=True):
        if points:
            points.append((a, points[-1][1]))
        points.append((a, value))
    return points


def standalone(drawing: str) -> str:
    """A chart as a file of its own, in the light colours of the page; any program that knows SVG opens it."""
    style = read_part("page.css")
    colours = dict(re.findall(r"(--[a-z-]+): ([^;]+);", style.split("@media")[0]))
    kept = "\n".join(line for line in style.splitlines() if line.startswith(WITH_CHARTS))
    for name, value in colours.items():
        kept = kept.replace(f"var({name})", value)
    inner = f'<style>{kept}</style><rect width="100%" height="100%" fill="#ffffff"/>'
    head, _, body = drawing.partition(">")
    return f'{head} xmlns="http://www.w3.org/2000/svg">{inner}{body}\n'


WITH_CHARTS = ("svg ", ".axis", ".grid", ".bar", ".dot", ".line", ".ideal", ".area", ".forest")
