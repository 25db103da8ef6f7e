"""`biology.html`: figures, survival, rates and trees on one page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape

import numpy as np

from dunno.biology.lineage import BORN, ENDED
from dunno.biology.quantities import NOT_IN_THE_INTERVALS, Biology, Quantity, what_is_in
from dunno.report import words
from dunno.report.html_parts import filled, read_part, table
from dunno.runs.findings import debris_left_out
from dunno.types import Floats


def page(found: Biology, drawings: Mapping[str, str], rates: Mapping[str, Floats], trees_told: str) -> str:
    """The whole HTML file.

    Drawings are charts by name: `survival` (where there is one), `rates`, `cells`, `trees`.
    """
    about, unit = found.tracking.about, found.time_unit
    state, meaning = words.verdict(about)
    whole = filled(
        "page.html",
        "dunno.biology",
        style=read_part("page.css"),
        made=escape(f"dunno {about.version}, cost {about.cost}, method {about.method}, seed {about.seed}"),
        movie=escape(about.movie),
        state=state,
        state_name="good" if about.calibrated else "bad",
        meaning=escape(meaning),
        drawn=escape(_drawn(found)),
        figures="".join(_row(each) for each in found.figures),
        inside=_items(what_is_in(about)) if found.draws else "<li>There are no intervals.</li>",
        outside=_items(NOT_IN_THE_INTERVALS),
        survival=_survival(found, drawings.get("survival")),
        rates=drawings["rates"],
        rates_table=_rates_table(rates, unit),
        cells=drawings["cells"],
        trees=drawings["trees"],
        trees_told=escape(trees_told),
        ends=_ends(found),
        one=unit.removesuffix("s"),
        unit=unit,
        length=about.length_unit,
    )
    return whole.replace(" %", "\u00a0%")


def _items(lines: Iterable[str]) -> str:
    return "".join(f"<li>{escape(line)}</li>" for line in lines)


def _drawn(found: Biology) -> str:
    if found.draws:
        return (
            f"Every figure was computed on {len(found.draws)} lineages, drawn as often as they are probable: the value is "
            "their median; the number of divisions is the one that dunno track says. The reported lineage, that of the output's "
            "own tables, makes the most decisions right and is not one of them; where many are doubtful, its figure may lie "
            f"outside.{_debris(found)}"
        )
    return f"There are no intervals, because no lineages could be drawn: {found.why_no_draws}.{_debris(found)}"


def _debris(found: Biology) -> str:
    """What was left out, or counted."""
    told = debris_sentence(found)
    return f" {told}." if told else ""


def debris_sentence(found: Biology) -> str:
    """What is taken for debris; empty where nothing is."""
    every = len(found.tracking.tracks())
    if not found.debris:
        return ""
    if found.with_debris:
        return f"{found.debris:,} of {every:,} tracks are taken for debris, and measured like cells"
    return debris_left_out(found.debris, every, "measures")


def number(value: float) -> str:
    """A figure with four digits.

    Example:
        >>> number(1234.5), number(0.0258976), number(float("nan"))
        ('1234', '0.0259', '–')
    """
    if np.isnan(value):
        return "–"
    return f"{value:.0f}" if abs(value) >= 100 or value == round(value) else f"{value:.3g}"


def between(low: float, high: float) -> str:
    """An interval."""
    return "–" if np.isnan(low) or np.isnan(high) else f"{number(low)} to {number(high)}"


def _row(each: Quantity) -> str:
    intervals = between(each.low, each.high), between(each.low_cells, each.high_cells)
    cells = (number(each.value), *intervals, number(each.reported))
    told = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
    return f'<tr><th scope="row">{escape(each.words)}</th>{told}<td class="words">{escape(each.unit)}</td></tr>'


def _survival(found: Biology, drawing: str | None) -> str:
    head = '<section aria-labelledby="survival">\n<h2 id="survival">How long cycles last</h2>\n'
    curve = found.survival
    if drawing is None or curve is None:
        return f"{head}<p>No division was seen whose daughters could be followed.</p>\n</section>"
    median, low, high = curve.median()
    unit = found.time_unit
    told = (
        f"Half of the cells have divided by the age of {number(median)} {unit} (95 %: {between(low, high)}). Cells that are lost, "
        "leave or outlive the movie count for as long as they were seen (Kaplan–Meier); those born before it are left out."
    )
    rows = [
        tuple(f"{value:.4g}" for value in row)
        for row in zip(*(getattr(curve, name).tolist() for name in ("age", "share", "low", "high")), strict=True)
    ]
    numbers = table("Cells not yet divided by age", (f"age ({unit})", "share", "low", "high"), rows)
    caption = (
        "Line: pooled over the drawn lineages (Rubin's rules), with its 95 % band. Dashed: the reported lineage alone."
    )
    return (
        f'{head}<p>{escape(told)}</p>\n<figure class="plot" tabindex="0">{drawing}\n<figcaption>{escape(caption)}</figcaption>'
        f"</figure>\n{numbers}\n</section>"
    )


def _rates_table(rates: Mapping[str, Floats], unit: str) -> str:
    rows = [
        (f"{a:.6g} – {b:.6g}", f"{rate:.3g}", f"{low:.3g} to {high:.3g}")
        for a, b, rate, low, high in zip(
            *(rates[name].tolist() for name in ("begin", "end", "rate", "low", "high")), strict=True
        )
    ]
    return table("Divisions over time", (f"time ({unit})", f"per cell and {unit.removesuffix('s')}", "95 %"), rows)


def _ends(found: Biology) -> str:
    """How many tracks began and ended in each way."""
    lineage = found.lineage
    counts = np.zeros((len(BORN), len(ENDED)), np.int64)
    np.add.at(counts, (lineage.born_by, lineage.ended_by), 1)
    head = "".join(f'<th scope="col">ended by {name}</th>' for name in ENDED)
    body = "".join(
        f'<tr><th scope="row">born by {name}</th>{"".join(f"<td>{n}</td>" for n in row)}</tr>'
        for name, row in zip(BORN, counts.tolist(), strict=True)
    )
    return f'<div class="shown"><table><thead><tr><th></th>{head}</tr></thead><tbody>{body}</tbody></table></div>'
