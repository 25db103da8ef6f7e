"""Own tracks, whole tracks, and complete cycles."""

import pytest

from dunno.evaluation.own_tracks import OwnTracks, own_tracks

from .worlds import followed, frame, held, stays

LONG = 10
ALONE = [frame([(1, 10, 10)])] * LONG
TWO = [frame([(1, 10, 10), (2, 10, 40)])] * LONG


def test_a_cell_in_one_track_has_it_for_its_own() -> None:
    found = own_tracks(followed(LONG, stays(1, range(LONG))), held([(1, 0, 9, 0)], ALONE, ALONE), set())
    assert found == OwnTracks(cells=1, whole=1, own=1, followed=1.0, cycles=0, true_cycles=0)


def test_a_track_that_breaks_is_not_whole() -> None:
    tracks = stays(1, range(4)) | stays(2, range(4, LONG), label=1)
    found = own_tracks(followed(LONG, tracks), held([(1, 0, 9, 0)], ALONE, ALONE), set())
    assert (found.whole, found.own, found.followed) == (0, 0, pytest.approx(0.6))


@pytest.mark.parametrize(("frames", "own"), [(3, 1), (4, 0)])
def test_a_track_that_holds_a_stranger_for_long_is_not_its_own(frames: int, own: int) -> None:
    """Cell 2 is in no mask of its own for some frames: the mask of cell 1 holds both."""
    both = frame([(1, 10, 10), (1, 10, 40)])
    masks = [both] * frames + TWO[frames:]
    tracks = stays(1, range(LONG)) | stays(2, range(frames, LONG))
    found = own_tracks(followed(LONG, tracks), held([(1, 0, 9, 0), (2, 0, 9, 0)], TWO, masks), set())
    assert (found.cells, found.whole) == (2, 1)  # cell 2 is in two tracks
    assert found.own == own


def dividing(late: int, found: set[int]) -> OwnTracks:
    """Cell 1 is born of 9 in frame 6, and divides into 2 and 3 in frame 14; masks part some frames late."""
    rows = [(9, 0, 5, 0), (1, 6, 13, 9), (8, 6, 13, 9), (2, 14, 19, 1), (3, 14, 19, 1)]
    cells = (
        [frame([(9, 10, 20)])] * 6 + [frame([(1, 10, 16), (8, 10, 40)])] * 8 + [frame([(2, 10, 10), (3, 10, 16)])] * 6
    )
    masks = list(cells)
    for t in range(14, 14 + late):
        masks[t] = frame([(1, 10, 10), (1, 10, 16)])
    tracks = stays(9, range(6)) | stays(8, range(6, 14))
    tracks |= stays(1, range(6, 14 + late)) | stays(2, range(14 + late, 20)) | stays(3, range(14 + late, 20))
    return own_tracks(followed(20, tracks), held(rows, cells, masks), found)


@pytest.mark.parametrize(("late", "own"), [(0, 5), (2, 5), (4, 3)])
def test_a_division_that_is_seen_late_breaks_no_track(late: int, own: int) -> None:
    assert dividing(late, set()).own == own


def test_a_cycle_is_complete_where_both_divisions_are_found() -> None:
    assert [dividing(0, found).cycles for found in (set(), {1}, {9}, {1, 9})] == [0, 0, 0, 1]
    assert dividing(0, set()).true_cycles == 1


def test_short_lives_are_not_asked_about() -> None:
    cells = [frame([(1, 10, 10)])] * 4 + [frame([])] * 6
    found = own_tracks(followed(LONG, stays(1, range(4))), held([(1, 0, 3, 0)], cells, cells), set())
    assert found.cells == 0
    assert found.to_dict()["own_share"] is None
