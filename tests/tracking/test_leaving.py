from dataclasses import replace

import numpy as np
import pytest

from dunno import Tracker
from dunno.calibration import ModelCalibration
from dunno.simulate import colony
from dunno.tracking.solver import with_border_shares
from dunno.types import Block


@pytest.fixture(scope="module")
def tracked() -> tuple[ModelCalibration, Block]:
    movie = colony(cells=30, frames=12, motion=0.2, seed=4).movie
    tracker = Tracker(workers=1, evidence="places", max_gap=2)
    plan = tracker.plan(movie)
    assert isinstance(plan.calibration, ModelCalibration)
    (block,) = tracker.stream(movie, plan)
    return plan.calibration, block


def test_pairs_know_as_much_of_the_border_together_as_alone(tracked: tuple[ModelCalibration, Block]) -> None:
    calibration, block = tracked
    for k, pair in enumerate(block.pairs()):
        alone = with_border_shares(calibration, block.part(k, k + 1)).pair(block.part(k, k + 1).first + 1)
        one, other = (each.block.border_share[each.mother_rows] for each in (alone, pair))
        assert np.isfinite(one).all() and np.array_equal(one, other)


def test_where_the_stage_jumped_that_is_known_of_the_pair_alone(tracked: tuple[ModelCalibration, Block]) -> None:
    calibration, block = tracked
    late = block.frame_of >= 4
    places = block.cells.centroid + np.where(late[:, None], (40.0, 0.0), 0.0)
    jumped = with_border_shares(calibration, replace(block, cells=replace(block.cells, centroid=places)))
    shares = [(each.border_share[block.rows(3)]).sum() for each in (jumped, block)]
    assert shares[0] > shares[1]
    for t in range(3):
        assert np.array_equal(jumped.border_share[block.rows(t)], block.border_share[block.rows(t)])
