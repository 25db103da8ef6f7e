"""Temperature against the motion that it should be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dunno.benchmark.rows import Row, distinct, select
from dunno.benchmark.style import DATASET_MARKERS, GREY, grid, legend, steps_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = ("#000000", "#0072B2", "#D55E00", "#009E73", "#E69F00", "#56B4E9", "#CC79A7", "#8C6D1F")


class TemperatureAndMotion:
    """T of SM with the distance cost against the mean squared displacement per dimension, on logarithmic axes."""

    name = "motion"
    order = 60
    title = "Temperature against mean squared displacement"

    def applies(self, rows: Sequence[Row]) -> bool:
        """Whether a temperature was fitted for the distance cost."""
        return bool(_points(rows))

    def draw(self, rows: Sequence[Row]) -> Figure:
        """A marker per dataset, with its frame step beside it; on the diagonal T = MSD/d."""
        points = _points(rows)
        figure, axes = grid(1, 1, width=4.8, height=4.0)
        ax = axes[0, 0]
        x, y = np.array([motion_of(row) for row in points]), np.array([row.temperature for row in points])
        ends = np.array([min(x.min(), y.min()) / 2, max(x.max(), y.max()) * 2])
        ax.plot(ends, ends, color=GREY, linestyle="--", linewidth=1, label="T = MSD/d")
        for number, dataset in enumerate(distinct(points, "dataset")):
            own = [i for i, row in enumerate(points) if row.dataset == dataset]
            colour, marker = COLOURS[number % len(COLOURS)], DATASET_MARKERS[number % len(DATASET_MARKERS)]
            ax.plot(x[own], y[own], linestyle="", marker=marker, color=colour, label=dataset)
            for i in own:
                ax.annotate(f"{points[i].step}", (x[i], y[i]), (6, -3), textcoords="offset points", fontsize=8)
        ax.set(xscale="log", yscale="log", xlim=ends, ylim=ends)
        ax.set(xlabel="mean squared displacement per dimension", ylabel="temperature T of SM")
        legend(figure, axes.flat)
        return figure

    def sentence(self, rows: Sequence[Row]) -> str:
        """How far from the diagonal, and how correlated."""
        points = _points(rows)
        logs = np.log2([(motion_of(row), row.temperature or np.nan) for row in points])
        ratio = logs[:, 1] - logs[:, 0]
        near = int((np.abs(ratio) <= 1).sum())
        correlated = ""
        if len(points) > 2:
            correlated = f"; the correlation of their logarithms is {np.corrcoef(logs.T)[0, 1]:.2f}"
        steps = ", ".join(map(str, steps_of(points)))
        return (
            f"T is {2 ** float(np.median(ratio)):.2g} times MSD/d in the median, and within a factor of two of it in {near} of "
            f"{len(points)} fits (distance cost, SM, every {steps}){correlated}. Numbers beside markers are frame steps."
        )


def motion_of(row: Row) -> float:
    """Mean squared displacement per dimension."""
    assert row.mean_squared_displacement is not None and row.dimensions is not None
    return row.mean_squared_displacement / row.dimensions


def _points(rows: Sequence[Row]) -> list[Row]:
    """One per dataset and step: what they were calibrated on is the same for all its sequences."""
    fitted = select(rows, cost="distance", method="SM", scaling="temperature", trusted=True)
    return list({(row.dataset, row.step): row for row in fitted if row.mean_squared_displacement}.values())
