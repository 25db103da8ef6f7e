"""Cells that are known not to divide: no answer of any method has a division in it."""

from pathlib import Path

import numpy as np
import pytest

from dunno import Movie, Tracker
from dunno.assignment import NEVER, Problem, decide, marginals
from dunno.calibration import load_calibration
from dunno.errors import InputError
from dunno.runs.run import track_into
from dunno.simulate import colony
from dunno.tracking import Tracking

HOW = [
    {},
    {"cost": "overlap"},
    {"calibration": None},
    {"method": "SM"},
    {"method": "AS"},
    {"max_gap": 2},
    {"evidence": "readiness"},
]


@pytest.fixture(scope="module")
def growing() -> Movie:
    """A colony in which 14 cells divide."""
    return colony(cells=20, frames=20, motion=0.2, seed=1).movie


def divisions(tracking: Tracking) -> int:
    return sum(int(np.count_nonzero(pair.divides)) for pair in tracking.pairs)


@pytest.mark.parametrize("how", HOW, ids=str)
def test_no_mother_has_two_daughters(growing: Movie, how: dict[str, object]) -> None:
    tracking = Tracker(workers=1, divisions=False, **how).track(growing)  # type: ignore[arg-type]
    assert divisions(tracking) == 0
    told = [pair.log_divide for pair in tracking.pairs if pair.log_divide is not None]
    assert all(np.exp(each).max() < 1e-50 for each in told)
    assert len(told) == (0 if how.get("method") in ("SM", "AS") else 19)


def test_drawn_lineages_have_none_either(growing: Movie) -> None:
    tracking = Tracker(workers=1, divisions=False).track(growing)
    for forest in tracking.sample(5, seed=0):
        assert not any(pair.divides.any() for pair in forest.pairs)


def test_by_default_they_divide(growing: Movie) -> None:
    assert divisions(Tracker(workers=1).track(growing)) == 14


def test_the_fit_is_said_and_kept_without_them(growing: Movie, tmp_path: Path) -> None:
    run = track_into(Tracker(workers=1, divisions=False), growing, tmp_path / "out")
    assert run.summary.divisions == 0
    assert not run.about["divisions"]
    assert "divisions" not in [each["name"] for each in run.about["calibration"]["findings"]]
    fitted = load_calibration(tmp_path / "out" / "calibration.json")
    again = Tracker(workers=1, divisions=False, calibration=fitted).track(growing)
    assert divisions(again) == 0
    other = track_into(Tracker(workers=1), growing, tmp_path / "other")
    with pytest.raises(InputError, match="fitted to cells that divide"):
        Tracker(divisions=False, calibration=load_calibration(other.folder / "calibration.json"))


def test_a_division_that_cannot_be_is_not_decided_for_either() -> None:
    # the likeliest mother of both daughters is the same one, by a little
    problem = Problem([0, 1, 0, 2], [0, 0, 1, 1], [-2.0, 1.0, -2.0, 1.0], 3, 2, appear=3.0, disappear=0.0, divide=NEVER)
    edge = marginals(problem).edge
    assert edge[0] > edge[1] and edge[2] > edge[3]
    assert set(decide(problem).edge.tolist()) in ({0, 3}, {1, 2})


def test_what_a_division_costs_is_refused_beside_it() -> None:
    with pytest.raises(InputError, match="divide_cost 3 is what a division costs"):
        Tracker(divisions=False, divide_cost=3.0)
