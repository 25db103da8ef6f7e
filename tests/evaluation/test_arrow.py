"""Any tracker beside the movie played backwards."""

import numpy as np
import pytest

from dunno import Movie, Tracker
from dunno.evaluation import arrow
from dunno.simulate import Colony, colony
from dunno.types.links import Links


@pytest.fixture(scope="module")
def made() -> Colony:
    return colony(cells=30, frames=24, motion=0.1, seed=4)


def test_a_reversed_movie_shows_its_frames_backwards(made: Colony) -> None:
    back = made.movie.reversed()
    assert back.frames.tolist() == made.movie.frames.tolist()
    np.testing.assert_array_equal(back.masks(0), made.movie.masks(23))
    np.testing.assert_array_equal(back.detections(3).centroid, made.movie.detections(20).centroid)
    assert back.detections(3).frame == back.frames[3]
    np.testing.assert_array_equal(back.reversed().masks(5), made.movie.masks(5))


def test_times_run_forwards_in_a_movie_that_runs_backwards() -> None:
    movie = Movie(np.zeros((4, 5, 5), np.uint8), times=[0.0, 1.0, 5.0, 6.0], frames=np.array([0, 1, 5, 6]))
    back = movie.reversed()
    assert back.frames.tolist() == [0, 1, 5, 6]
    assert back.times is not None and back.times.tolist() == [0.0, 1.0, 5.0, 6.0]


@pytest.mark.parametrize(
    "tracker", [None, Tracker(cost="overlap", method="SM", calibration=None)], ids=["default", "SM"]
)
def test_cells_divide_and_do_not_fuse(made: Colony, tracker: Tracker | None) -> None:
    found = arrow(made.movie, tracker)
    _, daughters = np.unique(made.truth.mother[made.truth.mother > 0], return_counts=True)
    true = int((daughters > 1).sum())
    assert true > 15
    assert found.reported[1] <= 0.25 * found.reported[0]
    assert 0.75 * true <= found.expected_real <= 1.25 * true
    assert (found.expected is None) == (tracker is not None)
    if found.expected is not None:
        assert found.expected.seen == pytest.approx(true, rel=0.2)


def test_a_movie_that_runs_backwards_is_noticed(made: Colony) -> None:
    found = arrow(made.movie.reversed())
    assert found.reported[0] < found.reported[1]
    assert found.expected_real == 0


def test_divisions_of_links_get_their_odds(made: Colony) -> None:
    tracking = Tracker().track(made.movie)
    block = tracking.block
    own = np.flatnonzero(block.selected)
    frame, label = block.frames[block.frame_of], block.cells.label
    ends = block.mother[own], block.daughter[own]
    links = Links(frame[ends[0]], label[ends[0]], frame[ends[1]], label[ends[1]], gap=block.gap[own])
    found = arrow(made.movie, links=links)
    assert len(found.divisions.frame) == found.reported[0] > 15
    assert found.expected_real == pytest.approx(found.divisions.probability.sum())
    assert found.divisions.probability.mean() > 0.8
