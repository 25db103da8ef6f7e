"""Draws `mask-quality.png` from `mask-quality.csv`.

That is made by `python -m benchmarks.mask_quality -o docs/figures/mask-quality.csv`.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes

HERE = Path(__file__).parent
COLOURS = {"judged": "#0072B2", "as they are": "#D55E00"}
MARKERS = {"judged": "o", "as they are": "s"}

Row = dict[str, str]


def draw(ax: Axes, rows: list[Row], title: str, value: Callable[[Row], float]) -> None:
    """A line per way through the means of all seeds, which are dots."""
    for way, colour in COLOURS.items():
        by_share: dict[float, list[float]] = defaultdict(list)
        for row in rows:
            if row["way"] == way:
                by_share[400 * float(row["share"])].append(value(row))
        shares = sorted(by_share)
        ax.plot(shares, [np.mean(by_share[x]) for x in shares], color=colour, marker=MARKERS[way], label=way)
        for x in shares:
            ax.plot([x] * len(by_share[x]), by_share[x], ".", color=colour, alpha=0.5, markersize=5)
    ax.set_title(title, fontsize=10)
    ax.set_xlabel("spoiled masks, % (four kinds alike)")
    ax.grid(alpha=0.3)


def main() -> None:
    """Three panels."""
    with (HERE / "mask-quality.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), constrained_layout=True)
    draw(axes[0], rows, "daughters decided right", lambda row: float(row["daughters_right"]))
    draw(axes[1], rows, "divisions, F1 within 5 frames", lambda row: float(row["divisions_f1"]))
    draw(
        axes[2],
        rows,
        "Σ P(divide) / true divisions",
        lambda row: float(row["divisions_expected"]) / float(row["divisions_true"]),
    )
    axes[2].axhline(1.0, color="0.5", linestyle="--", linewidth=1)
    axes[0].legend(title="masks", fontsize=9)
    figure.savefig(HERE / "mask-quality.png", dpi=130)


if __name__ == "__main__":
    main()
