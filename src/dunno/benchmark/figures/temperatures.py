"""Fitted temperatures against temporal resolution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dunno.benchmark.rows import Row, distinct, select
from dunno.benchmark.style import GREY, empty, grid, legend, look, nth, step_axis, steps_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


FEW = 3
"""So many points are drawn as points: quartiles of three mean nothing."""


class Temperatures:
    """T over datasets and sequences at each frame step, as boxes, or points where there are few: a panel per cost."""

    name = "temperatures"
    order = 20
    title = "Temperatures against temporal resolution"

    def applies(self, rows: Sequence[Row]) -> bool:
        """Whether a temperature was fitted."""
        return bool(_fitted(rows))

    def draw(self, rows: Sequence[Row]) -> Figure:
        """A box per method and step, its points where they are three or fewer; the dashed line is T = 1, no scaling."""
        fitted, steps = _fitted(rows), steps_of(select(rows))
        costs, methods = distinct(fitted, "cost"), distinct(fitted, "method")
        figure, axes = grid(1, len(costs), height=2.9, width=3.4)
        for ax, cost in zip(axes[0], costs, strict=True):
            _panel(ax, select(fitted, cost=cost), steps, methods)
            ax.set_title(cost, loc="left")
        axes[0, 0].set_ylabel("temperature T")
        legend(figure, axes.flat)
        return figure

    def sentence(self, rows: Sequence[Row]) -> str:
        """How the median moves, and what was left out."""
        fitted = _fitted(rows)
        steps = steps_of(fitted)
        told = []
        for cost in distinct(fitted, "cost"):
            first, last = (_median(select(fitted, cost=cost, step=step)) for step in (steps[0], steps[-1]))
            told.append(f"from {first} to {last} for {cost}")
        bound = len(select(rows, scaling="temperature", trusted=False))
        left_out = f" {bound} fits that ran into a bound of the search are left out." if bound else ""
        return (
            f"From {nth(steps[0])} to {nth(steps[-1])} the median temperature over methods and datasets goes "
            f"{', '.join(told)}.{left_out}"
        )


def _fitted(rows: Sequence[Row]) -> list[Row]:
    return select(rows, scaling="temperature", trusted=True)


def _values(rows: Sequence[Row]) -> list[float]:
    return [row.temperature for row in rows if row.temperature is not None]


def _median(rows: Sequence[Row]) -> str:
    values = _values(rows)
    return f"{np.median(values):.3g}" if values else "nothing"


def _panel(ax: Axes, rows: Sequence[Row], steps: Sequence[int], methods: Sequence[str]) -> None:
    if not rows:
        empty(ax)
        return
    width = 0.8 / len(methods)
    ax.axhline(1, color=GREY, linestyle="--", linewidth=1)
    for number, method in enumerate(methods):
        places = [i + (number - (len(methods) - 1) / 2) * width for i in range(len(steps))]
        values = [_values(select(rows, method=method, step=step)) for step in steps]
        groups = list(zip(places, values, strict=True))
        _points(ax, [group for group in groups if len(group[1]) <= FEW], method)
        _boxes(ax, [group for group in groups if len(group[1]) > FEW], method, width)
    ax.set_yscale("log")
    step_axis(ax, steps)


Groups = Sequence[tuple[float, list[float]]]


def _points(ax: Axes, groups: Groups, method: str) -> None:
    """Few temperatures, as they are; also what stands in the legend."""
    x, y = [place for place, values in groups for _ in values], [value for _, values in groups for value in values]
    style = look(method)
    ax.plot(x, y, linestyle="", marker=style.marker, markersize=4, color=style.colour, label=method)


def _boxes(ax: Axes, groups: Groups, method: str, width: float) -> None:
    if not groups:
        return
    style = look(method)
    ax.boxplot(
        [values for _, values in groups], positions=[place for place, _ in groups], widths=width * 0.8,
        manage_ticks=False, patch_artist=True, showfliers=True,
        boxprops={"facecolor": style.colour, "alpha": 0.45, "hatch": style.hatch, "edgecolor": style.colour},
        medianprops={"color": style.colour, "linewidth": 2}, whiskerprops={"color": style.colour},
        capprops={"color": style.colour}, flierprops={"marker": style.marker, "markersize": 3, "color": style.colour},
    )  # fmt: skip
