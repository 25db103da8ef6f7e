"""What becomes of masks that are wrong, on movies that are drawn so that the truth is known."""

import numpy as np
import pytest

from dunno import Movie, Tracker
from dunno.segments.holdings import Content
from dunno.segments.structure import _runs, build
from dunno.segments.table import segment_table
from dunno.tracking import Tracking
from tests.segments.scenes import RADIUS, fitted, meeting, movie, places

FRAMES = 24


def tracks_of(tracking: Tracking, centres: np.ndarray, cell: int) -> list[int]:
    """In each frame the track of the object that is nearest to a cell, -1 where none is near."""
    cells, found = tracking.cells, []
    place = tracking.block.cells.centroid
    for t in range(len(centres)):
        rows = np.flatnonzero(cells.frame == t)
        away = ((place[rows] - centres[t, cell]) ** 2).sum(axis=1)
        found.append(int(cells.track[rows[away.argmin()]]) if away.min() < RADIUS**2 / 2 else -1)
    return found


@pytest.fixture(scope="module")
def shared() -> tuple[np.ndarray, Tracking]:
    """Two cells that share a mask for five frames."""
    centres = meeting(FRAMES, range(8, 13))
    return centres, Tracker(repair=True).track(movie(centres, shared=[(5, 6, range(8, 13))]))


def test_tracks_go_through_a_mask_that_two_cells_share(shared: tuple[np.ndarray, Tracking]) -> None:
    centres, tracking = shared
    one, other = (tracks_of(tracking, centres, cell) for cell in (5, 6))
    assert len(set(one)) == len(set(other)) == 1 and one[0] != other[0]
    assert np.nanmax(tracking.cells.p_divide) < 0.05


def test_masks_are_drawn_as_objects_are_and_others_stay(shared: tuple[np.ndarray, Tracking]) -> None:
    centres, tracking = shared
    given = movie(centres, shared=[(5, 6, range(8, 13))])
    for t in range(FRAMES):
        repaired, before = tracking.masks(t), given.masks(t)
        if t in range(8, 13):
            assert len(np.unique(repaired)) == 17 and 6 not in repaired
            np.testing.assert_array_equal(repaired[before != 6], before[before != 6])
            sizes = np.bincount(repaired[before == 6])[[17, 18]]
            assert sizes.min() > 0.8 * sizes.max()
        else:
            np.testing.assert_array_equal(repaired, before)
    cells = tracking.cells
    assert cells.p_segment[(cells.label >= 17)].min() > 0.8
    assert cells.p_segment[(cells.label < 17)].min() > 0.9


def test_links_of_a_daughter_and_none_sum_to_one(shared: tuple[np.ndarray, Tracking]) -> None:
    _, tracking = shared
    for pair in tracking.pairs:
        total = np.exp(pair.log_no_mother) + np.bincount(pair.daughter, pair.probability, len(pair.daughters))
        np.testing.assert_allclose(total, 1.0, atol=1e-6)


def test_a_division_stands_where_the_cell_divides_and_not_where_masks_part() -> None:
    small = 5.5
    centres = np.concatenate([places(FRAMES), np.zeros((FRAMES, 1, 2))], axis=1)
    centres[:, 16] = mother = centres[:, 5].copy()
    apart = small * 0.85 + np.maximum(np.arange(FRAMES) - 12, 0).clip(max=8)[:, None] * [0, 1]
    centres[:, 5], centres[:, 6] = mother - apart * [0, 1], mother + apart * [0, 1]
    before, after = range(10), range(10, FRAMES)
    made = movie(
        centres,
        shared=[(5, 6, range(10, 13))],
        missing=[(5, before), (6, before), (16, after)],
        radius={5: small, 6: small},
    )
    tracking = Tracker(repair=True).track(made)
    one, other = (tracks_of(tracking, centres, cell)[10:] for cell in (5, 6))
    assert len(set(one)) == len(set(other)) == 1 and one[0] != other[0]
    divided = np.flatnonzero(tracking.cells.p_divide > 0.5)
    assert tracking.cells.frame[divided].tolist() == [9]


