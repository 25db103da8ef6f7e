"""Searching along a line."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from dunno.types.density import log_student, tail_slope
from dunno.types.searching import find_lowest, find_zero


@pytest.mark.parametrize("start", [-3.0, 0.1, 2.0])
def test_a_zero_is_found_from_any_start(start: float) -> None:
    assert find_zero(lambda x: np.tanh(x - 0.7), -3.0, 2.0, start, 1e-6) == pytest.approx(0.7, abs=1e-6)


def test_without_a_zero_it_is_the_bound() -> None:
    assert find_zero(lambda x: 1.0 + x * x, -1.0, 2.0, 0.5, 1e-3) == -1.0
    assert find_zero(lambda x: -1.0, -1.0, 2.0, 0.5, 1e-3) == 2.0


@pytest.mark.parametrize("tail", [2.5, 10.0])
@pytest.mark.parametrize("d", [2, 3])
def test_the_slope_in_the_tail_is_that_of_the_density(tail: float, d: int) -> None:
    squared, nudge = np.array([0.0, 0.3, 2.0, 50.0]), 1e-5
    above, below = (log_student(squared, 1.0, tail * np.exp(sign * nudge), d) for sign in (1, -1))
    assert tail_slope(squared, tail, d) == pytest.approx((below - above) / (2 * nudge), abs=1e-5)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x - 0.3) ** 2,
        lambda x: math.exp(x) - 2 * x,
        lambda x: abs(x + 1.7),
        lambda x: -x,
        lambda x: x,
        lambda x: 0.0,
        lambda x: math.cos(3 * x) + 0.1 * x,
        lambda x: (x - 1) ** 4,
    ],
)
def test_the_lowest_place_is_that_of_scipy_to_the_bit(function: Callable[[float], float]) -> None:
    from scipy.optimize import minimize_scalar

    tried: list[float] = []

    def noted(x: float) -> float:
        tried.append(x)
        return function(x)

    place, value = find_lowest(noted, -3.0, 4.0)
    expected = minimize_scalar(function, bounds=(-3.0, 4.0), method="bounded")
    assert (place, value, len(tried)) == (expected.x, expected.fun, expected.nfev)
