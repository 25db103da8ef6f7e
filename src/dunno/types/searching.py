"""Searching along a line."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

MOST_SEARCH_STEPS = 40  # steps; judged; of Brent's search
MOST_TRIES = 500  # values; judged; of Nelder and Mead's search
GOLDEN = 0.5 * (3.0 - math.sqrt(5.0))  # 1; exact; the golden section
DIGITS = math.sqrt(2.2e-16)  # 1; exact
"""How close two places can be told apart by their values, relative to their size."""
STRIDE = 0.25  # scale of the search; judged
"""First stride from a start that should be near; it doubles."""


def find_zero(slope: Callable[[float], float], low: float, high: float, start: float, within: float) -> float:
    """Where a rising function is zero between two bounds; the bound where it is not.

    Strides out from the start until the sign changes, then regula falsi in the Illinois form.
    """
    near = min(max(start, low), high)
    near_value = slope(near)
    end, stride = (low if near_value > 0 else high), STRIDE
    while near_value != 0:
        far = max(near - stride, end) if near_value > 0 else min(near + stride, end)
        if far == near:
            return near
        far_value = slope(far)
        if (far_value > 0) != (near_value > 0):
            return _illinois(slope, (near, near_value), (far, far_value), within)
        near, near_value, stride = far, far_value, 2 * stride
    return near


def _illinois(
    slope: Callable[[float], float], one: tuple[float, float], other: tuple[float, float], within: float
) -> float:
    """The zero between two places with values of different signs."""
    (a, at_a), (b, at_b) = one, other
    place = a
    for _ in range(MOST_SEARCH_STEPS):
        before, place = place, (a * at_b - b * at_a) / (at_b - at_a)
        value = slope(place)
        if value == 0 or abs(b - a) < within or abs(place - before) < within / 4:
            break
        if (value > 0) == (at_b > 0):
            b, at_b, at_a = place, value, at_a / 2
        else:
            a, at_a, b, at_b = b, at_b, place, value
    return place


class _Tried(NamedTuple):
    place: float
    value: float


def find_lowest(
    function: Callable[[float], float], low: float, high: float, within: float = 1e-5
) -> tuple[float, float]:
    """Where a function with one minimum between two bounds is lowest, and its value there.

    Brent's search, step for step that of `scipy.optimize.minimize_scalar(method="bounded")`, whose import takes longer than
    most searches: through the three best places goes a parabola, and where its vertex is of no use, a golden section is taken.

    Example:
        >>> round(find_lowest(lambda x: (x - 2.0) ** 2, -1.0, 5.0)[0], 4)
        2.0
    """
    start = low + GOLDEN * (high - low)
    best = second = third = _Tried(start, function(start))
    step = before = 0.0
    for _ in range(MOST_TRIES - 1):
        middle, least = 0.5 * (low + high), DIGITS * abs(best.place) + within / 3.0
        if abs(best.place - middle) <= 2.0 * least - 0.5 * (high - low):
            break
        vertex = _vertex(best, second, third, before, low, high) if abs(before) > least else None
        if vertex is None:
            before = (low if best.place >= middle else high) - best.place
            step = GOLDEN * before
        else:
            before, step = step, vertex
            place = best.place + step
            if place - low < 2.0 * least or high - place < 2.0 * least:
                step = math.copysign(least, middle - best.place)
        place = best.place + math.copysign(max(abs(step), least), step)
        tried = _Tried(place, function(place))
        low, high = _narrowed(low, high, best, tried)
        best, second, third = _ranked(tried, best, second, third)
    return best.place, best.value


def _vertex(best: _Tried, second: _Tried, third: _Tried, before: float, low: float, high: float) -> float | None:
    """How far the vertex of a parabola is from the best place; `None` where it is outside, or no nearer than before."""
    r = (best.place - second.place) * (best.value - third.value)
    q = (best.place - third.place) * (best.value - second.value)
    p = (best.place - third.place) * q - (best.place - second.place) * r
    q = 2.0 * (q - r)
    p, q = (-p if q > 0.0 else p), abs(q)
    inside = q * (low - best.place) < p < q * (high - best.place)
    return p / q if inside and abs(p) < abs(0.5 * q * before) else None


def _narrowed(low: float, high: float, best: _Tried, tried: _Tried) -> tuple[float, float]:
    """The bounds, one of them drawn to the worse of two places."""
    better = tried.value <= best.value
    worse = best.place if better else tried.place
    rises = tried.place >= best.place if better else tried.place < best.place
    return (worse, high) if rises else (low, worse)


def _ranked(tried: _Tried, best: _Tried, second: _Tried, third: _Tried) -> tuple[_Tried, _Tried, _Tried]:
    """The three best places, in order."""
    if tried.value <= best.value:
        return tried, best, second
    if tried.value <= second.value or second.place == best.place:
        return best, tried, second
    if tried.value <= third.value or third.place in (best.place, second.place):
        return best, second, tried
    return best, second, third
