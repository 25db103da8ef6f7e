"""Charts as inline SVG: axes, bars and lines. Colours are the style sheet's, so that they follow light, dark and print."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from dunno.types import Floats

WIDTH, HEIGHT = 720, 260
LEFT, RIGHT, TOP, BOTTOM = 72, 28, 16, 44
"""Of a chart, and the room around what is plotted."""


Values = Iterable[float]
Labels = tuple[Callable[[float], str], Callable[[float], str]]


@dataclass(frozen=True)
class Axis:
    """From values to pixels."""

    low: float  # The value at the axis's beginning
    high: float  # The value at its end
    begin: float  # Pixel of `low`
    end: float  # Pixel of `high`
    log: bool = False  # Logarithmic; both values are positive

    def __call__(self, value: float) -> float:
        """Where a value lies."""
        low, high, value = map(math.log, (self.low, self.high, value)) if self.log else (self.low, self.high, value)
        return self.begin + (value - low) / ((high - low) or 1.0) * (self.end - self.begin)

    def ticks(self, most: int = 6) -> list[float]:
        """Round values along it."""
        return powers(self.low, self.high) if self.log else round_values(self.low, self.high, most)


def across(low: float, high: float, left: float = LEFT, right: float = WIDTH - RIGHT) -> Axis:
    """A horizontal axis."""
    return Axis(low, high, left, right)


def upwards(low: float, high: float, top: float = TOP, bottom: float = HEIGHT - BOTTOM, log: bool = False) -> Axis:
    """A vertical axis."""
    return Axis(low, high, bottom, top, log)


def round_values(low: float, high: float, most: int) -> list[float]:
    """At most `most` multiples of 1, 2 or 5 times a power of ten, from low to high.

    Example:
        >>> round_values(0, 92, 6)
        [0.0, 20.0, 40.0, 60.0, 80.0]
    """
    if not high > low:
        return [low]
    rough = (high - low) / max(most - 1, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10, 20) if (high - low) / (power * factor) < most)
    first = math.ceil(low / step - 1e-9)
    return [round(index * step, 12) for index in range(first, math.floor(high / step + 1e-9) + 1)]


def powers(low: float, high: float) -> list[float]:
    """The powers of ten from low to high."""
    return [10.0**power for power in range(math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9) + 1)]


def chart(body: Iterable[str], label: str, width: float = WIDTH, height: float = HEIGHT, name: str = "") -> str:
    """A picture with a description for those who do not see it."""
    return (
        f'<svg class="chart {name}" viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(label)}">'
        f"{''.join(body)}</svg>"
    )


@dataclass(frozen=True)
class Plot:
    """Two axes, and what is drawn along them."""

    x: Axis
    y: Axis

    def points(self, across: Values, up: Values) -> list[tuple[float, float]]:
        """Pixels of values."""
        return [(self.x(float(a)), self.y(float(b))) for a, b in zip(across, up, strict=True)]

    def line(self, across: Values, up: Values, name: str = "line") -> str:
        """A line through values; it breaks where one is NaN."""
        return line(self.points(across, up), name)

    def area(self, across: Values, up: Values, name: str = "area") -> str:
        """What a line through values encloses."""
        corners = (f"{x:.1f} {y:.1f}" for x, y in self.points(across, up))
        return f'<path class="{name}" d="M{"L".join(corners)}Z"/>'

    def band(self, across: Floats, low: Floats, high: Floats) -> str:
        """The area between two lines."""
        return self.area([*across, *across[::-1]], [*high, *low[::-1]])

    def chart(
        self,
        marks: Iterable[str],
        told: str,
        titles: tuple[str, str],
        labels: Labels,
        most: tuple[int, int] = (8, 5),
        **how: Any,
    ) -> str:
        """The marks between the axes, whose titles and labels are given for x and y."""
        sides = y_axis(self.y, self.x.begin, self.x.end, titles[1], labels[1], most[1])
        return chart([sides, *marks, x_axis(self.x, self.y.begin, titles[0], labels[0], most[0])], told, **how)


def x_axis(axis: Axis, y: float, title: str, label: Callable[[float], str], most: int = 8) -> str:
    """Ticks, numbers and a title below."""
    ticks = "".join(
        f'<path class="tick" d="M{axis(value):.1f} {y:g}v5"/>'
        + text(axis(value), y + 18, label(value), "middle", "odd" if index % 2 else "")  # narrow screens leave them out
        for index, value in enumerate(axis.ticks(most))
    )
    line = f'<path class="axis" d="M{axis.begin:g} {y:g}H{axis.end:g}"/>'
    return line + ticks + text((axis.begin + axis.end) / 2, y + 38, title, "middle", "title")


def y_axis(axis: Axis, left: float, right: float, title: str, label: Callable[[float], str], most: int = 5) -> str:
    """Faint lines across, numbers and a title on the left."""
    lines = "".join(
        f'<path class="grid" d="M{left:g} {axis(value):.1f}H{right:g}"/>{text(left - 8, axis(value) + 4, label(value), "end")}'
        for value in axis.ticks(most)
    )
    middle = (axis.begin + axis.end) / 2
    turned = f'transform="translate(14 {middle:.1f}) rotate(-90)" text-anchor="middle"'
    return f'{lines}<text class="title upwards" {turned}>{escape(title)}</text>'


def text(x: float, y: float, content: str, anchor: str = "start", name: str = "") -> str:
    """A word or a number."""
    kind = f' class="{name}"' if name else ""
    return f'<text{kind} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(content)}</text>'


def line(points: Sequence[tuple[float, float]], name: str) -> str:
    """A line through pixels (x, y); it breaks where one is NaN."""
    path, pen = [], "M"
    for x, y in points:
        if math.isnan(y):
            pen = "M"
            continue
        path.append(f"{pen}{x:.1f} {y:.1f}")
        pen = "L"
    return f'<path class="{name}" d="{"".join(path)}"/>'


def bar(x: float, y: float, width: float, bottom: float, name: str = "bar") -> str:
    """A bar that stands on `bottom`."""
    return f'<rect class="{name}" x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.5):.1f}" height="{max(bottom - y, 0):.1f}"/>'


def dot(x: float, y: float, name: str = "dot", radius: float = 4.5) -> str:
    """A marker."""
    return f'<circle class="{name}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}"/>'


def whole(value: float) -> str:
    """A tick's number, without decimals that say nothing."""
    return f"{value:,.10g}"


def as_percent(value: float) -> str:
    """A tick's share.

    Example:
        >>> as_percent(0.95), as_percent(0.995)
        ('95 %', '99.5 %')
    """
    return f"{100 * value:.6g} %"
