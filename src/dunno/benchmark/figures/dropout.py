"""The transformer's dropout rate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dunno.benchmark.rows import Row, distinct, select
from dunno.benchmark.scenes import dataset_means, mean, standard_error
from dunno.benchmark.style import SCALINGS, empty, grid, look, scaling_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SCORES = {
    "ece": "ECE of links",
    "gain_edge": "gain by probability",
    "gain_entropy": "gain by entropy",
}


class DropoutRates:
    """Calibration error and sparsification gain at several dropout rates, means over datasets and steps."""

    name = "dropout"
    order = 80
    title = "Dropout rates of the transformer"

    def applies(self, rows: Sequence[Row]) -> bool:
        """Whether several rates were tried."""
        return len(distinct(_rated(rows), "dropout")) > 1

    def draw(self, rows: Sequence[Row]) -> Figure:
        """A row of panels per score, a column per method; a line per scaling."""
        rated = _rated(rows)
        rates, methods = sorted(distinct(rated, "dropout")), distinct(rated, "method")
        figure, axes = grid(len(SCORES), len(methods), width=1.8, height=1.7, sharex=True, sharey="row")
        for down, (column, words) in enumerate(SCORES.items()):
            for across, method in enumerate(methods):
                ax = axes[down, across]
                _panel(ax, select(rated, method=method), rates, column)
                ax.set_xticks(range(len(rates)), [f"{rate:g}" for rate in rates])
                if down == 0:
                    ax.set_title(method, loc="left")
                if down == len(SCORES) - 1:
                    ax.set_xlabel("dropout rate")
                if across == 0:
                    ax.set_ylabel(words)
        scaling_legend(figure, axes[0, 0], distinct(rated, "scaling"))
        return figure

    def sentence(self, rows: Sequence[Row]) -> str:
        """From the lowest rate to the highest."""
        rated = _rated(rows)
        rates = sorted(distinct(rated, "dropout"))
        first, last = (mean(dataset_means(select(rated, dropout=rate), "ece")) for rate in (rates[0], rates[-1]))
        return f"From a rate of {rates[0]:g} to {rates[-1]:g} the mean calibration error goes from {first:.3f} to {last:.3f}."


def _rated(rows: Sequence[Row]) -> list[Row]:
    return [row for row in select(rows) if row.dropout is not None]


def _panel(ax: Axes, rows: Sequence[Row], rates: Sequence[float], column: str) -> None:
    if not rows:
        empty(ax)
    for scaling, line in SCALINGS.items():
        values = [dataset_means(select(rows, scaling=scaling, dropout=rate), column) for rate in rates]
        there = [(i, mean(each), standard_error(each)) for i, each in enumerate(values) if each]
        if there:
            x, y, error = zip(*there, strict=True)
            style = look(rows[0].method)
            colour = "0.45" if scaling == "none" else style.colour
            ax.errorbar(
                x, y, [0 if e != e else e for e in error], color=colour,
                marker=style.marker, linestyle=line, elinewidth=0.8, markersize=4,
            )  # fmt: skip
