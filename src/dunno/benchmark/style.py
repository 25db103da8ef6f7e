"""How figures look: one colour, marker and hatch per method, the same everywhere, and told apart without colour too."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dunno.benchmark.rows import Row, distinct
from dunno.errors import MissingExtra

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SETTINGS: dict[str, Any] = {
    "font.size": 9,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Arial"],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 9.5,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": "0.9",
    "axes.axisbelow": True,
    "legend.frameon": False,
    "hatch.linewidth": 0.6,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "svg.fonttype": "none",  # letters stay letters: smaller, and can be searched
    "svg.hashsalt": "dunno",  # the same figure is the same file
}
SCALINGS = {"none": ":", "temperature": "-", "self": "--", "events": "-."}
"""How lines are drawn where panels are methods: as tracked, with truth, without."""

SCALING_WORDS = {
    "none": "as tracked (not calibrated)",
    "temperature": "temperature with truth (+TS)",
    "self": "self, without truth",
    "events": "model with truth",
}
DOTS_PER_INCH = 130
GREY = "0.55"
SELF = "JP self"
SCALED = {"none": "", "temperature": "+TS", "self": " self", "events": " truth"}


@dataclass(frozen=True)
class Look:
    """Of a method."""

    colour: str
    marker: str
    hatch: str


LOOKS = {  # the colours of Okabe and Ito, which colour-blind people tell apart
    "SM": Look("#000000", "o", ""),
    "FP": Look("#E69F00", "s", "//"),
    "FP+A": Look("#D55E00", "D", "\\\\"),
    "AS": Look("#0072B2", "^", ".."),
    "MC": Look("#56B4E9", "v", "xx"),
    "JP": Look("#009E73", "P", "--"),
    "JP self": Look("#CC79A7", "*", "++"),
    "JP truth": Look("#8C6D1F", "X", "oo"),
}
OTHER = Look("0.5", "h", "||")
DATASET_MARKERS = "osD^vP*X"


def look(name: str) -> Look:
    """How a method, or a label such as "JP self", is drawn."""
    method = name.removesuffix("+TS").removesuffix(" self").removesuffix(" truth")
    return LOOKS.get(name, LOOKS.get(method, OTHER))


def label(row: Row) -> str:
    """What a method with its scaling is called: SM, SM+TS, JP self."""
    return row.method + SCALED.get(row.scaling, f" {row.scaling}")


def check_matplotlib() -> None:
    """Refuse to begin what could not be drawn."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingExtra("the benchmark's figures need matplotlib: pip install 'dunno[plot]'") from None


def grid(rows: int, columns: int, width: float = 3.2, height: float = 2.5, **more: Any) -> tuple[Figure, Any]:
    """A figure with a grid of panels, (rows, columns) axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(max(width * columns, 4.8) + 0.4, height * rows + 0.5), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **more)


def legend(figure: Figure, axes: Iterable[Axes]) -> None:
    """One legend for all panels, below them."""
    shown: dict[str, Any] = {}
    for ax in axes:
        handles, labels = ax.get_legend_handles_labels()
        shown |= {text: handle for handle, text in zip(handles, labels, strict=True) if text not in shown}
    if shown:
        most = max(3, int(figure.get_size_inches()[0] / 1.25))
        columns = math.ceil(len(shown) / math.ceil(len(shown) / most))  # rows of equal length
        figure.legend(list(shown.values()), list(shown), loc="outside lower center", ncols=columns)


def scaling_legend(figure: Figure, ax: Axes, scalings: Iterable[str]) -> None:
    """Where panels are methods: what each kind of line is, in grey, for it says nothing of colours."""
    for scaling in SCALINGS:
        if scaling in scalings:
            ax.plot([], [], color="0.3", linestyle=SCALINGS[scaling], label=SCALING_WORDS[scaling])
    legend(figure, [ax])


def steps_of(rows: Sequence[Row]) -> list[int]:
    """The frame steps, ascending."""
    return sorted(distinct(rows, "step"))


def nth(step: int) -> str:
    """Every how many frames, in words."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(step % 10 if step % 100 not in (11, 12, 13) else 0, "th")
    return "every frame" if step == 1 else f"every {step}{ending} frame"


def step_axis(ax: Axes, steps: Sequence[int]) -> None:
    """Steps side by side, as the paper has them."""
    ax.set_xticks(range(len(steps)), [str(step) for step in steps])
    ax.set_xlim(-0.5, len(steps) - 0.5)
    ax.set_xlabel("every n-th frame")


def empty(ax: Axes, words: str = "no numbers") -> None:
    """Say that there is nothing to see."""
    ax.text(0.5, 0.5, words, transform=ax.transAxes, ha="center", va="center", color=GREY)
    ax.tick_params(
        left=False, bottom=False, labelleft=False, labelbottom=False
    )  # of this panel, not of those it shares with
    ax.grid(False)


def save(figure: Figure, folder: Path, name: str) -> None:
    """Write a figure as SVG and PNG."""
    for ending, more in (("svg", {"metadata": {"Date": None}}), ("png", {"dpi": DOTS_PER_INCH})):
        figure.savefig(folder / f"{name}.{ending}", **more)
        figure.set_layout_engine("none")  # the second time it is laid out already
