"""What pages are made of: templates, and tables for those who read numbers or have them read out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from string import Template


def read_part(name: str, room: str = "dunno.report") -> str:
    """A file of a room's pages."""
    return files(room).joinpath(name).read_text(encoding="utf-8")


def filled(name: str, room: str = "dunno.report", **parts: str) -> str:
    """A template with its parts."""
    return Template(read_part(name, room)).substitute(parts)


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table behind a small "the numbers" that opens it; cells are escaped, the first column heads its row."""
    titles = "".join(f'<th scope="col">{escape(title)}</th>' for title in head)
    body = "".join(_row(row) for row in rows)
    return (
        f'<details class="numbers"><summary>The numbers: {escape(caption[0].lower() + caption[1:])}</summary>'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f"<table><caption>{escape(caption)}</caption><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table></div></details>"
    )


def _row(row: Sequence[str]) -> str:
    first, *others = map(escape, row)
    return f'<tr><th scope="row">{first}</th>{"".join(f"<td>{each}</td>" for each in others)}</tr>'
