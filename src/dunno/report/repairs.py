"""What became of the masks: how many were split, joined and left out, and which of that is least certain."""

from __future__ import annotations

import csv
from collections import defaultdict
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

from dunno.report.html_tables import table
from dunno.report.numbers import amount, count

WORDS = {
    "split": "cut, because they hold two or more",
    "joined": "joined with a neighbour",
    "left out": "left out: no object",
}
LISTED_REPAIRS = 5
"""Of each kind, the least certain ones that are listed."""


def read_repairs(folder: Path) -> list[dict[str, str]] | None:
    """The rows of `repairs.csv`; `None` where masks were taken as they are."""
    path = folder / "repairs.csv"
    if not path.is_file():
        return None
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def section(rows: list[dict[str, str]] | None) -> str:
    """How good the masks are."""
    if rows is None:
        return _filled("<p>Every mask was taken for one cell: a glance at them shows no reason to doubt that.</p>", "")
    masks: dict[str, dict[tuple[str, str], float]] = defaultdict(dict)
    for row in rows:
        masks[row["what"]][row["frame"], row["mask"]] = float(row["probability"])
    told = "".join(
        f"<li>{count(len(found))} masks were {escape(WORDS[what])}; about {amount(sum(1 - p for p in found.values()))} of that "
        "is expected to be wrong</li>"
        for what, found in sorted(masks.items())
    )
    least = [
        (frame, mask, what, f"{p:.0%}")
        for what, found in sorted(masks.items())
        for (frame, mask), p in sorted(found.items(), key=lambda item: item[1])[:LISTED_REPAIRS]
    ]
    said = (
        f"<ul>{told}</ul><p>All are listed in <code>repairs.csv</code>; <code>--no-repair</code> keeps the masks.</p>"
    )
    return _filled(said, table("Least certain repairs", ("frame", "mask", "what", "probability"), least))


def _filled(told: str, listed: str) -> str:
    page = files("dunno.report").joinpath("masks.html").read_text(encoding="utf-8")
    return Template(page).substitute(told=told, table=listed)
