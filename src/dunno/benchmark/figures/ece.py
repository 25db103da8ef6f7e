"""Calibration error against temporal resolution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dunno.benchmark.rows import Row, distinct, select
from dunno.benchmark.scenes import dataset_means, mean, standard_error
from dunno.benchmark.style import grid, label, legend, look, nth, step_axis, steps_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANELS = (("none",), ("temperature", "self", "events"))
TITLES = ("as tracked (not calibrated)", "calibrated")


class CalibrationError:
    """Mean ECE over datasets, with its standard error, at each frame step: a column of panels per cost."""

    name = "ece"
    order = 10
    title = "Calibration error against temporal resolution"

    def applies(self, rows: Sequence[Row]) -> bool:
        """Whether anything was measured."""
        return bool(select(rows))

    def draw(self, rows: Sequence[Row]) -> Figure:
        """A row of panels as tracked, and one calibrated."""
        rows = select(rows)
        costs, steps = distinct(rows, "cost"), steps_of(rows)
        figure, axes = grid(2, len(costs), sharey=True)
        for across, cost in enumerate(costs):
            for down, scalings in enumerate(PANELS):
                ax = axes[down, across]
                _panel(ax, select(rows, cost=cost, scaling=scalings), steps)
                ax.set_title(f"{cost}, {TITLES[down]}", loc="left")
                ax.label_outer()
                if across == 0:
                    ax.set_ylabel("ECE of links")
        axes[0, 0].set_ylim(bottom=0)
        legend(figure, axes.flat)
        return figure

    def sentence(self, rows: Sequence[Row]) -> str:
        """How far it rises, without and with scaling, and who is lowest in the end."""
        rows = select(rows)
        steps = steps_of(rows)
        ends = (steps[0], steps[-1])
        before, after = (
            [mean(dataset_means(select(rows, step=step, scaling=scaling), "ece")) for step in ends]
            for scaling in ("none", "temperature")
        )
        last = select(rows, step=steps[-1])
        means = {name: mean(dataset_means(each, "ece")) for name, each in _series(last).items()}
        best = min(means, key=lambda name: means[name])
        return (
            f"From {nth(ends[0])} to {nth(ends[1])}, the mean calibration error over datasets, costs and methods goes from "
            f"{before[0]:.3f} to {before[1]:.3f} as tracked, and from {after[0]:.3f} to {after[1]:.3f} with temperature scaling; "
            f"the lowest at {nth(ends[1])} is {best}'s ({means[best]:.3f})."
        )


def _series(rows: Sequence[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(label(row), []).append(row)
    return found


def _panel(ax: Axes, rows: Sequence[Row], steps: Sequence[int]) -> None:
    series = _series(rows)
    for number, (name, own) in enumerate(series.items()):
        shift = (number - (len(series) - 1) / 2) * 0.06
        points = [(i, dataset_means(select(own, step=step), "ece")) for i, step in enumerate(steps)]
        there = [(i + shift, mean(values), standard_error(values)) for i, values in points if values]
        x, y, error = zip(*there, strict=True)
        style = look(name)
        size = 8 if style.marker == "*" else 5
        ax.errorbar(
            x, y, [0 if e != e else e for e in error], label=name, color=style.colour, marker=style.marker, markersize=size,
            linewidth=1.3, elinewidth=0.8,
        )  # fmt: skip
    step_axis(ax, steps)
