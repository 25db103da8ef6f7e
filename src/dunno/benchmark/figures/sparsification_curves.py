"""Sparsification in detail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dunno.benchmark.rows import Row, comparable, distinct, select
from dunno.benchmark.style import empty, grid, label, legend, look, nth, steps_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CRITERIA = {"edge": "probability", "entropy": "entropy"}
LINES = {"none": ":", "temperature": "-", "self": "-"}


class SparsificationCurves:
    """Mean accuracy over datasets of the links that remain, at every step, for every cost and either criterion."""

    name = "sparsification_curves"
    order = 40
    title = "Sparsification in detail"

    def applies(self, rows: Sequence[Row]) -> bool:
        """Whether there are curves."""
        return bool(_drawn(rows))

    def draw(self, rows: Sequence[Row]) -> Figure:
        """A row of panels per step; dotted as tracked, solid when scaled."""
        rows = _drawn(rows)
        costs, steps = distinct(rows, "cost"), steps_of(rows)
        columns = [(cost, by) for cost in costs for by in CRITERIA]
        figure, axes = grid(len(steps), len(columns), width=2.0, height=1.8, sharex=True, sharey="row")
        for down, step in enumerate(steps):
            for across, (cost, by) in enumerate(columns):
                ax = axes[down, across]
                _panel(ax, select(rows, step=step, cost=cost), by)
                if down == 0:
                    ax.set_title(f"{cost},\nby {CRITERIA[by]}", loc="left")
                if across == 0:
                    ax.set_ylabel(f"{nth(step)}\nremaining right")
                if down == len(steps) - 1:
                    ax.set_xlabel("share removed")
        legend(figure, axes.flat)
        return figure

    def sentence(self, rows: Sequence[Row]) -> str:
        """What removing a fifth does at the coarsest step."""
        rows = _drawn(rows)
        step = steps_of(rows)[-1]
        gains = {}
        for cost in distinct(rows, "cost"):
            own = select(rows, step=step, cost=cost)
            for name in distinct_labels(own):
                curve = _mean_curve([row for row in own if label(row) == name], "edge")
                gains[f"{name} with {cost}"] = curve[len(curve) // 5] - curve[0]
        best = max(gains, key=lambda name: gains[name])
        return (
            f"At {nth(step)}, leaving out the fifth of the links with the lowest probability raises the accuracy of the rest "
            f"the most for {best}: by {100 * gains[best]:.1f} percentage points in the mean over datasets."
        )


def distinct_labels(rows: Sequence[Row]) -> list[str]:
    """The labels of rows, in order."""
    return list(dict.fromkeys(label(row) for row in rows))


def _drawn(rows: Sequence[Row]) -> list[Row]:
    return [row for row in comparable(rows) if row.curves and row.scaling in LINES]


def _mean_curve(rows: Sequence[Row], by: str) -> np.ndarray:
    """(S,) accuracy of what remains: the mean over datasets of that over sequences and costs."""
    own = [
        np.mean([row.curves["sparsification"][by] for row in rows if row.dataset == dataset], axis=0)
        for dataset in distinct(rows, "dataset")
    ]
    return np.asarray(np.mean(own, axis=0))


def _panel(ax: Axes, rows: Sequence[Row], by: str) -> None:
    if not rows:
        empty(ax)
    for number, name in enumerate(distinct_labels(rows)):
        own = [row for row in rows if label(row) == name]
        style = look(name)
        x = own[0].curves["sparsification"]["removed"]
        line = LINES[own[0].scaling]
        ax.plot(
            x, _mean_curve(own, by), color=style.colour, linestyle=line, linewidth=1.2, label=name,
            marker=style.marker, markersize=3.5, markevery=(number % 6, 6),
        )  # fmt: skip
