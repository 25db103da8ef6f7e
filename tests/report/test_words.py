"""What was run, in words."""

from dataclasses import replace
from typing import Any

import pytest

from dunno.report import words
from dunno.types import RunInfo

ABOUT = RunInfo(
    version="1",
    movie="02",
    movie_path=None,
    masks_path=None,
    mask_source="02_ST/SEG",
    frames=[0, 10, 20],
    step=10,
    scale=None,
    interval=None,
    cost="distance",
    method="SM",
    max_distance=43.21,
    calibration=None,
    calibrated=False,
    reason="nothing was tested",
)


def test_probabilities_as_they_come_are_called_untested() -> None:
    state, meaning = words.verdict(ABOUT)
    assert state == "untested"
    assert "could not be tested: nothing was tested." in meaning
    told = words.what_was_run(ABOUT, 3)
    assert "3 frames (every 10th, from 0 to 20; masks: 02_ST/SEG)" in told
    assert "up to 43.2 pixels away" in told
    assert "estimated from the movie" in told


def test_every_verdict_says_what_it_means_and_why() -> None:
    state, meaning = words.verdict(replace(ABOUT, verdict="contradicted", reason="all cells move together"))
    assert state == "contradicted"
    assert "90 % sure does not mean 90 % right here" in meaning
    assert "all cells move together." in meaning
    state, meaning = words.verdict(replace(ABOUT, verdict="supported", reason="31 were promised and 35 found"))
    assert "31 were promised and 35 found. The test cannot see errors" in meaning
    about = replace(ABOUT, verdict="supported", reason="fitted on 01", calibration={"fitted": "truth"})
    assert words.verdict(about)[1].endswith("should be right: fitted on 01.")


def test_a_model_that_cannot_explain_the_movie_says_what_it_assumes() -> None:
    calibration: dict[str, Any] = {
        "kind": "motion model",
        "fitted": "self",
        "problems": ["all cells move <together>"],
        "parameters": {"p_divide": 0.02, "p_lost": 0.001},
        "data": "02",
    }
    about = replace(ABOUT, calibration=calibration)
    told = words.what_was_run(about, 3)
    assert "fitted to this movie itself. In it, 2.0 % of the cells are assumed to divide and 0.1 % to get lost" in told
    calibration["problems"] = []
    assert "In it, 2.0 % of the cells divide and 0.1 % get lost" in words.what_was_run(about, 3)
    calibration["judges_masks"] = True  # then the rates are those of masks with all their faults
    told = words.what_was_run(about, 3)
    assert "and of what masks hold, fitted to this movie itself." in told and "In it," not in told


@pytest.mark.parametrize(
    ("calibration", "expected"),
    [
        (
            {"kind": "temperature scaling", "temperature": 2.5, "data": "01"},
            "a temperature of 2.5, fitted on the annotated",
        ),
        ({"kind": "event costs", "data": "01"}, "calibrated (event costs) on the annotated movie 01"),
        (None, "nothing was fitted"),
    ],
)
def test_every_calibration_has_its_sentence(calibration: dict[str, Any] | None, expected: str) -> None:
    assert expected in words.what_was_run(replace(ABOUT, calibration=calibration), 3)


def test_a_users_own_cost_and_links_are_named_and_escaped() -> None:
    about = replace(ABOUT, cost="My<Cost>", links="them & us.csv", max_distance=None)
    told = words.what_was_run(about, 3)
    assert "My&lt;Cost&gt;" in told
    assert "Links are those of them &amp; us.csv; dunno judged them" in told
    assert "Every cell of the earlier frame" in told


def test_parameters_leave_out_the_long_list_of_frames() -> None:
    names = [name for name, _ in words.parameters(ABOUT)]
    assert "frames" not in names
    assert "seed" in names
