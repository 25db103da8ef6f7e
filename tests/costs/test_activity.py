from dataclasses import replace

import numpy as np
import pytest

from dunno import Movie, Tracker
from dunno.costs.activity import Activity
from dunno.errors import InputError, MovieError
from dunno.types import FramePair


def movie(images: list[np.ndarray] | None) -> Movie:
    masks = np.zeros((2, 4, 8), int)
    masks[:, 1:3, 1:3] = 1
    masks[0, 1:3, 5], masks[1, 1:3, 6] = 2, 2
    return Movie(masks, images)


def changing(first: int, second: int) -> list[np.ndarray]:
    """Cell 1 changes from 10 to `first`, cell 2 to `second`; unsigned, so that a difference may wrap."""
    before, after = np.full((4, 8), 10, np.uint8), np.full((4, 8), 10, np.uint8)
    after[:, :4], after[:, 4:] = first, second
    return [before, after]


def pair_of(recording: Movie) -> FramePair:
    return FramePair(recording.detections(0), recording.detections(1), 4.0)


def test_activity_is_half_the_mean_absolute_change() -> None:
    activity = Activity(floor=1e-9).activity(pair_of(movie(changing(4, 18))))
    np.testing.assert_allclose(activity, [3.0, 4.0])


def test_the_cost_is_the_distance_over_the_mothers_activity() -> None:
    pair = pair_of(movie(changing(4, 18)))
    cost = Activity(precision=2.0)(pair, np.array([0, 1]), np.array([1, 1]))
    np.testing.assert_allclose(cost, [2.0 / (2 * 3.0) * 4.5**2, 2.0 / (2 * 4.0) * 1.0])


def test_a_still_cell_has_the_floors_activity() -> None:
    activity = Activity(floor=0.25).activity(pair_of(movie(changing(10, 18))))
    np.testing.assert_allclose(activity, [1.0, 4.0])
    np.testing.assert_allclose(Activity().activity(pair_of(movie(changing(10, 10)))), [1.0, 1.0])


def test_events_cost_what_the_longest_edge_does() -> None:
    events = Activity(precision=2.0).event_costs(pair_of(movie(changing(4, 18))))
    assert events.appear == events.disappear == pytest.approx(2.0 / (2 * 3.5) * 16.0)


def test_it_needs_images() -> None:
    with pytest.raises(MovieError, match="has masks but no images; give images, or use a cost that needs none"):
        Tracker("activity").track(movie(None))


@pytest.mark.parametrize("wrong", [{"precision": 0.0}, {"floor": -1.0}])
def test_odd_parameters_are_refused(wrong: dict) -> None:
    with pytest.raises(InputError, match="expected a number above zero"):
        Activity(**wrong)


def test_other_masks_have_another_activity_and_other_centres_the_same() -> None:
    """What is kept with a frame's pixels is not used for others."""
    pair, cost = pair_of(movie(changing(4, 18))), Activity(floor=1e-9)
    np.testing.assert_allclose(cost.activity(pair), [3.0, 4.0])
    moved = replace(pair, mothers=replace(pair.mothers, centroid=pair.mothers.centroid + 1.0))
    np.testing.assert_allclose(cost.activity(moved), [3.0, 4.0])
    masks = np.where(pair.mothers.masks == 2, 0, pair.mothers.masks)
    masks[1, 3] = 2  # cell 2 now lies where cell 1's side of the image changed
    redrawn = replace(pair, mothers=pair.mothers.moved(masks, pair.scale))
    np.testing.assert_allclose(cost.activity(redrawn), [3.0, 3.0])
