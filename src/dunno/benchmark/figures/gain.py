"""What leaving out uncertain links gains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dunno.benchmark.rows import Row, comparable, distinct, select
from dunno.benchmark.scenes import mean, standard_error
from dunno.benchmark.style import grid, label, legend, look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CRITERIA = {"gain_edge": "link's probability", "gain_entropy": "daughter's entropy"}
KINDS = {"none": "as tracked (not calibrated)", "temperature": "temperature scaling", "self": "self-calibrated"}


HATCHES = {"none": "", "temperature": "////", "self": "\\\\\\\\"}


class SparsificationGain:
    """Mean gain in accuracy over datasets and steps, by the link's probability and by the daughter's entropy."""

    name = "sparsification"
    order = 30
    title = "Sparsification: what leaving out the least certain links gains"

    def applies(self, rows: Sequence[Row]) -> bool:
        """Whether anything was measured."""
        return bool(select(rows))

    def draw(self, rows: Sequence[Row]) -> Figure:
        """A row of panels per criterion, a column per cost; bars per method, plain as tracked and hatched when calibrated."""
        rows = comparable(rows)
        costs, methods = distinct(rows, "cost"), distinct(rows, "method")
        figure, axes = grid(2, len(costs), sharey=True)
        for across, cost in enumerate(costs):
            for down, (column, words) in enumerate(CRITERIA.items()):
                ax = axes[down, across]
                _panel(ax, select(rows, cost=cost), methods, column)
                ax.set_title(f"{cost}, by the {words}", loc="left")
                ax.label_outer()
                if across == 0:
                    ax.set_ylabel("gain in accuracy")
        legend(figure, axes.flat)
        return figure

    def sentence(self, rows: Sequence[Row]) -> str:
        """What scaling changes, by either criterion."""
        rows = comparable(rows)
        told = []
        for column, words in CRITERIA.items():
            before, after = (mean(_values(select(rows, scaling=s), column)) for s in ("none", "temperature"))
            told.append(f"{100 * before:.2f} to {100 * after:.2f} by the {words}")
        return (
            "Temperature scaling takes the mean gain over everything measured, in per cent of links, from "
            f"{' and from '.join(told)}; the most that any order could gain is "
            f"{100 * mean(_values(select(rows, scaling='none'), 'oracle_gain')):.2f}."
        )


def _values(rows: Sequence[Row], column: str) -> list[float]:
    return [float(value) for row in rows if (value := getattr(row, column)) is not None]


def _panel(ax: Axes, rows: Sequence[Row], methods: Sequence[str], column: str) -> None:
    width = 0.8 / len(KINDS)
    for number, (scaling, words) in enumerate(KINDS.items()):
        for place, method in enumerate(methods):
            own = select(rows, method=method, scaling=scaling)
            values = _values(own, column)
            if not values:
                continue
            error, style = standard_error(values), look(label(own[0]))
            ax.bar(
                place + (number - 1) * width, mean(values), width * 0.9, yerr=None if error != error else error,
                error_kw={"elinewidth": 0.8},
                facecolor=style.colour if scaling == "none" else "white", edgecolor=style.colour,
                hatch=HATCHES[scaling], label=None,
            )  # fmt: skip
        ax.bar(
            [0], [float("nan")], facecolor={"none": "0.3"}.get(scaling, "white"),
            edgecolor="0.3", hatch=HATCHES[scaling], label=words,
        )  # fmt: skip
    ax.axhline(0, color="0.4", linewidth=0.8)
    ax.set_xticks(range(len(methods)), methods)
