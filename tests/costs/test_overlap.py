import numpy as np
import pytest

from dunno import Movie, Tracker
from dunno.costs.overlap import Overlap
from dunno.types import FramePair

from ..conftest import draw

BEFORE = draw("""
aaaa........
aaaa...bb...
.......bb..c
""")
AFTER = draw("""
..dddd......
..dddd.ee...
....f..e...c
""")


@pytest.fixture
def pair() -> FramePair:
    movie = Movie([BEFORE, AFTER])
    return FramePair(movie.detections(0), movie.detections(1), 3.0)


def test_the_cost_is_minus_the_shared_pixels(pair: FramePair) -> None:
    # mothers a, b, c; daughters c, d, e, f
    mother, daughter = np.array([0, 1, 2, 0, 1]), np.array([1, 2, 0, 3, 1])
    assert Overlap()(pair, mother, daughter).tolist() == [-4, -3, -1, 0, 0]


def test_edges_beyond_the_gate_that_share_pixels_are_candidates(pair: FramePair) -> None:
    movie = Movie([BEFORE, AFTER])
    tracked = Tracker("overlap", "SM", calibration=None, max_distance=0.6).track(movie).pairs[0]
    edges = set(zip(tracked.mother.tolist(), tracked.daughter.tolist(), strict=True))
    assert (0, 1) in edges  # their centres are two pixels apart


def test_what_shares_nothing_is_a_candidate_but_never_a_link() -> None:
    masks = np.zeros((2, 3, 9), int)
    masks[0, 1, 1], masks[1, 1, 4] = 1, 1
    pair = (
        Tracker("overlap", "SM", calibration=None, max_distance=5, appear_cost=100.0, disappear_cost=100.0)
        .track(Movie(masks))
        .pairs[0]
    )
    assert pair.cost.tolist() == [0.0]
    assert pair.selected.tolist() == [False]
    assert pair.probability[0] == pytest.approx(1.0)


def test_large_labels_and_volumes_overlap_too() -> None:
    masks = np.zeros((2, 2, 4, 4), np.int64)
    masks[0, :, 1:3, 1:3] = 2**40
    masks[1, :, 2:4, 1:3] = 7
    pair = Tracker("overlap", "SM", calibration=None).track(Movie(masks)).pairs[0]
    assert pair.cost.tolist() == [-4.0]
