"""Numbers as lines of text."""

import numpy as np
import pytest

from dunno.io.columns import csv_rows

N = 20_000


def numbers(kind: str) -> np.ndarray:
    rng = np.random.default_rng(3)
    some, power = rng.integers(10**8, 10**9, N), 10.0 ** rng.integers(0, 45, N)
    beside = 1 + rng.integers(-3, 4, N) * 2.2e-16
    found = {
        "shares": rng.random(N),
        "nearly one": 1 - 10 ** rng.uniform(-12, 0, N),
        "of every size": 10 ** rng.uniform(-320, 308, N),
        "below zero": -(10 ** rng.uniform(-6, 10, N)),
        "any bits": rng.integers(0, 2**64, N, dtype=np.uint64).view(np.float64),
        "short": np.round(rng.random(N), 3) * 10.0 ** rng.integers(-6, 9, N),
        "between two": (some + 0.5) / power * beside,
        "powers of ten": 10.0 ** rng.integers(-40, 20, N) * beside,
        "all nines": 10.0 ** rng.integers(-10, 10, N) * (1 - 10 ** rng.uniform(-12, -7, N)),
        "ends": np.array([0.0, -0.0, np.inf, -np.inf, 1e9, 999999999.5, 999999999.6, 9.9999999996e-5, 1e-5, 5e-324]),
    }[kind]
    return found[~np.isnan(found)]


KINDS = ("shares", "nearly one", "of every size", "below zero", "any bits", "short", "between two", "powers of ten")


@pytest.mark.parametrize("kind", [*KINDS, "all nines", "ends"])
def test_numbers_have_nine_digits_as_python_writes_them(kind: str) -> None:
    values = numbers(kind)
    assert csv_rows({"values": values}).decode().split() == [f"{value:.9g}" for value in values.tolist()]


def test_nothing_stands_where_a_number_is_undefined() -> None:
    columns = {"frame": np.array([3, 4]), "p": np.array([np.nan, 0.25]), "last": np.array([True, False])}
    assert csv_rows(columns) == b"3,,1\n4,0.25,0\n"
