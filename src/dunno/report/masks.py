"""How good the masks seem: missing, false, or holding two cells, over time, and the worst frames to look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from string import Template

import numpy as np

from dunno.report import svg
from dunno.report.crops import picture
from dunno.report.faults import Faults, Suspect
from dunno.report.html_tables import table
from dunno.report.link_scenes import data_uri, shrunk
from dunno.report.numbers import amount, count, percent
from dunno.report.over_time import MOST_COLUMNS
from dunno.types import Floats, Movie, RunInfo

NAMES = {"missed": "missing", "false": "holding no cell", "two": "holding two cells"}

SHORT = {"false": "no cell", "two": "two cells"}

SHOWN_FRAMES = 6
SIDE = 480
"""Largest width and height of a frame's picture, in pixels."""

LEAST_RING = 0.018
"""Radius of the smallest mark, as a share of the picture's side."""


@dataclass(frozen=True)
class FramePicture:
    """A whole frame, made small: an image (a data URI), its size, and how long one of its pixels is along y and x."""

    image: str
    width: int
    height: int
    pixel: tuple[float, float]


def looked_at(about: RunInfo) -> tuple[str, ...]:
    """Which kinds of faults the tracking could see."""
    missed = ("missed",) if about.longest_gap else ()
    return (*missed, *(("false", "two") if about.judges_masks else ()))


def frame_pictures(movie: Movie, about: RunInfo, faults: Faults) -> list[FramePicture]:
    """Pictures of the worst frames, worst first."""
    if not looked_at(about):
        return []
    place = {frame: t for t, frame in enumerate(movie.frames.tolist())}
    return [_picture(movie, place[int(faults.frame[t])]) for t in faults.worst(SHOWN_FRAMES)]


