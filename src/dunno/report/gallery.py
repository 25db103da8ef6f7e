"""The least certain links, to look at: both frames, the daughter, and the mothers that it could have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from dunno.report.crops import Box
from dunno.report.doubts import WORTH_SHOWING, Doubt
from dunno.report.link_scenes import Outline, TwoViews, View
from dunno.report.review_address import ReviewAddress
from dunno.runs.numbers import percent

MARK_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
TEXT, CHARACTER = 0.075, 0.58
"""Height of the letters in a picture, as a share of its width; width of one, as a share of that."""

SURE_ENOUGH = 0.99
"""What is less sure than this of a mask is said."""

Mark = tuple[Outline, str, str]
"""An outline, its label and its class."""

Place = tuple[float, float, float, float]


def draw(doubts: Sequence[Doubt], pictures: Sequence[TwoViews] | None, deciding: ReviewAddress) -> str:
    """A list item per link; without pictures, their numbers only."""
    items = [
        _item(rank, doubt, None if pictures is None else pictures[rank - 1], deciding)
        for rank, doubt in enumerate(doubts, 1)
    ]
    return f'<ol class="gallery" role="list">{"".join(items)}</ol>'


def _item(rank: int, doubt: Doubt, scene: TwoViews | None, deciding: ReviewAddress) -> str:
    head = (
        f'<h3><span class="rank">{rank}</span> Cell {doubt.daughter} in frame {doubt.frame}'
        f'<span class="chance">{percent(doubt.probability)}</span></h3>'
    )
    views = "" if scene is None else _views(doubt, scene)
    anchor = deciding.anchor(doubt.frame, doubt.daughter, "Decide")
    command = f"dunno review OUT --at {doubt.frame}:{doubt.daughter}"
    decide = f'<p class="note">{anchor}, if the review is running; if not: <code>{command}</code></p>'
    return f'<li class="doubt">{head}{views}{_options(doubt)}{decide}</li>'


def _views(doubt: Doubt, scene: TwoViews) -> str:
    marks = [
        (scene.before.outlines[each.label], f"{MARK_LETTERS[i]} {percent(each.probability)}", _name(i, each.selected))
        for i, each in enumerate(doubt.mothers)
    ]
    ghost = (scene.after.outlines[doubt.daughter], "", "ghost")
    mothers = ", ".join(
        f"{MARK_LETTERS[i]}, cell {each.label}, {percent(each.probability)}" for i, each in enumerate(doubt.mothers)
    )
    daughter = (scene.after.outlines[doubt.daughter], str(doubt.daughter), "daughter")
    told = (
        f"Frame {doubt.mother_frame}: candidate mothers {mothers}",
        f"Frame {doubt.frame}: the daughter, cell {doubt.daughter}",
    )
    captions = f"frame {doubt.mother_frame}", f"frame {doubt.frame}"
    return two_figures(scene, ([ghost, *marks], [daughter]), told, captions)


def two_figures(
    scene: TwoViews, marks: tuple[Sequence[Mark], Sequence[Mark]], told: tuple[str, str], captions: tuple[str, str]
) -> str:
    """A scene's views beside each other, with their marks, descriptions and captions."""
    figures = "".join(
        f"<figure>{view((scene.width, scene.height), seen, own, words)}<figcaption>{caption}</figcaption></figure>"
        for seen, own, words, caption in zip((scene.before, scene.after), marks, told, captions, strict=True)
    )
    return f'<div class="views">{figures}</div>'


def _name(index: int, selected: bool) -> str:
    return f"mother m{index % 5}" + ("" if selected else " rejected")


def view(size: tuple[int, int], shown: View, marks: Sequence[Mark], told: str) -> str:
    """A crop of (width, height) pixels with outlines and their labels over it."""
    width, height = size
    lines = "".join(f'<path class="{name}" d="{mark.path}"/>' for mark, _, name in marks if mark.path)
    return (
        f'<div class="view" style="aspect-ratio:{width}/{height}">'
        f'<img src="{shown.image}" alt="{escape(told)}" width="{width}" height="{height}">'
        f'<svg viewBox="0 0 {width} {height}" aria-hidden="true">{lines}{_labels(size, marks)}</svg></div>'
    )


