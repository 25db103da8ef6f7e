import numpy as np
import pytest

from dunno import Movie, Tracker
from dunno.errors import TruthError
from dunno.simulate import colony as simulate
from dunno.truth import ancestors, true_mothers
from dunno.truth.matching import TrackTable, match_tracks, match_truth
from dunno.types import Truth
from tests.conftest import COLONY, draw


@pytest.fixture
def family() -> Truth:
    """Track 1 divides into 2 and 3 after frame 1; 3 divides into 4 and 5 after frame 3; 6 begins in frame 2."""
    rows = np.array([(1, 0, 1, 0), (2, 2, 9, 1), (3, 2, 3, 1), (4, 4, 9, 3), (5, 4, 9, 3), (6, 2, 9, 0)])
    return Truth(*rows.T, frames=np.arange(10), labels=(), tracks=(), present=())


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
    # 1 covers all of d; 2 covers all of f but one of two pixels of e; 3 covers half of g, which is not enough.
    assert match_tracks(np.array([1, 2, 3]), masks, markers).tolist() == [4, 6, 0]


def test_matching_without_cells_or_markers_finds_nothing() -> None:
    empty = np.zeros((3, 3), int)
    assert match_tracks(np.array([], int), empty, empty).tolist() == []
    assert match_tracks(np.array([1]), empty + 1, empty).tolist() == [0]


def test_annotations_of_another_size_are_refused() -> None:
    with pytest.raises(TruthError, match=r"masks of shape \(3, 3\), but annotations of shape \(3, 4\)"):
        match_tracks(np.array([1]), np.ones((3, 3), int), np.ones((3, 4), int))


# In the colony's own labels: 1 stays; 2 → 3 → 4; 3 → 2 → 2; 4 of frame 1 is false; 3 of frame 2 is new.
MARKERS = [frame.copy() for frame in COLONY]
for frame, names in zip(MARKERS, [(0, 10, 20, 30), (0, 10, 30, 20, 0), (0, 10, 30, 50, 20)], strict=True):
    frame[...] = np.array(names)[frame]
TABLE = TrackTable(*np.array([(10, 0, 2, 0), (20, 0, 2, 0), (30, 0, 2, 0), (50, 2, 2, 0)]).T)


def test_the_true_mother_is_found_among_the_detections() -> None:
    movie = Movie(COLONY)
    truth = match_truth(movie, TABLE, MARKERS)
    first, second = (true_mothers(truth, pair) for pair in Tracker(max_distance=3).track(movie).pairs)
    assert first.mother.tolist() == [0, 2, 1, -1]
    assert first.known.tolist() == [True, True, True, False]
    assert second.mother.tolist() == [0, 1, -1, 2]
    assert second.known.all()
    assert not second.undetected.any()
    assert (first.n_missed, first.n_many) == (0, 0)


def test_missed_cells_are_counted_and_their_daughters_mother_is_undetected() -> None:
    masks = [frame.copy() for frame in COLONY]
    masks[1][masks[1] == 3] = 0  # track 20 is missed in frame 1
    movie = Movie(masks)
    first, second = (
        true_mothers(match_truth(movie, TABLE, MARKERS), p) for p in Tracker(max_distance=3).track(movie).pairs
    )
    assert first.n_missed == 1
    assert second.mother.tolist() == [0, 1, -1, -1]
    assert second.undetected.tolist() == [False, False, False, True]


def test_more_than_two_daughters_are_counted_at_coarse_steps() -> None:
    simulated = simulate(cells=6, frames=40, motion=0.1, cycle=8, enter=0)
    movie, truth = simulated.movie.every(20), simulated.truth.every(20)
    found = true_mothers(truth, Tracker().track(movie).pairs[0])
    loads = np.bincount(found.mother[found.mother >= 0])
    assert found.n_many == (loads > 2).sum() > 0


def test_a_truth_with_other_frames_or_detections_is_refused() -> None:
    simulated = simulate(cells=6, frames=9)
    pair = Tracker().track(simulated.movie.every(2)).pairs[0]
    with pytest.raises(TruthError, match="the tracking has frame 2, the truth has not"):
        true_mothers(simulated.truth.every(3), pair)
    with pytest.raises(TruthError, match="detections that the truth was not matched to"):
        true_mothers(simulate(cells=5, frames=9, seed=3).truth, pair)


def test_a_link_across_a_gap_is_no_link_between_neighbours() -> None:
    """Track 2 continues track 1 after a frame without it: it appears, unless the gap lies between the frames in view."""
    masks = np.zeros((4, 3, 9), int)
    masks[0, 1, 2], masks[1, 1, 3], masks[3, 1, 5] = 1, 1, 2
    movie = Movie(masks)
    truth = match_truth(movie, TrackTable(*np.array([(1, 0, 1, 0), (2, 3, 3, 1)]).T), masks)
    last = Tracker(max_distance=5).track(movie).pairs[2]
    assert true_mothers(truth, last).mother.tolist() == [-1]
    assert true_mothers(truth, last).undetected.tolist() == [False]
    coarse = Tracker(max_distance=5).track(movie.every(2, start=1)).pairs[0]
    assert true_mothers(truth.every(2, start=1), coarse).mother.tolist() == [0]
