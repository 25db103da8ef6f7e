"""The transformer's dropout rate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dunno.benchmark.rows import Row, distinct, select
from dunno.benchmark.scenes import dataset_means, mean, standard_error
from dunno.benchmark.style import grid, label, legend, look

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PANELS = {
    "ece": "ECE of links",
    "gain_edge": "gain by the link's probability",
    "gain_entropy": "gain by the daughter's entropy",
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
        """A panel per score, a line per method; dashed when scaled."""
        rated = _rated(rows)
        rates = sorted(distinct(rated, "dropout"))
        figure, axes = grid(1, len(PANELS))
        for ax, (column, words) in zip(axes[0], PANELS.items(), strict=True):
            for name in dict.fromkeys(map(label, rated)):
                own = [[row for row in rated if label(row) == name and row.dropout == rate] for rate in rates]
                values = [dataset_means(each, column) for each in own]
                errors = [0 if (e := standard_error(each)) != e else e for each in values]
                style, line = look(name), "--" if name.endswith("+TS") else "-"
                ax.errorbar(
                    range(len(rates)), list(map(mean, values)), errors, label=name, color=style.colour, marker=style.marker,
                    linestyle=line, elinewidth=0.8, markersize=5,
                )  # fmt: skip
            ax.set_xticks(range(len(rates)), [f"{rate:g}" for rate in rates])
            ax.set(xlabel="dropout rate", ylabel=words)
        legend(figure, axes.flat)
        return figure

    def sentence(self, rows: Sequence[Row]) -> str:
        """From the lowest rate to the highest."""
        rated = _rated(rows)
        rates = sorted(distinct(rated, "dropout"))
        first, last = (mean(dataset_means(select(rated, dropout=rate), "ece")) for rate in (rates[0], rates[-1]))
        return f"From a rate of {rates[0]:g} to {rates[-1]:g} the mean calibration error goes from {first:.3f} to {last:.3f}."


def _rated(rows: Sequence[Row]) -> list[Row]:
    return [row for row in select(rows) if row.dropout is not None]
