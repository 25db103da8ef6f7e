"""Sparsification in detail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dunno.benchmark.rows import Row, comparable, distinct, select
from dunno.benchmark.style import SCALINGS, empty, grid, label, look, nth, scaling_legend, steps_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CRITERIA = {"edge": "probability", "entropy": "entropy"}


class SparsificationCurves:
    """Mean accuracy over datasets and costs of the links that remain: a panel per method, step and criterion."""

    name = "sparsification_curves"
    order = 40
    title = "Sparsification in detail"

    def applies(self, rows: Sequence[Row]) -> bool:
        """Whether there are curves."""
        return bool(_drawn(rows))

    def draw(self, rows: Sequence[Row]) -> Figure:
        """A row of panels per method, a column per step and criterion; a line per scaling."""
        rows = _drawn(rows)
        methods, steps = distinct(rows, "method"), steps_of(rows)
        columns = [(step, by) for step in steps for by in CRITERIA]
        figure, axes = grid(len(methods), len(columns), width=1.7, height=1.35, sharex=True, sharey="col")
        for down, method in enumerate(methods):
            for across, (step, by) in enumerate(columns):
                ax = axes[down, across]
                _panel(ax, select(rows, step=step, method=method), by)
                if down == 0:
                    ax.set_title(f"{nth(step)},\nby {CRITERIA[by]}", loc="left", fontsize=8.5)
                if across == 0:
                    ax.set_ylabel(f"{method}\nremaining right", fontsize=8)
                if down == len(methods) - 1:
                    ax.set_xlabel("share removed")
        scaling_legend(figure, axes[0, 0], distinct(rows, "scaling"))
        return figure

    def sentence(self, rows: Sequence[Row]) -> str:
        """What removing a fifth does at the coarsest step."""
        rows = _drawn(rows)
        step = steps_of(rows)[-1]
        gains = {}
        for cost in distinct(rows, "cost"):
            own = select(rows, step=step, cost=cost)
            for name in dict.fromkeys(label(row) for row in own):
                curve = _mean_curve([row for row in own if label(row) == name], "edge")
                gains[f"{name} with {cost}"] = curve[len(curve) // 5] - curve[0]
        best = max(gains, key=lambda name: gains[name])
        return (
            f"Means over datasets and costs. At {nth(step)}, leaving out the fifth of the links with the lowest probability raises "
            f"the accuracy of the rest the most for {best}: by {100 * gains[best]:.1f} percentage points in the mean over datasets."
        )


def _drawn(rows: Sequence[Row]) -> list[Row]:
    return [row for row in comparable(rows) if row.curves and row.scaling in SCALINGS]


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
    for scaling, line in SCALINGS.items():
        own = select(rows, scaling=scaling)
        if own:
            x = own[0].curves["sparsification"]["removed"]
            colour = "0.45" if scaling == "none" else look(own[0].method).colour
            ax.plot(x, _mean_curve(own, by), color=colour, linestyle=line, linewidth=1.3)
