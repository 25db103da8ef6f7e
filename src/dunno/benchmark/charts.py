"""The paper's figures in its axes and order, and ours beside them: one macro that lays out panels, and a line per figure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dunno.benchmark.unit_scores import LEAST_LINKS_SCORED
from dunno.benchmark.units import COSTS, METHODS, PEER_COSTS, USER

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

SETTINGS: dict[str, Any] = {
    "font.size": 8,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Arial"],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 8.5,
    "axes.titlelocation": "left",
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": "0.9",
    "axes.axisbelow": True,
    "legend.frameon": False,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "svg.fonttype": "none",  # letters stay letters: smaller, and can be searched
    "svg.hashsalt": "dunno",  # the same figure is the same file
}
COLOURS = dict(zip(METHODS, ("#000000", "#E69F00", "#D55E00", "#0072B2", "#56B4E9", "#009E73"), strict=True))
"""A colour per method, those of Okabe and Ito, which colour-blind people tell apart."""

METHOD_MARKERS = dict(zip(METHODS, "osD^vP", strict=True))
LINES = {"none": "-", "temperature": "--", "self": ":", "events": "-."}
SCALING_WORDS = {"none": "", "temperature": "+TS", "self": " self", "events": " truth"}
GREY, PANEL_WIDTH, PANEL_HEIGHT = "0.55", 2.3, 1.9
LONE_WIDTH, LONE_HEIGHT, LEGEND_WIDTH = 4.8, 3.2, 1.3  # inches; of a panel by itself, and of a word in a legend
DATASET_MARKERS = "osD^vP*X"
VERDICT_LOOKS: dict[str, dict[str, Any]] = {
    "supported": {"marker": "o"},
    "untested": {"marker": "o", "markerfacecolor": "white"},
    "contradicted": {"marker": "x"},
}
DODGE = 0.04  # of the way to the next step; what lies on top of each other stands side by side

Draw = Callable[["Axes", "DataFrame"], None]


@dataclass(frozen=True)
class PaperFigure:
    """A grid of panels, each a part of the table."""

    name: str  # Of its files
    title: str  # What it shows, and which figure of the paper it is
    draw: Draw  # Draws one panel
    x: str  # Label of the horizontal axis
    y: str  # Label of the vertical axis
    # A column of the table whose values have a row of panels each, or scalings to show row by row
    rows: str | Sequence[tuple[str, Callable[[DataFrame], DataFrame]]] = ()
    columns: str | None = "cost"  # Likewise across
    only: Callable[[DataFrame], DataFrame] = lambda table: table  # Which rows of the table take part
    share: str = "all"  # Which axes are shared


def draw_all(table: DataFrame, folder: Path) -> list[tuple[str, str, str]]:
    """Draw whatever the table has numbers for; the set-up, title and file name (without ending) of each figure."""
    from matplotlib import rc_context

    folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    measured = table[table.n_links.notna()]
    with rc_context(SETTINGS):
        for setup in dict.fromkeys(table.setup):
            for each in FIGURES:
                own = each.only(measured[measured.setup == setup])
                if len(own):
                    _draw(each, own, folder / f"{setup}-{each.name}")
                    drawn.append((setup, each.title, f"{setup}-{each.name}"))
    return drawn


def _draw(figure: PaperFigure, table: DataFrame, path: Path) -> None:
    from matplotlib.figure import Figure as Canvas

    down = _panels(table, figure.rows) if figure.rows else [("", table)]
    across = _across(table[figure.columns]) if figure.columns else [""]
    width, height = (PANEL_WIDTH, PANEL_HEIGHT) if figure.columns else (LONE_WIDTH, LONE_HEIGHT)
    size = (max(width * len(across), 3.6) + 0.4, max(height * len(down), 2.4) + 0.6)
    canvas = Canvas(figsize=size, layout="constrained")
    shared: dict[str, Any] = {"sharex": figure.share != "none", "sharey": figure.share == "all"}
    axes = canvas.subplots(len(down), len(across), squeeze=False, **shared)
    for row, (name, part) in zip(axes, down, strict=True):
        for ax, value in zip(row, across, strict=True):
            own = part[part[figure.columns] == value] if figure.columns else part
            if len(own):
                figure.draw(ax, own)
            else:
                ax.text(0.5, 0.5, "no numbers", transform=ax.transAxes, ha="center", color=GREY)
            ax.set_title(", ".join(filter(None, (_worded(figure.columns or "", value), name))))
        row[0].set_ylabel(figure.y)
    for ax in axes[-1]:
        ax.set_xlabel(figure.x)
    _legend(canvas, axes.flat)
    for ending, more in (("svg", {"metadata": {"Date": None}}), ("png", {"dpi": 110})):
        canvas.savefig(f"{path}.{ending}", **more)


def _across(values: Any) -> list[Any]:
    """Costs in the paper's order, a user's own behind them; numbers ascending."""
    return sorted(set(values), key=lambda each: (COSTS.index(each) if each in COSTS else len(COSTS), each))


def _panels(table: DataFrame, rows: Any) -> list[tuple[str, DataFrame]]:
    if isinstance(rows, str):
        return [(_worded(rows, value), part) for value, part in table.groupby(rows, sort=True)]
    return [(name, part) for name, choose in rows if len(part := choose(table))]


def _worded(column: str, value: Any) -> str:
    return ("every frame" if value == 1 else f"every {value}th frame") if column == "step" else str(value)


def _legend(canvas: Any, axes: Any) -> None:
    """One legend for all panels."""
    shown: dict[str, Any] = {}
    for ax in axes:
        handles, labels = ax.get_legend_handles_labels()
        shown |= {text: handle for handle, text in zip(handles, labels, strict=True) if text not in shown}
    if shown:
        ncols = min(len(shown), 6, int(canvas.get_figwidth() / LEGEND_WIDTH))
        canvas.legend(list(shown.values()), list(shown), loc="outside lower center", ncols=ncols)


def series(table: DataFrame) -> list[tuple[str, str, str, DataFrame]]:
    """The methods with each scaling: name, method, scaling, rows."""
    order = {name: place for place, name in enumerate(METHODS)}
    groups = sorted(
        table.groupby(["method", "scaling"]), key=lambda each: (list(LINES).index(each[0][1]), order.get(each[0][0], 9))
    )
    return [(method + SCALING_WORDS[scaling], method, scaling, part) for (method, scaling), part in groups]


def of_datasets(table: DataFrame, x: str, y: str) -> DataFrame:
    """By x: the mean over datasets of y's mean within each, its standard error, and all of its values."""
    own = table.dropna(subset=[y]).groupby([x, "dataset"])[y].mean().groupby(x)
    return own.agg(["mean", "sem"]).fillna({"sem": 0.0})


