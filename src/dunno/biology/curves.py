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
    plot = svg.Plot(svg.across(0, float(found.age[-1]) or 1.0), svg.upwards(0, 1))
    age = np.repeat(found.age, 2)[1:]  # a curve that falls in steps
    share, low, high, reported = (
        np.repeat(each, 2)[:-1] for each in (found.share, found.low, found.high, found.reported)
    )
    marks = [plot.band(age, low, high), plot.line(age, share), plot.line(age, reported, "ideal")]
    median, early, late = found.median()
    told = f"Survival: half of the cells have divided by {median:.4g} {unit} (band {early:.4g} to {late:.4g})."
    return plot.chart(marks, told, (f"age ({unit})", "not yet divided"), (svg.whole, svg.as_percent))


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
    plot = svg.Plot(svg.across(float(told["begin"][0]), float(told["end"][-1])), svg.upwards(0, top))
    middle = (told["begin"] + told["end"]) / 2
    dots = (svg.dot(px, py, "dot", 3) for px, py in plot.points(middle, told["rate"]) if not np.isnan(py))
    marks = [plot.band(middle, told["low"], np.minimum(told["high"], top)), plot.line(middle, told["rate"]), *dots]
    words = f"Divisions per cell and {one} over time, with the band of their doubt."
    titles = f"time ({unit})", f"divisions per cell and {one}"
    return plot.chart(marks, words, titles, (svg.whole, lambda value: f"{value:.3g}"))


def draw_cells(found: Biology) -> str:
    """How many masks there are over time, and the divisions' running number with its band."""
    rows = found.lineage.rows
    number = np.diff(rows.ends).astype(np.float64)
    running = np.array([np.cumsum(divisions_by_frame(each)) for each in found.draws or (found.lineage,)])
    low, high = quantile_interval(running)
    own = np.quantile(running, 0.5, axis=0, method="nearest").astype(np.float64)
    top = float(max(number.max(initial=1), high.max(initial=1)))
    plot, times = svg.Plot(svg.across(float(rows.times[0]), float(rows.times[-1])), svg.upwards(0, top)), rows.times
    marks = [plot.band(times, low, high), plot.line(times, number, "ideal"), plot.line(times, own)]
    told = f"From {int(number[0])} to {int(number[-1])} cells; {int(own[-1])} divisions."
    return plot.chart(marks, told, (f"time ({rows.unit})", "cells; divisions so far"), (svg.whole, svg.whole))


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
