"""What every result says of who made it."""

import json
from dataclasses import replace

import pytest

from dunno import Tracker
from dunno.biology.quantities import what_is_in
from dunno.simulate import colony
from dunno.types import RunInfo

MODEL = {"kind": "motion model", "fitted": "self", "max_gap": 2, "judges_masks": True, "division_doubt": 0.3}


@pytest.fixture(scope="module")
def about() -> RunInfo:
    return Tracker().track(colony(cells=6, frames=4).movie).about


def test_it_comes_back_from_json(about: RunInfo) -> None:
    again = RunInfo.of_dict(json.loads(json.dumps(about.to_dict())))
    assert again == about
    assert list(again) == list(about.to_dict())
    assert again != replace(about, seed=1)


def test_it_reads_as_a_mapping(about: RunInfo) -> None:
    assert about["calibration"]["kind"] == about.calibration_kind == "motion model"
    assert {**about}["movie"] == dict(about)["movie"] == about.movie
    assert about.get("review", "none") == "none"
    assert "review" not in about and len(about) == len(about.to_dict())
    assert replace(about, review={"answered": 3})["review"] == {"answered": 3}
    with pytest.raises(KeyError):
        about["tempreature"]


def test_what_an_older_version_did_not_write_is_filled_in(about: RunInfo) -> None:
    late = ("joint", "verdict", "reason", "times", "evidence", "max_gap", "opened_with", "links_unmatched")
    content = {name: value for name, value in about.to_dict().items() if name not in late}
    older = RunInfo.of_dict({**content, "calibrated": True, "of_no_use": 3})
    assert older.joint and not RunInfo.of_dict({**content, "method": "SM"}).joint
    assert older.verdict == "supported" and "earlier version" in older.reason
    assert (older.times, older.evidence, older.max_gap, older.opened_with) == (None, "auto", None, {})


def test_the_calibration_is_asked_by_name(about: RunInfo) -> None:
    fitted = replace(about, calibration=MODEL)
    assert (fitted.longest_gap, fitted.judges_masks, fitted.division_doubt, fitted.fitted_on) == (2, True, 0.3, "self")
    assert fitted.with_longest_gap(1).longest_gap == 1 and fitted.with_longest_gap(1).judges_masks
    bare = fitted.uncalibrated
    assert (bare.calibration, bare.longest_gap, bare.judges_masks, bare.division_doubt) == (None, 0, False, 0.0)
    assert bare.calibration_kind is bare.temperature is bare.fitted_on is None and not bare.skip_tests


def test_intervals_say_what_they_hold(about: RunInfo) -> None:
    assert [len(what_is_in(replace(about, calibration=each))) for each in (None, MODEL)] == [1, 3]
