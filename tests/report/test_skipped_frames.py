"""The proof of the verdict."""

import re

import pytest

from dunno.calibration.verdict import LARGEST_RATIO, is_kept, still_kept
from dunno.report import skipped_frames
from dunno.runs.summary import Summary
from tests.cli.test_first_screen import about

TEST = {"step": 2, "links": 4742, "promised": 19.0, "composed": 30.0, "divisions": 9.0, "divisions_between": 10.0}
FOUND = Summary(links=9776, expected_wrong_links=20.0)


def section(**more: object) -> str:
    calibration = {"skipping": [{**TEST, "bins": [[0.14, 0.38, 16], [0.001, 0.001, 4000]], **more}]}
    return skipped_frames.section(about(calibration=calibration), FOUND)


def test_the_page_says_how_far_off_still_counts() -> None:
    told = section()
    low, high = still_kept(19.0)
    assert f"{low} to {high} wrong ones would still count as kept" in told
    assert is_kept(19.0, high) and not is_kept(19.0, high + 1)
    assert is_kept(19.0, low) and not is_kept(19.0, low - 1)
    assert f"band: within {LARGEST_RATIO:g} times counts as kept" in told
    assert '<path class="area kept"' in told
    assert "one dot beside the band does not decide it" in told


def test_the_band_holds_what_is_off_by_so_much_and_no_more() -> None:
    """A point inside the band on the plot is within the ratio, along both axes."""
    path = re.search(r'class="area kept" d="M([^"]*)Z"', section())
    assert path
    corners = [tuple(map(float, each.split())) for each in path.group(1).split("L")]
    (x0, y0), (x1, y1) = corners[0], corners[1]
    line = re.search(r'class="ideal" d="M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)"', section())
    assert line
    bottom, top = float(line.group(2)), float(line.group(4))
    assert x0 == x1 and (y0 - y1) / (bottom - top) * 4 == pytest.approx(
        0.1761, abs=0.003
    )  # log10 of 1.5, of four decades


def test_shares_have_one_denominator() -> None:
    told = section()
    assert "at half the frame rate about 0.6 % of the links would be wrong; now 0.2 % are" in told
    assert "4,888" not in told and "wrong links in all" not in told


def test_without_bins_the_sums_are_told_and_nothing_is_drawn() -> None:
    told = section(bins=[])
    assert "19 of 4,742 links were promised to be wrong, and 30 were" in told
    assert "area kept" not in told


def test_other_promises_have_their_reasons() -> None:
    verdicts = {
        "links": {"verdict": "supported", "reason": "a."},
        "divisions": {"verdict": "untested", "reason": "too <few>."},
    }
    told = skipped_frames.section(about(calibration={"skipping": [{**TEST, "bins": []}]}, verdicts=verdicts), FOUND)
    assert "divisions: untested, because too &lt;few&gt;" in told
