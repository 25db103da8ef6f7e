"""The reference of what a model fits, made from its terms."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

HEAD = """# Parameters

Made from the program itself: what each term of a model fits ([evidence](../evidence.md)), within which bounds, and what is
believed before the movie. A prior of 0.01 worth 300 cells weighs as much as 300 cells of which three did it.
"""


def page() -> str:
    """The whole page, as Markdown."""
    from dunno import rooms

    return HEAD + "".join(_section(name, term) for name, term in rooms.members("terms").items())


def _section(name: str, term: Any) -> str:
    from dunno import rooms

    rows = [_row(each.name, each.metadata["parameter"]) for each in fields(term) if "parameter" in each.metadata]
    table = (
        "\n".join(["| parameter | unit | bounds | prior |", "|---|---|---|---|", *rows])
        if rows
        else "It fits no number."
    )
    return f"\n## {name}\n\n{rooms.summary(term)}\n\n{table}\n"


def _row(name: str, told: Any) -> str:
    low, high = told.bounds
    return f"| `{name}` | {told.unit} | {low:g} to {high:g} | {told.prior} |"
