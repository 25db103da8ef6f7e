"""The unit of length is only a name: the same movie in metres, micrometres or pixels is tracked in the same way."""

import numpy as np
import pytest

from dunno import Movie, Tracker
from dunno.errors import MovieError
from dunno.simulate import colony
from dunno.tracking import Tracking

MOVIE = colony(cells=25, frames=9, motion=0.15, seed=3).movie
MASKS = [MOVIE.masks(t) for t in range(len(MOVIE))]


def tracked(scale: float) -> Tracking:
    return Tracker(workers=1).track(Movie(MASKS, scale=scale))


@pytest.fixture(scope="module")
def in_pixels() -> Tracking:
    return tracked(1.0)


@pytest.mark.parametrize("scale", [6.5e-7, 1e-8, 1e6])
def test_the_unit_of_the_scale_changes_nothing_but_units(scale: float, in_pixels: Tracking) -> None:
    scaled = tracked(scale)
    assert scaled.about["verdict"] == in_pixels.about["verdict"]
    assert scaled.about["reason"] == in_pixels.about["reason"]
    assert scaled.about["max_distance"] == pytest.approx(scale * in_pixels.about["max_distance"], rel=1e-6)
    for one, other in zip(in_pixels.pairs, scaled.pairs, strict=True):
        np.testing.assert_array_equal(one.mother, other.mother)
        np.testing.assert_array_equal(one.daughter, other.daughter)
        np.testing.assert_array_equal(one.selected, other.selected)
        np.testing.assert_allclose(one.probability, other.probability, atol=1e-6)
        np.testing.assert_allclose(np.exp(one.log_no_mother), np.exp(other.log_no_mother), atol=1e-6)


@pytest.mark.parametrize("scale", [1e-300, 1e-31, 1e31])
def test_a_scale_that_is_a_mistake_is_refused(scale: float) -> None:
    with pytest.raises(MovieError, match="the scale is 1e.*; expected sizes between 1e-30 and 1e.30"):
        Movie(MASKS, scale=scale)
