"""Masks that hold two cells, and mothers in earlier frames."""

import numpy as np
import pytest

from dunno import Movie, Tracker, evaluation
from dunno.evaluation.divisions import divisions
from dunno.truth import earlier_mothers, true_mothers
from dunno.truth.matching import TrackTable, match_cells, match_truth
from dunno.types import Truth


def frame(*cells: tuple[int, int, int]) -> np.ndarray:
    """A 40 × 40 frame with 4 × 4 squares: label, row, column."""
    image = np.zeros((40, 40), np.int64)
    for label, y, x in cells:
        image[y : y + 4, x : x + 4] = label
    return image


TABLE = TrackTable(np.array([1, 2]), np.array([0, 0]), np.array([3, 3]), np.array([0, 0]))
MARKERS = [frame((1, 10, 10), (2, 10, 14)) for _ in range(4)]


def merged(image: np.ndarray) -> np.ndarray:
    return np.where(image > 0, 1, 0)


def test_a_mask_over_two_cells_holds_both() -> None:
    own, besides = match_cells(np.array([1]), merged(MARKERS[0]), MARKERS[0])
    assert own[0] in (1, 2)
    assert besides.tolist() == [[0], [3 - own[0]]]


@pytest.fixture
def merging() -> tuple[Movie, Truth]:
    """Two cells, whose masks are one in frames 1 and 2."""
    masks = [MARKERS[0], merged(MARKERS[1]), merged(MARKERS[2]), MARKERS[3]]
    movie = Movie(masks)
    return movie, match_truth(movie, TABLE, MARKERS)


def test_both_masks_lead_into_the_one_that_holds_both(merging: tuple[Movie, Truth]) -> None:
    movie, truth = merging
    tracking = Tracker(method="SM", calibration=None, max_distance=20.0).track(movie)
    true = [true_mothers(truth, pair) for pair in tracking.pairs]
    everyone = [true[t].is_true(np.array([0, 1][:m]), np.zeros(m, np.int64)) for t, m in ((0, 2), (1, 1))]
    assert everyone[0].tolist() == [True, True]  # merging: either mother is right
    assert everyone[1].tolist() == [True]
    assert true[2].is_true(np.array([0, 0]), np.array([0, 1])).tolist() == [True, True]  # coming apart
    assert not true[2].undetected.any()
    assert evaluation.score(tracking, truth).swaps == 0


def test_coming_apart_is_no_true_division(merging: tuple[Movie, Truth]) -> None:
    movie, truth = merging
    found = divisions(Tracker(method="SM", calibration=None, max_distance=20.0, divide_cost=-5.0).track(movie), truth)
    assert (found.true, found.right) == (0, 0)
    assert found.reported >= 1
    assert np.isnan(found.recall)


def test_the_mother_is_in_the_latest_frame_that_shows_the_cell() -> None:
    masks = [MARKERS[0], frame((2, 10, 14)), frame((2, 10, 14)), MARKERS[3]]
    movie = Movie(masks)
    truth = match_truth(movie, TABLE, MARKERS)
    pair = Tracker(method="SM", calibration=None, max_distance=20.0).track(movie).pairs[2]
    earlier = earlier_mothers(truth, pair, true_mothers(truth, pair))
    assert earlier.frame.tolist() == [0, -1]
    assert earlier.label.tolist() == [1, -1]
    assert earlier_mothers(truth, pair, true_mothers(truth, pair), most=1).frame.tolist() == [-1, -1]


def test_a_division_that_is_reported_late_is_right_once() -> None:
    """A cell divides after frame 1; its masks stay one until frame 3."""
    table = TrackTable(np.array([1, 2, 3]), np.array([0, 2, 2]), np.array([1, 7, 7]), np.array([0, 1, 1]))
    markers = [frame((1, 10, 12))] * 2 + [frame((2, 10, 10), (3, 10, 14))] * 6
    masks = [markers[0], markers[1], merged(markers[2]), merged(markers[3]), *markers[4:]]
    movie = Movie(masks)
    truth = match_truth(movie, table, markers)
    tracking = Tracker(method="SM", calibration=None, max_distance=20.0, divide_cost=-5.0).track(movie)
    found = divisions(tracking, truth)
    assert (found.reported, found.right, found.true, found.f1) == (1, 1, 1, 1.0)
    assert divisions(tracking, truth, tolerance=1).right == 0
