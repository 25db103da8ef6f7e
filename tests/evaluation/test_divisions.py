"""Divisions promised and found, by P(divide)."""

import numpy as np
import pytest

from dunno import Tracker, evaluation
from dunno.evaluation.divisions import LEAST_SEEN, P_DIVIDE_BINS, _binned, division_scores, divisions
from dunno.simulate import colony

from .worlds import followed, frame, held


def test_a_true_division_is_shared_by_the_masks_that_could_be_it() -> None:
    near = [(0, 7, 1), (1, 7, 0), (2, 9, 0)]  # the first two are one division
    found = {each.high: each for each in _binned(np.array([0.3, 0.6, 0.9, 0.05]), near)}
    assert [each.masks for each in found.values()] == [0, 1, 1, 2, 0]
    assert found[0.5].found == pytest.approx(1 / 3)
    assert found[0.9].found == pytest.approx(2 / 3 + 1)
    assert found[0.9].promised == pytest.approx(1.5)
    assert found[0.1].found == 0.0 and found[0.1].promised == pytest.approx(0.05)


def test_what_is_promised_in_all_bins_is_what_is_expected_and_it_is_found() -> None:
    made = colony(cells=30, frames=20, motion=0.15, seed=5, cycle=15.0)
    tracking = Tracker(workers=1, evidence="places").track(made.movie)
    told = divisions(tracking, made.truth)
    every = [np.exp(pair.log_divide) for pair in tracking.pairs if pair.log_divide is not None]
    small = sum(float(chance[chance <= P_DIVIDE_BINS[0]].sum()) for chance in every)
    assert sum(each.promised for each in told.bins) + small == pytest.approx(told.expected)
    assert sum(each.found for each in told.bins) <= told.true + 1e-9
    sure = told.bins[-1]
    assert sure.masks > 10
    assert sure.found == pytest.approx(sure.promised, rel=0.15)
    assert told.to_dict()["bins"][-1]["masks"] == sure.masks


def test_methods_that_do_not_know_of_divisions_have_no_bins() -> None:
    made = colony(cells=10, frames=5, seed=1)
    tracking = Tracker("distance", "SM", calibration=None).track(made.movie)
    told = evaluation.score(tracking, made.truth).divisions
    assert told is not None and told.bins == ()


ROWS = [(1, 0, 2, 0), (2, 3, 9, 1), (3, 3, 9, 1), (4, 0, 9, 0)]
CELLS = [frame([(1, 10, 12), (4, 30, 40)])] * 3 + [frame([(2, 10, 9), (3, 10, 15), (4, 30, 40)])] * 7
MASKS = [*CELLS[:9], frame([(2, 10, 9), (3, 10, 15), (4, 30, 40), (5, 30, 10)])]
TRACKS = {1: [(t, 1) for t in range(3)], 4: [(t, 4) for t in range(10)], 5: [(9, 5)]} | {
    track: [(t, track) for t in range(3, 10)] for track in (2, 3)
}


def test_divisions_on_cells_and_in_all() -> None:
    """One is reported where it is, one by another cell, and one by a mask on nothing."""
    chance = {(2, 1): 0.7, (5, 4): 0.2, (9, 5): 0.1}
    found = division_scores(followed(10, TRACKS, p_divide=chance, dividing=(1, 4, 5)), held(ROWS, CELLS, MASKS))
    assert (found.reported, found.right, found.true, found.reported_in_all) == (2, 1, 1, 3)
    assert (found.expected, found.expected_in_all) == (pytest.approx(0.9), pytest.approx(1.0))
    assert found.f1 == pytest.approx(2 / 3)


@pytest.mark.parametrize(("at", "seen"), [((0, 1), 1), ((4, 2), 1), ((7, 3), 1), ((8, 3), 0), ((4, 4), 0)])
def test_a_division_is_seen_by_its_cells_within_five_frames(at: tuple[int, int], seen: int) -> None:
    cells = held(ROWS, CELLS, MASKS)
    for chance, times in ((LEAST_SEEN + 0.01, seen), (LEAST_SEEN - 0.01, 0)):
        assert division_scores(followed(10, TRACKS, p_divide={at: chance}), cells).seen == times


def test_a_division_is_found_once() -> None:
    chance = {(2, 1): 0.7, (3, 2): 0.3, (4, 3): 0.2}
    found = division_scores(followed(10, TRACKS, p_divide=chance, dividing=(1, 2, 3)), held(ROWS, CELLS, MASKS))
    assert (found.right, found.seen, found.reported) == (1, 1, 3)
