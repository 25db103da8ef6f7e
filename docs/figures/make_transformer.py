"""Draws `transformer.png` from `transformer.csv`, made by `python -m benchmarks.transformer -o docs/figures/transformer.csv`."""

from __future__ import annotations

import csv
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

HERE = Path(__file__).parent
METHODS = ("SM", "FP", "FP+A", "AS", "JP")
RATES = ("0.125", "0.25", "0.5")
DISTANCE, TRANSFORMER = "#767676", "#0072B2"
COLOURS = {"FP": "#D55E00", "FP+A": "#009E73"}  # apart for colour-blind eyes too

Rows = dict[tuple[str, str, str], dict[str, str]]


def read(path: Path) -> Rows:
    """The table's rows by tracker, step and method; a row that was measured again counts."""
    with path.open(newline="") as file:
        return {(row["tracker"], row["every"], row["method"]): row for row in csv.DictReader(file)}


def value(rows: Rows, tracker: str, step: str, method: str, what: str) -> float:
    """A cell; NaN where it was not measured."""
    return float(rows.get((tracker, step, method), {}).get(what) or "nan")


def draw_methods(ax: Axes, rows: Rows, step: str, rate: str) -> None:
    """Calibration error of every method, by both trackers, plain (hollow) and temperature-scaled (filled)."""
    for tracker, colour, shift in (("distance", DISTANCE, -0.12), (f"transformer {rate}", TRANSFORMER, 0.12)):
        for suffix, filled in (("", False), ("+TS", True)):
            x = [place + shift for place in range(len(METHODS))]
            y = [value(rows, tracker, step, method + suffix, "ece") for method in METHODS]
            ax.plot(x, y, "o", color=colour, markerfacecolor=colour if filled else "white", markersize=6)
    ax.set_xticks(range(len(METHODS)), METHODS)
    ax.set(title=f"every {step}", ylim=(0, None))
    ax.grid(axis="y", color="0.92")


def is_measured(rows: Rows, step: str) -> bool:
    """Whether there are at least two dropout rates to compare."""
    return sum((f"transformer {rate}", step, "FP") in rows for rate in RATES) > 1


def draw_rates(ax: Axes, rows: Rows, step: str, what: str) -> None:
    """A score over dropout rates, for the methods that use dropout; dashed without temperature, solid with."""
    for method, colour in COLOURS.items():
        for suffix, style in (("", "o--"), ("+TS", "o-")):
            y = [value(rows, f"transformer {rate}", step, method + suffix, what) for rate in RATES]
            ax.plot(range(len(RATES)), y, style, color=colour, markersize=4)
    ax.set_xticks(range(len(RATES)), RATES)
    ax.grid(axis="y", color="0.92")


def print_table(rows: Rows, trackers: tuple[str, ...], methods: tuple[str, ...]) -> None:
    """A table for docs/transformer.md; of scores that a temperature changes: without / from HeLa 01 / cross-fitted."""
    scores = "right | found | ECE: none / +TS / ×TS | −log P: none / +TS / ×TS | gain by edge, entropy | T: +TS / ×TS"
    print(f"\n| every | tracker | method | {scores} |")
    print("|---" * 9 + "|")
    for step in ("1", "10", "30"):
        for tracker in trackers:
            for method in methods:
                if (tracker, step, method) not in rows:
                    continue
                one = {
                    name: f"{value(rows, tracker, step, method, name):.3f}" for name in ("links_right", "links_found")
                }
                ece, nll = (triple(rows, tracker, step, method, name) for name in ("ece", "nll"))
                gains = ", ".join(
                    f"{value(rows, tracker, step, method, f'gain_{by}'):.3f}" for by in ("edge", "entropy")
                )
                found = [f"{value(rows, tracker, step, method + each, 'temperature'):.3g}" for each in ("+TS", "×TS")]
                temperature = " / ".join(found).replace("nan", "–")
                cells = (step, tracker, method, one["links_right"], one["links_found"], ece, nll, gains, temperature)
                print("| " + " | ".join(cells) + " |")


def triple(rows: Rows, tracker: str, step: str, method: str, what: str) -> str:
    """A score without a temperature, with that of HeLa 01, with the cross-fitted one."""
    found = (value(rows, tracker, step, method + suffix, what) for suffix in ("", "+TS", "×TS"))
    return " / ".join("–" if each != each else f"{each:.3f}" if each < 0.1 else f"{each:.2f}" for each in found)


def main() -> None:
    """Draw all panels, and print the tables."""
    rows = read(HERE / "transformer.csv")
    print_table(rows, ("distance", "transformer 0.25"), (*METHODS, "JP truth", "JP self"))
    print_table(rows, tuple(f"transformer {rate}" for rate in RATES), ("SM", "FP", "FP+A", "JP truth"))
    steps = [step for step in ("1", "10", "30") if any(key[1] == step for key in rows)]
    plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False})
    figure, axes = plt.subplots(3, len(steps), figsize=(3.5 * len(steps), 8.6), layout="constrained", squeeze=False)
    for column, step in enumerate(steps):
        draw_methods(axes[0, column], rows, step, "0.25")
        for row, (what, title) in enumerate(
            (("ece", "calibration error (ECE)"), ("gain_edge", "sparsification gain")), 1
        ):
            if is_measured(rows, step):
                draw_rates(axes[row, column], rows, step, what)
                axes[row, column].set(xlabel="dropout rate", ylabel=title)
            else:
                axes[row, column].set_axis_off()
    axes[0, 0].set_ylabel("calibration error (ECE)")
    dots = {"color": "w", "marker": "o", "markersize": 7}
    figure.legend(
        loc="outside upper center",
        ncols=4,
        handles=[
            Line2D([], [], **dots, markeredgecolor=DISTANCE, markerfacecolor="w", label="distance, not calibrated"),
            Line2D([], [], **dots, markerfacecolor=DISTANCE, label="distance + TS"),
            Line2D(
                [], [], **dots, markeredgecolor=TRANSFORMER, markerfacecolor="w", label="transformer, not calibrated"
            ),
            Line2D([], [], **dots, markerfacecolor=TRANSFORMER, label="transformer + TS"),
        ],
        fontsize=8,
        frameon=False,
    )
    lines = [Line2D([], [], color=colour, label=f"{m} + TS") for m, colour in COLOURS.items()]
    lines += [
        Line2D([], [], color=colour, linestyle="--", label=f"{m}, not calibrated") for m, colour in COLOURS.items()
    ]
    figure.legend(loc="outside lower center", ncols=4, handles=lines, fontsize=8, frameon=False)
    figure.savefig(HERE / "transformer.png", dpi=130)


if __name__ == "__main__":
    main()
