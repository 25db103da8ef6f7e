"""The unit of length is only a name: the same movie in metres, micrometres or pixels is tracked in the same way."""

from functools import cache

import numpy as np
import pytest

from dunno import Movie, Tracker, rooms
from dunno.calibration import TemperatureScaling, fit_event_costs
from dunno.errors import MovieError
from dunno.simulate import colony
from dunno.tracking import Tracking

COLONY = colony(cells=25, frames=9, motion=0.15, seed=3)
SMALL = colony(cells=12, frames=7, motion=0.2, seed=5)
COSTS = sorted(set(rooms.members("costs")) - {"transformer"})  # its own tests: it sees pixels alone
METHODS = sorted(rooms.members("methods"))


def scaled(movie: Movie, scale: float) -> Movie:
    frames = range(len(movie))
    return Movie([movie.masks(t) for t in frames], images=[movie.images(t) for t in frames], scale=scale)


@cache
def tracked(scale: float) -> Tracking:
    return Tracker(workers=1).track(scaled(COLONY.movie, scale))


@cache
def bare(cost: str, method: str, scale: float, calibration: str | None) -> Tracking:
    return Tracker(cost, method, workers=1, calibration=calibration).track(scaled(SMALL.movie, scale))


def assert_the_same(one: Tracking, other: Tracking, tolerance: float = 1e-6) -> None:
    assert one.about["verdict"] == other.about["verdict"]
    assert one.about["reason"] == other.about["reason"]
    for before, after in zip(one.pairs, other.pairs, strict=True):
        np.testing.assert_array_equal(before.mother, after.mother)
        np.testing.assert_array_equal(before.daughter, after.daughter)
        np.testing.assert_array_equal(before.selected, after.selected)
        np.testing.assert_allclose(before.probability, after.probability, atol=tolerance)
        np.testing.assert_allclose(np.exp(before.log_no_mother), np.exp(after.log_no_mother), atol=tolerance)


@pytest.mark.parametrize("scale", [6.5e-7, 1e-8, 1e6])
def test_the_unit_of_the_scale_changes_nothing_but_units(scale: float) -> None:
    assert_the_same(tracked(1.0), tracked(scale))
    assert tracked(scale).about["max_distance"] == pytest.approx(scale * tracked(1.0).about["max_distance"], rel=1e-6)


@pytest.mark.parametrize(("calibration", "scale"), [("self", 1e-9), (None, 1e4)])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("cost", COSTS)
def test_nor_does_it_for_any_cost_and_method(cost: str, method: str, calibration: str | None, scale: float) -> None:
    assert_the_same(bare(cost, method, 1.0, calibration), bare(cost, method, scale, calibration))


@pytest.mark.parametrize("cost", COSTS)
def test_nor_for_what_is_fitted_with_truth(cost: str) -> None:
    for fit in (fit_event_costs, TemperatureScaling.fit):
        one, other = (
            fit(given, SMALL.truth)(given) for given in (bare(cost, "JP", scale, None) for scale in (1.0, 1e-9))
        )
        assert_the_same(one, other, 1e-4)  # the search for the best parameters ends at other roundings


@pytest.mark.parametrize("scale", [1e-300, 1e-31, 1e31])
def test_a_scale_that_is_a_mistake_is_refused(scale: float) -> None:
    with pytest.raises(MovieError, match="the scale is 1e.*; expected sizes between 1e-30 and 1e.30"):
        scaled(SMALL.movie, scale)
