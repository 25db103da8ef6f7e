"""What a notebook shows of a tracking: a few lines of HTML, and plots (matplotlib) of a lineage and of promised against found."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from dunno.errors import InputError, MissingExtra
from dunno.lineage.endings import DIVISION, ENDINGS
from dunno.lineage.tracks import TrackRow
from dunno.types import Floats, Ints
from dunno.types.special import wilson

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dunno.tracking import Tracking

ENDS = (0.0, 0.5, 0.9, 0.99, 0.999, 1.0)  # probability; display
"""Of the bins of probability that are shown."""

BAR_WIDTH = 160  # pixels; display
"""Of a bar, in pixels."""

DOUBTFUL_BELOW = 0.9  # probability; display
"""Links that are less probable are marked."""

LEAST_DRAWN = 1e-4  # share; display
"""Shares below this are drawn at it."""


def tracking_html(tracking: Tracking) -> str:
    """What there is, as the first screen counts it: without debris."""
    counted, every = tracking.without_debris(), len(tracking.tracks())
    rows, last = counted.tracks(), int(tracking.block.frames[-1])
    first, divisions = int(tracking.block.frames[0]), counted.divisions()
    start, end = sum(row.first == first for row in rows), sum(row.last == last for row in rows)
    likely = "" if divisions is None else f" ({divisions.low:,} to {divisions.high:,}, 95 %)"
    more = [
        f"{start:,} cells at the start, {end:,} at the end; {len(rows):,} tracks, "
        f"{sum(row.ending == ENDINGS[DIVISION] for row in rows):,} divisions{likely}"
    ]
    if every > len(rows):
        more.append(f"{every - len(rows):,} of {every:,} tracks are taken for debris and not counted")
    return summary_html(counted, "", *more)


def summary_html(tracking: Tracking, title: str = "", *more: str) -> str:
    """The verdict, how many links there are, how many are expected to be wrong, and how many are how sure."""
    about = tracking.about
    probability = np.concatenate([np.empty(0), *(pair.link_probability for pair in tracking.pairs)])
    word, reason = about.get("verdict", "untested"), about.get("reason", "")
    counts = np.histogram(probability, ENDS)[0]
    lines = [
        f"<b>{escape(title or tracking.movie.name)}</b>: {len(tracking.pairs) + 1} frames, {len(probability):,} links, "
        f"{tracking.expected_wrong_links():,.1f} of them expected to be wrong",
        f"probabilities <b>{escape(word)}</b>: {escape(reason)}",
        *(escape(each) for each in more if each),
    ]
    return "".join(f"<div>{line}</div>" for line in lines) + _bars(counts)


def _bars(counts: Ints) -> str:
    """A bar per bin of probability, as long as the logarithm of its links."""
    longest = np.log1p(max(int(counts.max()), 1))
    rows = []
    for low, high, n in zip(ENDS, ENDS[1:], counts.tolist(), strict=False):
        width = round(BAR_WIDTH * float(np.log1p(n) / longest))
        bar = f'<div style="background:currentColor;opacity:.5;height:.7em;width:{width}px"></div>'
        rows.append(f"<tr><td>{100 * low:g} – {100 * high:g} %</td><td>{bar}</td><td>{n:,}</td></tr>")
    return f"<table><caption>links by probability (log scale)</caption>{''.join(rows)}</table>"


def plot_promised(tracking: Tracking, ax: Axes | None = None) -> Axes:
    """Draw how many links were promised to be wrong against how many were, by what skipping frames says; 95 % intervals."""
    tests = (tracking.about.get("calibration") or {}).get("skipping") or []
    if not tests or not tests[0]["bins"]:
        raise InputError(
            "nothing was tested by skipping frames, so there is nothing to draw; beside a truth: "
            "dunno.evaluation.calibration_curve(tracking, truth).plot(ax)"
        )
    ax = ax or _axes()
    ax.plot([LEAST_DRAWN, 1], [LEAST_DRAWN, 1], linestyle="--", color="0.6", linewidth=1)
    promised, found, n = (np.array(column) for column in zip(*tests[0]["bins"], strict=True))
    ends = np.array([wilson(float(share), int(count)) for share, count in zip(found, n, strict=True)]).T
    shown = np.maximum(found, LEAST_DRAWN)
    ax.errorbar(
        np.maximum(promised, LEAST_DRAWN), shown, np.abs(np.maximum(ends, LEAST_DRAWN) - shown), fmt="o", capsize=2
    )
    labels = {"xlabel": "promised to be wrong", "ylabel": "wrong, as all frames show"}
    ax.set(
        xscale="log",
        yscale="log",
        xlim=(LEAST_DRAWN, 1),
        ylim=(LEAST_DRAWN, 1),
        title=f"probabilities {tracking.about.verdict}",
        **labels,
    )
    return ax


def plot_lineage(tracking: Tracking, track: int | None = None, ax: Axes | None = None) -> Axes:
    """Draw a family over time: each link coloured by its probability, doubtful ones dashed with their number beside them.

    Args:
        tracking: What was tracked.
        track: Any track of the family; `None` for the family with the most tracks.
        ax: Where to draw.
    """
    from matplotlib.collections import LineCollection

    ax = ax or _axes()
    rows = {row.track: row for row in tracking.tracks()}
    lane = _lanes(_family(rows, track), rows)
    cells, edges = tracking.cells, tracking.edges
    ours = (
        edges.selected
        & np.isin(cells.track[edges.daughter], list(lane))
        & np.isin(cells.track[edges.mother], list(lane))
    )
    mother, daughter, probability = edges.mother[ours], edges.daughter[ours], edges.probability[ours]
    place = np.column_stack([cells.frame, [lane.get(each, 0.0) for each in cells.track.tolist()]])
    lines = np.stack([place[mother], place[daughter]], axis=1)
    styles = np.where(probability < DOUBTFUL_BELOW, "dashed", "solid").tolist()
    drawn = LineCollection(lines.tolist(), linestyles=styles, linewidths=2, cmap="viridis", clim=(0.5, 1.0))
    drawn.set_array(probability)
    ax.add_collection(drawn)
    for (start, end), each in zip(lines, probability.tolist(), strict=True):
        if each < DOUBTFUL_BELOW:
            ax.annotate(
                f"{each:.2f}", (start + end) / 2, textcoords="offset points", xytext=(0, 4), ha="center", fontsize=8
            )
    ax.figure.colorbar(drawn, ax=ax, label="probability of the link")
    ax.set(xlabel="frame", yticks=list(lane.values()), yticklabels=list(lane), ylabel="track")
    ax.autoscale()
    return ax


def _family(rows: dict[int, TrackRow], track: int | None) -> list[int]:
    """The tracks of a family, mothers before their daughters."""
    if not rows:
        raise InputError("there are no tracks to draw")
    founder: dict[int, int] = {}
    for each in sorted(rows, key=lambda name: rows[name].first):
        founder[each] = founder.get(rows[each].mother, each)
    if track is not None and track not in founder:
        raise InputError(f"there is no track {track}; they are numbered 1 to {max(rows)}")
    names, sizes = np.unique(list(founder.values()), return_counts=True)
    wanted = int(names[sizes.argmax()]) if track is None else founder[track]
    return [each for each, own in founder.items() if own == wanted]


def _lanes(family: list[int], rows: dict[int, TrackRow]) -> dict[int, float]:
    """How high each track is drawn: those that end the family one below the other, mothers in the middle of their daughters."""
    born: dict[int, list[int]] = {each: [] for each in family}
    for each in family[1:]:
        born[rows[each].mother].append(each)
    lane: dict[int, float] = {}
    waiting = [family[0]]
    while waiting:
        each = waiting[-1]
        open_ones = [daughter for daughter in born[each] if daughter not in lane]
        waiting.extend(open_ones[:1])
        if not open_ones:
            below: Floats = np.array([lane[daughter] for daughter in born[each]])
            lane[each] = float(below.mean()) if len(below) else float(sum(not born[other] for other in lane))
            waiting.pop()
    return lane


def _axes() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError:
        raise MissingExtra("plots need matplotlib: pip install 'dunno[plot]'") from None
    return pyplot.subplots()[1]
