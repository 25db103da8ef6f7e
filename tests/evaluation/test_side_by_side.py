"""What an output was before its calibration, and what truth would make of it."""

from dataclasses import replace

import numpy as np
import pytest

from dunno import Tracker
from dunno.calibration import TemperatureScaling, TemperedCosts
from dunno.calibration.softening import Softening
from dunno.evaluation.side_by_side import as_is, cross_fitted, side_by_side
from dunno.simulate import colony
from dunno.tracking import Tracking

CROWD = colony(cells=20, frames=10, motion=0.35, seed=4)


def assert_the_same(one: Tracking, other: Tracking) -> None:
    for found, expected in zip(one.pairs, other.pairs, strict=True):
        np.testing.assert_allclose(found.probability, expected.probability, atol=1e-9)
        np.testing.assert_allclose(np.exp(found.log_no_mother), np.exp(expected.log_no_mother), atol=1e-9)
        np.testing.assert_array_equal(found.selected, expected.selected)


@pytest.mark.parametrize(("cost", "method"), [("distance", "SM"), ("distance", "AS"), ("overlap", "JP")])
def test_a_temperature_is_taken_back(cost: str, method: str) -> None:
    tracking = Tracker(cost, method).track(CROWD.movie)
    assert tracking.about["calibration"]["temperature"] != 1
    bare = as_is(tracking)
    assert bare is not None
    assert bare.about["calibration"] is None
    assert_the_same(bare, Tracker(cost, method, calibration=None).track(CROWD.movie))


def assert_the_same_where_both_look(one: Tracking, other: Tracking) -> None:
    """What next to never is takes no part, and which edges these are depends on the tempering."""
    for found, expected in zip(one.pairs, other.pairs, strict=True):
        known = [
            dict(zip(zip(p.mother, p.daughter, strict=True), p.probability, strict=True)) for p in (found, expected)
        ]
        for edge in known[0].keys() | known[1].keys():
            assert known[0].get(edge, 0.0) == pytest.approx(known[1].get(edge, 0.0), abs=1e-6)
        links = [set(zip(p.mother[p.selected], p.daughter[p.selected], strict=True)) for p in (found, expected)]
        assert links[0] == links[1]


def test_a_models_softening_is_taken_back() -> None:
    tracker = Tracker()
    plan = tracker.plan(CROWD.movie)
    tracking = Tracker(calibration=plan.calibration, max_distance=plan.gate).track(CROWD.movie)
    assert tracking.about["calibration"]["unknown"] > 0
    hard = replace(plan.calibration, softening=Softening())  # type: ignore[type-var]
    bare = as_is(tracking)
    assert bare is not None
    assert_the_same_where_both_look(bare, Tracker(calibration=hard, max_distance=plan.gate).track(CROWD.movie))


def test_costs_that_were_fitted_with_truth_cannot_be_taken_back() -> None:
    fitted = TemperedCosts(30.0, 2.0, 2.0, 2.0)
    tracking = Tracker("overlap", calibration=fitted).track(CROWD.movie)
    assert as_is(tracking) is None
    assert list(side_by_side(tracking, CROWD.truth)) == ["as calibrated"]


def test_either_half_is_scaled_by_what_the_other_gave() -> None:
    tracking = Tracker("distance", "SM", calibration=None).track(CROWD.movie)
    found = cross_fitted(tracking, CROWD.truth)
    assert found is not None
    cut = len(tracking.pairs) // 2
    late = TemperatureScaling.fit(replace(tracking, blocks=(tracking.block.part(cut),)), CROWD.truth)
    np.testing.assert_array_equal(found.pairs[0].log_probability, late.apply(tracking.block).pair(1).log_probability)
    assert list(side_by_side(tracking, CROWD.truth)) == ["as is", "with truth"]
    assert cross_fitted(replace(tracking, blocks=(tracking.block.part(0, 1),)), CROWD.truth) is None