def lines(x: str, y: str) -> Draw:
    """Means over datasets with their standard errors, a line per method and scaling; x's values are side by side."""

    def draw(ax: Axes, table: DataFrame) -> None:
        places = sorted(table[x].unique())
        for name, method, scaling, part in series(table):
            found = of_datasets(part, x, y)
            look: dict[str, Any] = {
                "color": COLOURS.get(method, GREY),
                "marker": METHOD_MARKERS.get(method, "h"),
                "linestyle": LINES[scaling],
            }
            aside = DODGE * METHODS.index(method) if method in METHODS else 0.0
            where = [places.index(each) + aside for each in found.index]
            look |= {} if scaling == "none" else {"markerfacecolor": "white"}
            ax.errorbar(where, found["mean"], found["sem"], label=name, markersize=3.5, linewidth=1.1, **look)
        ax.set_xticks(range(len(places)), [f"{each:g}" for each in places])

    return draw


def bars(y: str) -> Draw:
    """Means over datasets, a bar per method."""

    def draw(ax: Axes, table: DataFrame) -> None:
        for place, (name, method, _, part) in enumerate(series(table)):
            found = of_datasets(part.assign(all=0), "all", y)
            ax.bar(place, found["mean"], yerr=found["sem"], color=COLOURS.get(method, GREY), label=name)
        ax.set_xticks([])
        ax.set_yscale("log")
        for axis_ticks in (ax.yaxis.set_major_formatter, ax.yaxis.set_minor_formatter):
            axis_ticks("{x:g}")
        ax.axhline(1, color="0.3", linewidth=0.8)

    return draw