def test_a_cell_that_is_cut_for_a_moment_is_joined() -> None:
    centres = places(FRAMES)
    masks = np.stack([movie(centres).masks(t) for t in range(FRAMES)])
    for t in (9, 10):
        row = round(centres[t, 5, 0])
        own = masks[t] == 6
        own[:row] = False
        masks[t][own] = 40
        masks[t][row][masks[t][row] == 40] = 0
    tracking = Tracker(repair=True).track(Movie(masks))
    assert len(set(tracks_of(tracking, centres, 5))) == 1
    assert np.nanmax(tracking.cells.p_divide) < 0.1
    for t in (9, 10):
        assert len(np.unique(tracking.masks(t))) == 17


def test_a_speck_beside_a_cell_is_debris_and_no_daughter() -> None:
    centres = np.concatenate([places(FRAMES), np.zeros((FRAMES, 1, 2))], axis=1)
    centres[:, 16] = centres[:, 5] + [0, RADIUS + 4]
    made = movie(centres, missing=[(16, range(8))], radius={16: 2.0})
    tracking = Tracker(repair=True).track(made)
    assert len(set(tracks_of(tracking, centres, 5))) == 1
    assert np.nanmax(tracking.cells.p_divide) < 0.2
    speck = tracking.cells.label == 17
    assert speck.sum() == FRAMES - 8 and len(set(tracking.cells.track[speck])) == 1
    assert tracking.cells.p_cell[speck].mean() < 0.5 < tracking.cells.p_cell[~speck].min()


@pytest.mark.parametrize("smaller_first", [False, True])
def test_masks_that_may_hold_three_may_be_two_daughters(smaller_first: bool) -> None:
    centres = np.concatenate([places(3), np.zeros((3, 1, 2))], axis=1)
    side = -1 if smaller_first else 1
    centres[1:, 16] = centres[1:, 5] + [0, side * (2 * RADIUS - 3)]
    made = movie(centres, shared=[(5, 16, range(1, 3))], missing=[(16, range(1))], radius={16: RADIUS - 1.5})
    model = fitted(made)
    structure = build(segment_table(made, model.seen).segments, model.laws, model.scale, model.options)
    holdings, divisions = structure.holdings, structure.ways.divisions
    then = holdings.content[holdings.state[divisions.first]]
    trio = structure.segments.cuts[:, 2] >= 0
    assert trio.any()  # the mask may hold three
    assert (structure.splits.late[divisions.split] & (then == Content.PAIR)).any()


def test_volumes_are_repaired_too() -> None:
    centres = meeting(12, range(4, 7))[:, [0, 5, 6, 9, 10]]
    given = movie(centres, shared=[(1, 2, range(4, 7))], depth=18)
    tracking = Tracker(repair=True).track(given)
    one, other = (tracks_of(_flat(tracking), centres, cell) for cell in (1, 2))
    assert len(set(one)) == len(set(other)) == 1 and one[0] != other[0]


class _Flat:
    """A tracking in 3D seen from above."""

    def __init__(self, tracking: Tracking) -> None:
        self.cells = tracking.cells
        self.block = type("Block", (), {"cells": type("Cells", (), {"centroid": tracking.block.cells.centroid[:, 1:]})})


def _flat(tracking: Tracking) -> Tracking:
    return _Flat(tracking)  # type: ignore[return-value]


@pytest.mark.parametrize(("mother", "runs"), [([], [(0, 0)]), ([4, 4, 4, 7, 7, 9], [(0, 3), (3, 6)])])
def test_daughters_are_compared_some_mothers_at_a_time_and_may_be_none(
    mother: list[int], runs: list[tuple[int, int]]
) -> None:
    found = _runs(np.array(mother, np.int64), 4)
    assert [(own.start, own.stop) for own in found] == runs
