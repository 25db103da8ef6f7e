"""Leaps."""

import numpy as np

from dunno.models.fast_em import extrapolated


def test_a_slow_straight_approach_is_extrapolated_to_its_end() -> None:
    end, way = np.array([1.0, -2.0]), np.array([3.0, 1.0])
    place = extrapolated([end + way * 0.7**k for k in range(3)])
    assert place is not None
    assert np.abs(place - end).max() < 1e-12


def test_what_does_not_move_stays_and_what_is_infinite_is_refused() -> None:
    still = np.array([1.0])
    assert extrapolated([still, still, still]) is None
    assert extrapolated([still, np.array([np.inf]), still]) is None
