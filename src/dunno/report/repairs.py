"""What became of the masks: how many were cut, joined and left out, with pictures of some, before and after."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import numpy as np

from dunno.report.crops import Picture, picture
from dunno.report.gallery import Mark, two_figures
from dunno.report.html_parts import filled, table
from dunno.report.link_scenes import TwoViews, View, around
from dunno.runs.findings import REPAIRED
from dunno.runs.numbers import amount, count, percent
from dunno.types import Ints, Movie

REPAIR_TITLES = {"split": "Cut", "joined": "Joined", "left out": "Left out", "filled": "Filled in"}
SHOWN_OF_A_KIND, LISTED_REPAIRS = 3, 5
"""Of each kind, how many are shown, and how many of the least certain ones are listed."""

ROOM, SMALLEST_CROP = 2.5, 32.0
"""How much wider a picture is than the masks in it, and its least side in pixels."""


@dataclass(frozen=True, order=True)
class MaskRepair:
    """One repair: some given masks of a frame, and what is drawn instead."""

    frame: int  # Original index
    what: str  # The word of `repairs.csv`
    probability: float  # That it is so
    given: tuple[int, ...]  # Labels of the given masks
    drawn: tuple[int, ...]  # Labels that stand instead of them


@dataclass(frozen=True)
class RepairScene:
    """A repair and its two pictures."""

    repair: MaskRepair
    views: TwoViews


def read_repairs(folder: Path) -> list[MaskRepair] | None:
    """The repairs of `repairs.csv`, a mask's parts and a union's masks together; `None` where masks were taken as they are."""
    path = folder / "repairs.csv"
    if not path.is_file():
        return None
    found: dict[tuple[str, str, str], list[dict[str, str]]] = {}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            one = row["label"] if row["what"] in ("joined", "filled") else row["mask"]
            found.setdefault((row["frame"], row["what"], one), []).append(row)
    return [
        MaskRepair(
            int(frame),
            what,
            float(rows[0]["probability"]),
            tuple(sorted({int(row["mask"]) for row in rows if row["mask"]})),
            tuple(sorted({int(row["label"]) for row in rows if row["label"]})),
        )
        for (frame, what, _), rows in found.items()
    ]


def chosen(repairs: Sequence[MaskRepair]) -> list[MaskRepair]:
    """Of each kind some to show, spread evenly from the least certain one to the surest."""
    shown = []
    for what in REPAIR_TITLES:
        own = sorted((each for each in repairs if each.what == what), key=lambda each: (each.probability, each))
        places = np.unique(np.linspace(0, len(own) - 1, min(SHOWN_OF_A_KIND, len(own))).round().astype(int))
        shown += [own[k] for k in places.tolist()]
    return shown


def repair_scenes(given: Movie, repaired: Movie, repairs: Sequence[MaskRepair]) -> list[RepairScene]:
    """The pictures, of which each frame is read once."""
    place = {frame: t for t, frame in enumerate(repaired.frames.tolist())}
    shown = chosen(repairs)
    pictures = {
        frame: (picture(given, place[frame]), picture(repaired, place[frame])) for frame in {r.frame for r in shown}
    }
    return [_scene(each, *pictures[each.frame], repaired.has_images) for each in shown]


def _scene(repair: MaskRepair, before: Picture, after: Picture, has_images: bool) -> RepairScene:
    inside = np.isin(before.labels, repair.given) | np.isin(after.labels, repair.drawn)
    rows, columns = np.nonzero(inside)
    points = np.array([[rows.min(), columns.min()], [rows.max() + 1, columns.max() + 1]], np.float64)
    box = around(points, ROOM, SMALLEST_CROP, before)
    return RepairScene(repair, TwoViews.of(before, after, box, (repair.given, repair.drawn), has_images))


def section(repairs: Sequence[MaskRepair] | None, scenes: Sequence[RepairScene] | None) -> str:
    """How good the masks are."""
    if repairs is None:
        said = "<p>Every mask was taken for one cell: a glance at them shows no reason to doubt that.</p>"
        return filled("masks.html", told=said, pictures="", table="")
    told = "".join(_count(what, [each for each in repairs if each.what == what]) for what in REPAIR_TITLES)
    least = [
        (str(each.frame), " + ".join(map(str, each.given)), what, percent(each.probability))
        for what in REPAIR_TITLES
        for each in sorted((r for r in repairs if r.what == what), key=lambda r: r.probability)[:LISTED_REPAIRS]
    ]
    said = (
        f"<ul>{told}</ul><p>The masks as repaired are in <code>masks/</code>; <code>dunno repair OUT -o DIR</code> writes them "
        "alone. Every change is listed in <code>repairs.csv</code>, and none is made that is less probable than not. "
        "<code>dunno track --no-repair</code> keeps the masks as they were.</p>"
    )
    pictures = "" if scenes is None else f'<ol class="gallery" role="list">{"".join(map(_item, scenes))}</ol>'
    listed = table("Least certain repairs", ("frame", "mask", "what", "probability"), least)
    return filled("masks.html", told=said, pictures=pictures, table=listed)


def _count(what: str, found: Sequence[MaskRepair]) -> str:
    if not found:
        return ""
    wrong, n = amount(sum(1 - each.probability for each in found)), sum(len(each.given) or 1 for each in found)
    masks = f"{count(n)} mask{'' if n == 1 else 's'} {escape(REPAIRED[what][n != 1])}"
    return f"<li><strong>{masks}</strong>; about {wrong} of that is expected to be wrong</li>"


def _item(scene: RepairScene) -> str:
    repair = scene.repair
    given, drawn = (" + ".join(map(str, labels)) for labels in (repair.given, repair.drawn))
    head = (
        f"<h3>{REPAIR_TITLES[repair.what]}: mask {given} of frame {repair.frame}"
        f'<span class="chance">{percent(repair.probability)}</span></h3>'
    )
    marks = _marks(scene.views.before, repair.given, "daughter"), _marks(scene.views.after, repair.drawn, "")
    told = f"Frame {repair.frame}: mask {given} as it was given", f"Frame {repair.frame}: {drawn or 'nothing'} instead"
    views = two_figures(scene.views, marks, told, ("as given", f"now {drawn or 'nothing'}"))
    return f'<li class="doubt">{head}{views}</li>'


def _marks(view: View, labels: Sequence[int] | Ints, name: str) -> list[Mark]:
    return [(view.outlines[label], str(label), name or f"mother m{i % 5}") for i, label in enumerate(labels)]
