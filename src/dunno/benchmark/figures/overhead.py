"""What uncertainty costs in computing time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dunno.benchmark.rows import Row, distinct, select
from dunno.benchmark.scenes import mean, standard_error
from dunno.benchmark.style import grid, label, look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHOWN = ("none", "self")


class Overhead:
    """CPU time of tracking over that of SM, the mean over datasets and steps: a panel per cost."""

    name = "overhead"
    order = 50
    title = "Run-time overhead over SM"

    def applies(self, rows: Sequence[Row]) -> bool:
        """Whether another method than SM was timed."""
        return any(row.method != "SM" for row in _timed(rows))

    def draw(self, rows: Sequence[Row]) -> Figure:
        """Bars with their values on a logarithmic axis."""
        rows = _timed(rows)
        costs = distinct(rows, "cost")
        figure, axes = grid(1, len(costs), height=2.7, sharey=True)
        for ax, cost in zip(axes[0], costs, strict=True):
            _panel(ax, select(rows, cost=cost))
            ax.set_title(cost, loc="left")
        axes[0, 0].set_ylabel("CPU time over SM's")
        return figure

    def sentence(self, rows: Sequence[Row]) -> str:
        """Each method's mean over everything."""
        rows = _timed(rows)
        names = [name for name in dict.fromkeys(map(label, rows)) if name != "SM"]
        told = [f"{name} {mean(_values([row for row in rows if label(row) == name])):.1f}" for name in names]
        return f"Times as long as SM, in the mean over datasets, costs and steps: {', '.join(told)}."


def _timed(rows: Sequence[Row]) -> list[Row]:
    return [row for row in select(rows, scaling=SHOWN) if row.overhead is not None]


def _values(rows: Sequence[Row]) -> list[float]:
    return [row.overhead for row in rows if row.overhead is not None]


def _panel(ax: Axes, rows: Sequence[Row]) -> None:
    names = list(dict.fromkeys(map(label, rows)))
    for place, name in enumerate(names):
        values, style = _values([row for row in rows if label(row) == name]), look(name)
        height, error = mean(values), standard_error(values)
        error = 0.0 if np.isnan(error) else error
        ax.bar(place, height, 0.75, color=style.colour, hatch=style.hatch, edgecolor="white", linewidth=0)
        ax.errorbar(place, height, error, color="0.2", linewidth=1)
        ax.annotate(
            f"{height:.1f}×", (place, height + error), (0, 2), textcoords="offset points", ha="center", fontsize=8
        )
    ax.set_yscale("log")
    ax.axhline(1, color="0.4", linewidth=0.8)
    ax.set_xticks(range(len(names)), [name.replace(" ", "\n") for name in names], fontsize=7)
