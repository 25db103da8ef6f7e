import numpy as np
import pytest

from dunno import Movie, Tracker
from dunno.truth import ancestors, match_tracks, true_mothers
from dunno.types import Truth

from .conftest import COLONY, draw


@pytest.fixture
def family() -> Truth:
    """Track 1 divides into 2 and 3 after frame 1; 3 divides into 4 and 5 after frame 3; 6 begins in frame 2."""
    rows = np.array([(1, 0, 1, 0), (2, 2, 9, 1), (3, 2, 3, 1), (4, 4, 9, 3), (5, 4, 9, 3), (6, 2, 9, 0)])
    return Truth(*rows.T, markers=np.zeros((10, 2, 2), int), frames=np.arange(10))


def test_ancestors_reach_back_over_generations(family: Truth) -> None:
    assert ancestors(family, np.array([4, 2, 6, 0]), 4).tolist() == [4, 2, 6, 0]
    assert ancestors(family, np.array([4, 2, 6, 0]), 2).tolist() == [3, 2, 6, 0]
    assert ancestors(family, np.array([4, 5, 6, 0]), 0).tolist() == [1, 1, 0, 0]


def test_a_detection_is_the_track_whose_marker_it_covers_by_more_than_half() -> None:
    masks = draw("""
    aaaa....bb..
    aaaa....bb..
    aaaa..cc....
    """)
    markers = draw("""
    .d......f...
    ..d....eef..
    .....gggg...
    """)
    labels = np.array([1, 2, 3])
    # 1 covers all of d; 2 covers all of f but one of two pixels of e; 3 covers half of g, which is not enough.
    assert match_tracks(labels, masks, markers).tolist() == [4, 6, 0]


def test_matching_without_cells_or_markers_finds_nothing() -> None:
    empty = np.zeros((3, 3), int)
    assert match_tracks(np.array([], int), empty, empty).tolist() == []
    assert match_tracks(np.array([1]), empty + 1, empty).tolist() == [0]


def test_the_true_mother_is_found_among_the_detections() -> None:
    pair = Tracker(max_distance=3).track(Movie(COLONY)).pairs[0]
    rows = np.array([(7, 0, 0, 0), (8, 0, 5, 0), (9, 1, 5, 7), (10, 1, 5, 7), (11, 1, 5, 0)])
    truth = Truth(*rows.T, markers=np.zeros((6, 2, 2), int), frames=np.arange(6))
    found = true_mothers(truth, pair, np.array([8, 0, 7]), np.array([8, 9, 10, 0]))
    assert found.mother.tolist() == [0, 2, 2, -1]
    assert found.known.tolist() == [True, True, True, False]
    nobody = true_mothers(truth, pair, np.array([], int), np.array([8, 11]))
    assert nobody.mother.tolist() == [-1, -1]
