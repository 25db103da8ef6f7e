from dataclasses import replace

import numpy as np
import pytest

from dunno import Tracker
from dunno.calibration import ModelCalibration
from dunno.simulate import colony
from dunno.tracking.leaving import with_border_shares
from dunno.types import PairPosterior


@pytest.fixture(scope="module")
def tracked() -> tuple[ModelCalibration, list[PairPosterior]]:
    movie = colony(cells=30, frames=12, motion=0.2, seed=4).movie
    tracker = Tracker(workers=1, evidence="places", max_gap=2)
    plan = tracker.plan(movie)
    assert isinstance(plan.calibration, ModelCalibration)
    return plan.calibration, list(tracker.stream(movie, plan))


def test_pairs_know_as_much_of_the_border_together_as_alone(
    tracked: tuple[ModelCalibration, list[PairPosterior]],
) -> None:
    calibration, pairs = tracked
    for alone, pair in zip((with_border_shares(calibration, [pair])[0] for pair in pairs), pairs, strict=True):
        assert alone.border_share is not None and pair.border_share is not None
        assert len(pair.border_share) == len(pair.mothers)
        assert np.array_equal(alone.border_share, pair.border_share)


def test_where_the_stage_jumped_that_is_known_of_the_pair_alone(
    tracked: tuple[ModelCalibration, list[PairPosterior]],
) -> None:
    calibration, pairs = tracked
    cells = pairs[3].daughters
    jumped = replace(pairs[3], daughters=replace(cells, centroid=np.add(cells.centroid, (40.0, 0.0))))
    shares = [each.border_share for each in with_border_shares(calibration, [*pairs[:3], jumped, *pairs[4:]])]
    before = [pair.border_share for pair in pairs]
    same = [a is not None and b is not None and np.array_equal(a, b) for a, b in zip(shares, before, strict=True)]
    assert same == [t != 3 for t in range(len(pairs))]
    assert shares[3] is not None and before[3] is not None
    assert shares[3].sum() > before[3].sum()