def _picture(movie: Movie, t: int) -> FramePicture:
    grey = picture(movie, t).grey
    factor = -(-max(grey.shape) // SIDE)
    small = shrunk(grey, factor)
    pixel = factor * float(movie.scale[-2]), factor * float(movie.scale[-1])
    return FramePicture(data_uri(small), small.shape[1], small.shape[0], pixel)


def section(about: RunInfo, faults: Faults, frames: Sequence[FramePicture] | None) -> str:
    """The section; one plain line where nobody looked at the masks."""
    kinds = looked_at(about)
    if not kinds:
        return f'<section aria-labelledby="masks"><h2 id="masks">How good do the masks seem?</h2><p>{_unseen(about)}</p></section>'
    begins, size = _spans(len(faults.frame))
    page = Template(files("dunno.report").joinpath("masks.html").read_text(encoding="utf-8"))
    return page.substitute(
        sentence=_sentence(kinds),
        figures=_figures(kinds, faults),
        over_time=_over_time(kinds, faults, begins),
        pooled=f" Each point is the mean of up to {size} frames." if size > 1 else "",
        key=_key(kinds),
        table=_table(kinds, faults, begins),
        worst=_worst(faults, frames),
    )


def _unseen(about: RunInfo) -> str:
    if about.calibration_kind != "motion model":
        return "Masks were not judged: every mask was taken for one cell, and links join neighbouring frames."
    return (
        "Nothing speaks against them: no mask seems to be missing, and skipping frames gave no reason to doubt that every mask "
        "holds one cell (<code>--evidence places,masks</code> judges them in any case)."
    )


def _sentence(kinds: Sequence[str]) -> str:
    if "missed" not in kinds:
        return "Every mask was judged: it may hold no cell, one, or two. No mask seems to be missing."
    missing = "A mask is missing where a cell goes on after it was not seen for a while."
    if "two" not in kinds:
        return f"{missing} Skipping frames gave no reason to doubt that every other mask holds one cell."
    return f"{missing} Every other mask was judged, too: it may hold no cell, one, or two."


def _figures(kinds: Sequence[str], faults: Faults) -> str:
    """The mean number per frame of every kind, and which share of the masks that is."""
    usual = float(faults.masks.mean())
    items = []
    for kind in kinds:
        mean = float(getattr(faults, kind).mean())
        share = percent(mean / (usual + (mean if kind == "missed" else 0.0))) if usual + mean else "–"
        items.append(
            f'<div><dt>{NAMES[kind]}, per frame</dt><dd><span class="figure">{amount(mean)}</span>'
            f'<span class="beside">{share} of {"the cells" if kind == "missed" else "the masks"}</span></dd></div>'
        )
    return f'<dl class="figures">{"".join(items)}</dl>'


def _spans(n: int) -> tuple[np.ndarray, int]:
    """Where spans of frames begin, so that there are not too many, and how long they are."""
    size = -(-n // MOST_COLUMNS) or 1
    return np.arange(0, n, size), size


def _means(values: Floats, begins: np.ndarray) -> Floats:
    sizes = np.diff(np.append(begins, len(values)))
    return np.asarray(np.add.reduceat(values, begins) / sizes)


def _over_time(kinds: Sequence[str], faults: Faults, begins: np.ndarray) -> str:
    means = {kind: _means(getattr(faults, kind), begins) for kind in kinds}
    low, high = float(faults.frame[0]), float(faults.frame[-1])
    x = svg.across(low, high if high > low else low + 1)
    y = svg.upwards(0, max(*(float(each.max()) for each in means.values()), 0.1) * 1.05)
    body = [svg.y_axis(y, x.begin, x.end, "per frame", svg.whole)]
    for kind, values in means.items():
        points = [(x(float(f)), y(v)) for f, v in zip(faults.frame[begins], values.tolist(), strict=True)]
        body.append(svg.line(points, f"line fault {kind}"))
    body.append(svg.x_axis(x, y.begin, "frame", svg.whole))
    worst = int(np.argmax(faults.total))
    told = (
        f"Masks that seem wrong over time: most at frame {faults.frame[worst]} ({amount(float(faults.total[worst]))})."
    )
    return svg.chart(body, told)


def _key(kinds: Sequence[str]) -> str:
    items = "".join(f'<li><span class="swatch fault {kind}"></span>{NAMES[kind]}</li>' for kind in kinds)
    return f'<ul class="key">{items}</ul>'


def _table(kinds: Sequence[str], faults: Faults, begins: np.ndarray) -> str:
    means = [_means(getattr(faults, kind), begins) for kind in kinds]
    masks = _means(faults.masks.astype(np.float64), begins)
    rows = [
        (str(frame), amount(n), *(amount(float(each[i])) for each in means))
        for i, (frame, n) in enumerate(zip(faults.frame[begins].tolist(), masks.tolist(), strict=True))
    ]
    return table("Masks by frame", ("frame", "masks", *(NAMES[kind] for kind in kinds)), rows)


def _worst(faults: Faults, frames: Sequence[FramePicture] | None) -> str:
    """The worst frames with what is wrong in them; without pictures, their numbers only."""
    order = faults.worst(SHOWN_FRAMES)
    if not order:
        return ""
    items = [_item(faults, t, None if frames is None else frames[rank]) for rank, t in enumerate(order)]
    return (
        f"<p>The {count(len(order))} frames with the most faults, with what is most probably wrong in each:</p>"
        f'<ol class="gallery" role="list">{"".join(items)}</ol>'
    )


def _item(faults: Faults, t: int, frame: FramePicture | None) -> str:
    suspects, index = faults.suspects[t], int(faults.frame[t])
    head = f'<h3>Frame {index}<span class="chance">{amount(float(faults.total[t]))} expected</span></h3>'
    rows = "".join(_row(number, each) for number, each in enumerate(suspects, 1))
    shown = "" if frame is None else _view(index, frame, suspects)
    known = next((each.label for each in suspects if each.label and t > 0), 0)  # the first frame asks nothing
    look = f'<p class="note">Look: <code>dunno review OUT --at {index}:{known}</code></p>' if known else ""
    return (
        f'<li class="doubt">{head}{shown}<ul class="options" aria-label="What seems to be wrong">{rows}</ul>{look}</li>'
    )


def _row(number: int, each: Suspect) -> str:
    place = f"y {each.place[0]:.0f}, x {each.place[1]:.0f}"
    who = f"missing at {place}" if each.kind == "missed" else f"mask {each.label}: {SHORT[each.kind]}"
    return (
        f'<li class="mother fault {each.kind}"><span class="letter">{number}</span><span class="who" title="{place}">{who}</span>'
        f'<span class="gauge" aria-hidden="true"><span style="width:{100 * min(each.probability, 1):.1f}%"></span></span>'
        f'<span class="value">{percent(each.probability)}</span></li>'
    )


def _view(index: int, frame: FramePicture, suspects: Sequence[Suspect]) -> str:
    side = max(frame.width, frame.height)
    marks = []
    for number, each in enumerate(suspects, 1):
        y, x = (place / pixel for place, pixel in zip(each.place, frame.pixel, strict=True))
        radius = max(0.75 * each.diameter / min(frame.pixel), LEAST_RING * side)
        size = 0.045 * side
        left = min(x + radius, frame.width - size)
        marks.append(
            f'<circle class="fault {each.kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"/>'
            f'<text class="fault {each.kind}" x="{left:.1f}" y="{max(y - radius / 2, size):.1f}" style="font-size:{size:.1f}px">'
            f"{number}</text>"
        )
    told = f"Frame {index}, with what seems to be wrong in circles"
    return (
        f'<div class="view" style="aspect-ratio:{frame.width}/{frame.height}">'
        f'<img src="{frame.image}" alt="{escape(told)}" width="{frame.width}" height="{frame.height}">'
        f'<svg viewBox="0 0 {frame.width} {frame.height}" aria-hidden="true">{"".join(marks)}</svg></div>'
    )
