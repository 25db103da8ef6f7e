"""Calibration curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dunno.benchmark.rows import Row, distinct, select
from dunno.benchmark.style import GREY, empty, grid, label, legend, look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = {
    "as tracked (not calibrated)": ("none",),
    "with truth": ("temperature", "events"),
    "self, without truth": ("self",),
}
ENOUGH = 10


class CalibrationCurves:
    """Share of links that is right against their confidence, for every dataset, pooled over costs, steps and sequences."""

    name = "calibration_curves"
    order = 70
    title = "Calibration curves per dataset"

    def applies(self, rows: Sequence[Row]) -> bool:
        """Whether there are curves."""
        return any(row.curves for row in select(rows))

    def draw(self, rows: Sequence[Row]) -> Figure:
        """A row of panels per dataset; on the diagonal, confidence is true."""
        rows = [row for row in select(rows) if row.curves]
        datasets = distinct(rows, "dataset")
        figure, axes = grid(len(datasets), len(COLUMNS), width=2.9, height=2.6, sharex=True, sharey=True)
        for down, dataset in enumerate(datasets):
            for across, (words, scalings) in enumerate(COLUMNS.items()):
                ax = axes[down, across]
                _panel(ax, select(rows, dataset=dataset, scaling=scalings))
                ax.set_title(f"{dataset}, {words}", loc="left", fontsize=8.5)
                ax.label_outer()
                if down == len(datasets) - 1:
                    ax.set_xlabel("confidence")
                if across == 0:
                    ax.set_ylabel("links that are right")
        axes[0, 0].set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        legend(figure, axes.flat)
        return figure

    def sentence(self, rows: Sequence[Row]) -> str:
        """On which side of the diagonal."""
        told = []
        for words, scalings in COLUMNS.items():
            own = select(rows, scaling=scalings)
            over = [row for row in own if (row.confidence or 0) > (row.accuracy or 0)]
            if own:
                told.append(f"{words} in {len(over)} of {len(own)}")
        return (
            f"Of the rows of the table, links are on average more confident than right: {'; '.join(told)}. "
            f"Bins with fewer than {ENOUGH} links are not drawn."
        )


def pooled(rows: Sequence[Row]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(B,) links, mean confidence and accuracy of every bin, over all rows."""
    count = np.array([row.curves["calibration"]["count"] for row in rows], dtype=float)
    confidence, accuracy = (
        np.nansum(count * np.array([row.curves["calibration"][name] for row in rows], dtype=float), axis=0)
        for name in ("confidence", "accuracy")
    )
    total = count.sum(axis=0)
    with np.errstate(invalid="ignore"):
        return total, confidence / total, accuracy / total


def _panel(ax: Axes, rows: Sequence[Row]) -> None:
    if not rows:
        empty(ax)
        return
    ax.plot([0, 1], [0, 1], color=GREY, linestyle="--", linewidth=1)
    for name in dict.fromkeys(map(label, rows)):
        count, confidence, accuracy = pooled([row for row in rows if label(row) == name])
        enough, style = count >= ENOUGH, look(name.removesuffix(" self"))
        ax.plot(
            confidence[enough], accuracy[enough], color=style.colour, marker=style.marker, markersize=4, linewidth=1,
            label=name.removesuffix("+TS").removesuffix(" self"),
        )  # fmt: skip