def boxes(ax: Axes, table: DataFrame) -> None:
    """The fitted temperatures over datasets, a box per method and step."""
    steps, methods = sorted(table.step.unique()), [name for name, _, _, _ in series(table.assign(scaling="none"))]
    width = 0.8 / max(len(methods), 1)
    for number, method in enumerate(methods):
        own = table[table.method == method]
        values = [np.log10(own[own.step == step].temperature) for step in steps]
        colour = COLOURS.get(method, GREY)
        ax.boxplot(
            values, positions=[i + (number - (len(methods) - 1) / 2) * width for i in range(len(steps))], widths=width * 0.8,
            manage_ticks=False, patch_artist=True, boxprops={"facecolor": colour, "alpha": 0.5, "edgecolor": colour},
            medianprops={"color": colour}, whiskerprops={"color": colour}, capprops={"color": colour},
            flierprops={"marker": ".", "markersize": 3, "markeredgecolor": colour},
        )  # fmt: skip
        ax.plot([], [], color=colour, linewidth=5, alpha=0.5, label=f"{method}+TS")
    ax.axhline(0, color=GREY, linestyle="--", linewidth=1)
    ax.set_xticks(range(len(steps)), [str(step) for step in steps])


def motion(ax: Axes, table: DataFrame) -> None:
    """T against the mean squared displacement per axis: a marker per dataset and step, the diagonal is one to one."""
    own = table.drop_duplicates(["dataset", "step"])
    for number, (dataset, part) in enumerate(own.groupby("dataset")):
        x, marker = part.squared_displacement / part.dimensions, DATASET_MARKERS[number % len(DATASET_MARKERS)]
        ax.plot(x, part.temperature, linestyle="", marker=marker, color=f"C{number}", markersize=4, label=dataset)
        _told(ax, x, part.temperature, part.step)
    ends = [own.temperature.min() / 2, own.temperature.max() * 2]
    ax.plot(ends, ends, color=GREY, linestyle="--", linewidth=1)
    ax.set(xscale="log", yscale="log")


def _told(ax: Axes, x: Any, y: Any, step: Any) -> None:
    """The frame step, beside each marker."""
    for here, there, word in zip(x, y, step, strict=True):
        ax.annotate(str(word), (here, there), (4, -2), textcoords="offset points", fontsize=6)


def curves(x: str, y: str) -> Draw:
    """Mean over datasets of stored curves, a line per method and scaling."""

    def draw(ax: Axes, table: DataFrame) -> None:
        for name, method, scaling, part in series(table[table.curves.notna()]):
            own = part.groupby("dataset").curves.agg(lambda each: np.mean([one[y] for one in each], axis=0))
            look: dict[str, Any] = {"color": COLOURS.get(method, GREY), "linestyle": LINES[scaling], "linewidth": 1.1}
            ax.plot(part.curves.iloc[0][x], np.mean(list(own), axis=0), label=name, **look)

    return draw


def calibration(ax: Axes, table: DataFrame) -> None:
    """Accuracy against confidence, all steps' links together; bins of fewer links than are scored are left out."""
    for name, method, scaling, part in series(table[table.curves.notna()]):
        count, confidence, accuracy = (
            np.array([each[column] for each in part.curves], np.float64)
            for column in ("count", "confidence", "accuracy")
        )
        total = count.sum(axis=0)
        with np.errstate(invalid="ignore"):
            x, y = (np.nansum(count * values, axis=0) / total for values in (confidence, accuracy))
        look: dict[str, Any] = {"color": COLOURS.get(method, GREY), "linestyle": LINES[scaling], "linewidth": 1.1}
        enough = total >= LEAST_LINKS_SCORED
        ax.plot(x[enough], y[enough], marker=".", markersize=3, label=name, **look)
    ax.plot([0, 1], [0, 1], color=GREY, linestyle="--", linewidth=1)


def promises(ax: Axes, table: DataFrame) -> None:
    """Wrong links that were found against those that were promised; the diagonal is a kept promise."""
    for number, (dataset, part) in enumerate(table.groupby("dataset")):
        ax.plot([], [], linestyle="", marker="s", color=f"C{number}", markersize=4, label=dataset)
        for verdict, own in part.groupby("verdict"):
            look = VERDICT_LOOKS[str(verdict)]
            ax.plot(own.promised_wrong, own.found_wrong, linestyle="", color=f"C{number}", markersize=4, **look)
        _told(ax, part.promised_wrong, part.found_wrong, part.step)
    for verdict in sorted(set(table.verdict)):
        ax.plot([], [], linestyle="", color="0.3", markersize=4, label=verdict, **VERDICT_LOOKS[verdict])
    both = table[["promised_wrong", "found_wrong"]].to_numpy()
    ends = np.array([both.min() / 2, both.max() * 2])
    ax.fill_between(ends, 0.67 * ends, 1.5 * ends, color="0.9", linewidth=0, zorder=0)
    ax.plot(ends, ends, color=GREY, linestyle="--", linewidth=1)
    ax.set(xscale="log", yscale="log")


