import numpy as np

from dunno import Movie, Tracker
from dunno.lineage.tracks import TrackNumbers, records


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
    told = [record for record, _ in records(tracking.pairs, TrackNumbers())]
    assert [record.detections.label.tolist() for record in told] == [[1, 2, 3], [1, 2, 3, 4], [1, 2, 3, 4]]
    assert np.concatenate([record.node for record in told]).tolist() == list(range(11))
    assert told[0].track.tolist() == [1, 2, 3]
    assert told[1].track.tolist() == [1, 3, 2, 4]
    assert np.isnan(told[0].entropy).all()
    assert not np.isnan(told[1].entropy).any()


def test_frames_are_original_indices(colony: Movie) -> None:
    tracking = Tracker("distance", "SM", calibration=None, max_distance=3).track(colony.every(2))
    assert {(row.first, row.last) for row in tracking.tracks()} == {(0, 2), (2, 2)}