def _labels(picture: tuple[int, int], marks: Sequence[Mark]) -> str:
    """Letters and probabilities beside their cells, the likeliest placed first, none on top of another."""
    size = max(picture) * TEXT
    taken: list[Place] = []
    drawn = []
    for mark, content, name in marks:
        if content:
            place = _free_place(mark.box, (CHARACTER * size * len(content), size), picture, taken)
            taken.append(place)
            x, y = place[0], place[1] + 0.8 * size
            drawn.append(
                f'<text class="{name}" x="{x:.1f}" y="{y:.1f}" style="font-size:{size:.1f}px">{escape(content)}</text>'
            )
    return "".join(drawn)


def _free_place(cell: Box, size: tuple[float, float], picture: tuple[float, float], taken: Sequence[Place]) -> Place:
    """(left, top, right, bottom) of a label: above the cell, below, to its sides, or wherever fewest others are."""
    width, height = size
    middle_x, middle_y = (cell.left + cell.right - width) / 2, (cell.top + cell.bottom - height) / 2
    corners = [(middle_x, cell.top - height), (middle_x, float(cell.bottom)), (float(cell.right) + 1, middle_y)]
    corners += [(cell.left - width - 1, middle_y), (middle_x, middle_y)]
    corners += [(middle_x, cell.top - 2 * height), (middle_x, cell.bottom + height)]
    places = []
    for x, y in corners:
        left, top = min(max(x, 1), picture[0] - width - 1), min(max(y, 0), picture[1] - height)
        places.append((left, top, left + width, top + height))
    return min(places, key=lambda place: sum(_shared(place, other) for other in taken))


def _shared(one: Place, other: Place) -> float:
    """Area of what two labels share."""
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    return max(wide, 0) * max(high, 0)


def _options(doubt: Doubt) -> str:
    """Every mother that it could have, and none, with their probabilities as bars."""
    rows = [
        _option(
            MARK_LETTERS[i],
            f"cell {each.label}" + (", chosen" if each.selected else ""),
            each.probability,
            _name(i, each.selected),
        )
        for i, each in enumerate(doubt.mothers)
    ]
    if doubt.others:
        rows.append(
            _option("…", "1 other" if doubt.others == 1 else f"{doubt.others} others", doubt.p_others, "others")
        )
    if doubt.p_elsewhere >= WORTH_SHOWING:
        rows.append(_option("↶", "a cell of another frame", doubt.p_elsewhere, "others"))
    rows.append(_option("⊥", "no mother", doubt.p_no_mother, "none"))
    notes = "".join(f'<p class="note">{each}</p>' for each in _notes(doubt))
    return f'<ul class="options" aria-label="Who is the mother?">{"".join(rows)}</ul>{notes}'


def _notes(doubt: Doubt) -> Iterator[str]:
    """What else is to be known, where it matters."""
    if doubt.links > 1:
        yield f"The same doubt is about {doubt.links} links: of this cell in neighbouring frames, or of those beside it."
    if doubt.sister:
        yield f"The mother divides: the other daughter is cell {doubt.sister}."
    if doubt.holds_two:
        yield "A person said that this mask holds two cells: each has a mother of its own, and together they add up to 200 %."
    elif doubt.has_likelier:
        yield "Chosen although something else is more probable: masks and links are chosen together, so that most are right."
    if doubt.p_segment < SURE_ENOUGH:
        yield f"All this if the mask is one object, which is {percent(doubt.p_segment)} sure."
    if doubt.p_cell < SURE_ENOUGH:
        yield f"That it is a cell, and no debris, is {percent(doubt.p_cell)} sure."


def _option(letter: str, words: str, probability: float, name: str) -> str:
    return (
        f'<li class="{name}"><span class="letter">{letter}</span><span class="who">{words}</span>'
        f'<span class="gauge" aria-hidden="true"><span style="width:{100 * min(probability, 1):.1f}%"></span></span>'
        f'<span class="value">{percent(probability)}</span></li>'
    )
