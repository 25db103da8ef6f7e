"""Frames in which many masks are missing at once are told from what births and deaths do."""

import numpy as np
import pytest

from dunno.types.stretch import unseen_shares


def shares(counts: list[int], breaks: tuple[int, ...] = ()) -> dict[int, float]:
    linked = np.ones(len(counts) - 1, bool)
    linked[list(breaks)] = False
    found = unseen_shares(np.array(counts), linked)
    return {} if found is None else {t: round(float(found[t]), 2) for t in np.flatnonzero(found).tolist()}


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([100, 100, 40, 100, 100], {2: 0.6}),
        ([100, 100, 0, 100, 100], {2: 1.0}),
        ([200, 200, 200, 60, 60, 200, 200, 200], {3: 0.7, 4: 0.7}),
        ([50, 55, 60, 20, 70, 75, 80], {3: 0.64}),
        ([100, 101, 95, 103, 98], {}),
        ([100, 100, 100, 50, 50, 50, 50], {}),
        ([40, 100, 100, 100, 40], {}),
        ([6, 6, 3, 6, 6], {}),
        ([5], {}),
    ],
    ids=["a share", "all", "two frames", "among growth", "noise", "washed out", "ends", "few cells", "one frame"],
)
def test_a_blackout_comes_back(counts: list[int], expected: dict[int, float]) -> None:
    assert shares(counts) == expected


def test_runs_are_not_compared_with_each_other() -> None:
    assert shares([100, 100, 100, 30, 30, 30], breaks=(2,)) == {}
    assert shares([100, 40, 100, 100, 40, 100], breaks=(2,)) == {1: 0.6, 4: 0.6}