def scaled(*names: str) -> Callable[[DataFrame], DataFrame]:
    """Rows with one of some scalings; not those of peers."""
    return lambda table: table[table.scaling.isin(names) & ~table.method.isin(PEER_COSTS)]


def also_scaled(table: DataFrame) -> DataFrame:
    """Rows without scaling and with it, where there are both (if anywhere): means over other movies would not compare."""
    own, place = scaled("none", "temperature")(table), ["dataset", "sequence", "step", "cost", "model", "method"]
    both = own.groupby(place).scaling.transform("nunique") == 2
    return own[both] if both.any() else own


def dropouts(table: DataFrame) -> DataFrame:
    """Rows of the transformers that are called by their dropout rate."""
    own = also_scaled(table)
    own = own[own.model.str.startswith("dropout-") & own.method.isin(["FP", "FP+A"])]
    return own.assign(rate=own.model.str.removeprefix("dropout-").astype(float))


def fitted(table: DataFrame) -> DataFrame:
    """Rows with a temperature from truth, not at a bound of its search."""
    return table[(table.scaling == "temperature") & (table.verdict != "at bound")]


def joint(table: DataFrame) -> DataFrame:
    """JP self with the distance cost, where anything was promised."""
    own = table[(table.method == "JP") & (table.scaling == "self") & (table.cost == "distance") & (table.setup == USER)]
    return own[(own.promised_wrong > 0) & (own.found_wrong > 0)]


NTH = "every n-th frame"
WITH_SELF = (("", also_scaled), ("self, without truth", scaled("self")))
GAINS = (
    ("by edge", lambda table: table.assign(gain=table.gain_edge)),
    ("by entropy", lambda table: table.assign(gain=table.gain_entropy)),
)
FIGURES = (
    PaperFigure("ece", "Calibration error against temporal resolution (the paper's figure 4a); below, without truth",
           lines("step", "ece"), NTH, "ECE", WITH_SELF),
    PaperFigure("temperatures", "Fitted temperatures against temporal resolution (figure 4b)", boxes, NTH, "log₁₀ T, T = 1/τ",
           only=fitted),
    PaperFigure("sparsification", "Mean gain in accuracy by leaving out uncertain links (figure 5)", lines("step", "gain"), NTH,
           "gain in accuracy", GAINS, only=also_scaled),
    PaperFigure("sparsification-edge", "Sparsification by edge in detail (appendix)", curves("removed", "edge"), "share removed",
           "accuracy", "step", only=also_scaled, share="x"),
    PaperFigure("sparsification-entropy", "Sparsification by entropy in detail (appendix)", curves("removed", "entropy"),
           "share removed", "accuracy", "step", only=also_scaled, share="x"),
    PaperFigure("overhead", "Processor time over that of SM (appendix)", bars("overhead"), "", "time over SM's",
           only=scaled("none")),
    PaperFigure("dropout-ece", "Calibration error of the transformer by dropout rate (appendix)", lines("rate", "ece"),
           "dropout rate", "ECE", columns="step", only=dropouts),
    PaperFigure("dropout-gain", "Sparsification of the transformer by dropout rate (appendix)", lines("rate", "gain"),
           "dropout rate", "gain in accuracy", GAINS, columns="step", only=dropouts),
    PaperFigure("motion", "Temperature of SM+TS against squared displacement, distance cost (appendix)", motion,
           "mean squared displacement per axis", "temperature T", columns=None,
           only=lambda table: fitted(table)[lambda own: (own.method == "SM") & (own.cost == "distance")]),
    PaperFigure("calibration", "Calibration curves, all steps together (appendix)", calibration, "confidence", "accuracy",
           "dataset", only=also_scaled),
    PaperFigure("promises", "Wrong links of JP self, found and promised, at every n-th frame (ours; the band is 0.67–1.5)",
           promises, "promised wrong links", "found wrong links", columns=None, only=joint),
)  # fmt: skip
