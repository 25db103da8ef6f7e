"""Calibration error against temporal resolution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dunno.benchmark.rows import Row, comparable, distinct, select
from dunno.benchmark.scenes import dataset_means, mean, standard_error
from dunno.benchmark.style import grid, label, legend, look, nth, step_axis, steps_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANELS = (("none",), ("temperature", "events"), ("self",))
WORDS = {"none": "as tracked", "temperature": "with temperature scaling", "self": "self-calibrated without truth"}
TITLES = ("as tracked (not calibrated)", "with truth (+TS)", "self, without truth")


class CalibrationError:
    """Mean ECE over datasets that could be calibrated, with its standard error, at each frame step: a column per cost."""

    name = "ece"
    order = 10
    title = "Calibration error against temporal resolution"

    def applies(self, rows: Sequence[Row]) -> bool:
        """Whether anything was measured."""
        return bool(select(rows))

    def draw(self, rows: Sequence[Row]) -> Figure:
        """A row of panels as tracked, one calibrated with truth, and one without."""
        rows = comparable(rows)
        costs, steps = distinct(rows, "cost"), steps_of(rows)
        figure, axes = grid(len(PANELS), len(costs), sharey=True)
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
        rows = comparable(rows)
        steps = steps_of(rows)
        ends = (steps[0], steps[-1])
        means = {name: [_mean(select(rows, step=step, scaling=name)) for step in ends] for name in WORDS}
        told = [f"from {low:.3f} to {high:.3f} {WORDS[name]}" for name, (low, high) in means.items() if low == low]
        last = select(rows, step=steps[-1])
        by_cost = {cost: _series(select(last, cost=cost)) for cost in distinct(last, "cost")}
        lowest = {f"{name} with {cost}": _mean(own) for cost, each in by_cost.items() for name, own in each.items()}
        best = min(lowest, key=lambda name: lowest[name])
        return (
            f"From {nth(ends[0])} to {nth(ends[1])}, the mean calibration error over datasets, costs and methods goes "
            f"{', and '.join(told)}; the lowest at {nth(ends[1])} is {lowest[best]:.3f} ({best})."
        )


def _mean(rows: Sequence[Row]) -> float:
    return mean(dataset_means(rows, "ece"))


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
        style = look(name.removesuffix(" self"))
        size = 8 if style.marker == "*" else 5
        ax.errorbar(
            x, y, [0 if e != e else e for e in error], label=name.removesuffix("+TS").removesuffix(" self"), color=style.colour,
            marker=style.marker, markersize=size, linewidth=1.3, elinewidth=0.8,
        )  # fmt: skip
    step_axis(ax, steps)
