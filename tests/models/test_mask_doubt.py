"""How well the odds of divisions are known, and the rounds of the fit behind it."""

import numpy as np
import pytest

from dunno import Tracker
from dunno.models.mask_doubt import division_doubt
from dunno.models.mask_fit import counted, one_round
from dunno.models.masks import Solution
from dunno.simulate import FaultShares, colony, spoil
from dunno.tracking import judging


@pytest.fixture(scope="module")
def solution() -> Solution:
    kept: list[Solution] = []
    made = colony(cells=30, frames=24, motion=0.1, seed=5, cycle=16.0)
    movie = spoil(made.movie, made.truth, FaultShares(missed=0.01, false=0.02, merged=0.02, split=0.02), seed=2).movie
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judging, "division_doubt", lambda found, share: kept.append(found) or 0.0)
        Tracker(evidence="places,masks", workers=1).plan(movie)
    return kept[0]


def test_the_doubt_is_that_of_the_seed_and_falls_with_more_frames(solution: Solution) -> None:
    doubt = division_doubt(solution, seed=3)
    assert doubt > 0
    assert division_doubt(solution, seed=3) == doubt
    assert division_doubt(solution, share=0.25, seed=3) == pytest.approx(doubt / 2)


def test_frames_that_count_once_change_nothing(solution: Solution) -> None:
    once = np.ones(len(solution.graph.stretch.frames))
    one, other = one_round(solution), one_round(solution, once)
    np.testing.assert_array_equal(one.beliefs.edge, other.beliefs.edge)


def test_frames_that_do_not_count_tell_nothing(solution: Solution) -> None:
    stretch = solution.graph.stretch
    counts = np.zeros(len(stretch.frames))
    counts[3] = 1.0
    told = counted(solution, counts)
    elsewhere = stretch.row_frame != 3
    assert not told.beliefs.state[elsewhere].any()
    assert not told.out_sum("lost")[elsewhere].any()
    np.testing.assert_array_equal(told.beliefs.state[~elsewhere], solution.beliefs.state[~elsewhere])


def test_more_rounds_change_little(solution: Solution) -> None:
    now = solution.out_sum("divide").sum()
    assert one_round(one_round(solution)).out_sum("divide").sum() == pytest.approx(now, rel=0.02)
