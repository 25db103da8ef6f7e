import numpy as np
import pytest

from dunno import Movie
from dunno.costs.distance import Distance
from dunno.errors import InputError
from dunno.types import FramePair


def test_the_cost_is_half_the_precision_times_the_squared_distance(colony: Movie) -> None:
    pair = FramePair(colony.detections(0), colony.detections(1), max_distance=4.0)
    cost = Distance(precision=3.0)(pair, np.array([1, 2]), np.array([2, 0]))
    np.testing.assert_allclose(cost, [1.5 * 1.0, 1.5 * (9.0 + 3.5**2)])


def test_an_event_costs_as_much_as_the_longest_edge(colony: Movie) -> None:
    events = Distance(precision=3.0).event_costs(FramePair(colony.detections(0), colony.detections(1), 4.0))
    assert (events.appear, events.disappear, events.divide) == (24.0, 24.0, 0.0)


@pytest.mark.parametrize("precision", [0.0, -1.0, np.nan, np.inf])
def test_a_precision_that_is_none_is_refused(precision: float) -> None:
    with pytest.raises(InputError, match="precision is"):
        Distance(precision)
