"""The benchmark's figures, one per file.

A file holds one class with a `name` (of its files), an `order` (on the page), a `title`, and

- `applies(rows) -> bool`: whether there is anything to draw,
- `draw(rows) -> Figure`: a matplotlib figure,
- `sentence(rows) -> str`: what is seen, computed from the numbers.

It is drawn and on the page as soon as the file is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from dunno import rooms
from dunno.benchmark.rows import Row
from dunno.benchmark.style import SETTINGS, save

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Drawing(Protocol):
    """What every figure can do."""

    name: str
    order: int
    title: str

    def applies(self, rows: Sequence[Row]) -> bool:
        """Whether there is anything to draw."""
        ...

    def draw(self, rows: Sequence[Row]) -> Figure:
        """Draw it."""
        ...

    def sentence(self, rows: Sequence[Row]) -> str:
        """Say what is seen."""
        ...


@dataclass(frozen=True)
class Drawn:
    """A figure on disk: its files' name, title and sentence."""

    name: str
    title: str
    sentence: str


def drawings() -> list[Drawing]:
    """All figures, in the page's order."""
    offered = rooms.members("benchmark.figures").values()
    return sorted((cast(Drawing, each()) for each in offered), key=lambda each: each.order)


def draw_all(rows: Sequence[Row], folder: Path) -> list[Drawn]:
    """Draw whatever the table has numbers for."""
    from matplotlib import rc_context

    folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    with rc_context(SETTINGS):
        for each in drawings():
            if each.applies(rows):
                save(each.draw(rows), folder, each.name)
                drawn.append(Drawn(each.name, each.title, each.sentence(rows)))
    return drawn
