import numpy as np

from dunno import Movie, Tracker
from dunno.lineage.tracks import TrackNumbers, numbered
from dunno.simulate import colony as simulate
from dunno.types import Block


def test_tracks_follow_single_daughters_and_begin_anew_at_divisions() -> None:
    frames = np.zeros((3, 5, 20), int)
    frames[0, 2, 9:11] = 1
    frames[1, 2, 10] = 1
    frames[2, 2, 8], frames[2, 2, 12] = 5, 3
    tracking = Tracker("distance", "SM", calibration=None, max_distance=5).track(Movie(frames))
    assert [(row.track, row.first, row.last, row.mother) for row in tracking.tracks()] == [
        (1, 0, 1, 0),
        (2, 2, 2, 1),
        (3, 2, 2, 1),
    ]


def test_every_cell_gets_a_record_lonely_ones_too(colony: Movie) -> None:
    tracking = Tracker("distance", "SM", calibration=None, max_distance=2.5).track(colony)
    (told,) = numbered(tracking.blocks, TrackNumbers())
    assert told.rows == slice(0, 11)
    assert told.label.tolist() == [1, 2, 3, 1, 2, 3, 4, 1, 2, 3, 4]
    assert told.node.tolist() == list(range(11))
    assert told.track[:7].tolist() == [1, 2, 3, 1, 3, 2, 4]
    assert np.isnan(told.entropy[:3]).all()
    assert not np.isnan(told.entropy[3:]).any()


def test_blocks_that_follow_each_other_are_numbered_like_one() -> None:
    movie = simulate(cells=12, frames=9, motion=0.3, cycle=6, seed=2).movie
    block = Tracker(workers=1, max_gap=2).track(movie).block
    numbers = TrackNumbers(), TrackNumbers()
    (one,) = numbered([block], numbers[0])
    parts = list(numbered([block.part(0, 3), block.part(3, 4), block.part(4)], numbers[1]))
    for name in ("label", "track", "family", "node", "entropy", "p_appear", "p_disappear", "p_divide", "incoming"):
        found = np.concatenate([getattr(part, name)[part.rows] for part in parts])
        np.testing.assert_array_equal(found, getattr(one, name), err_msg=name)
    assert numbers[0].table() == numbers[1].table()
    again = Block.joined([part.block for part in parts])
    for name in ("mother", "daughter", "log_probability", "log_disappear", "log_no_mother"):
        np.testing.assert_array_equal(getattr(again, name), getattr(block, name), err_msg=name)


def test_frames_are_original_indices(colony: Movie) -> None:
    tracking = Tracker("distance", "SM", calibration=None, max_distance=3).track(colony.every(2))
    assert {(row.first, row.last) for row in tracking.tracks()} == {(0, 2), (2, 2)}
