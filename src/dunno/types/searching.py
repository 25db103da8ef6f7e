"""Searching along a line."""

from __future__ import annotations

from collections.abc import Callable

MOST_STEPS = 40
STRIDE = 0.25
"""First stride from a start that should be near; it doubles."""


def find_zero(slope: Callable[[float], float], low: float, high: float, start: float, within: float) -> float:
    """Where a rising function is zero between two bounds; the bound where it is not.

    Strides out from the start until the sign changes, then regula falsi in the Illinois form.

    Args:
        slope: The function, such as the slope of a loss that has one minimum.
        low: Lower bound.
        high: Upper bound.
        start: Where the zero should be near.
        within: How close to come.
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
    for _ in range(MOST_STEPS):
        before, place = place, (a * at_b - b * at_a) / (at_b - at_a)
        value = slope(place)
        if value == 0 or abs(b - a) < within or abs(place - before) < within / 4:
            break
        if (value > 0) == (at_b > 0):
            b, at_b, at_a = place, value, at_a / 2
        else:
            a, at_a, b, at_b = b, at_b, place, value
    return place
