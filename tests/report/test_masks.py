"""What the report says of the masks, counted by hand."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dunno.report import masks
from dunno.report.faults import FaultCounts, Faults
from dunno.types import Block, Cells, Detections
from tests.report.test_words import ABOUT

MODEL = {"kind": "motion model", "max_gap": 2, "judges_masks": True}
JUDGED = replace(ABOUT, calibration=MODEL)


def cells(frame: int, places: list[tuple[float, float]]) -> Detections:
    n = len(places)
    return Detections(
        np.arange(1, n + 1) * 10, np.array(places).reshape(n, 2), np.full(n, 50.0), np.zeros((n, 2, 2), np.int64), frame
    )


@pytest.fixture
def faults() -> Faults:
    """Three frames; a cell at (0, 0) is missed in frame 4 and found at (6, 12), or divides into two there, in frame 6."""
    early, middle, late = cells(2, [(0, 0), (9, 9)]), cells(4, [(9, 9)]), cells(6, [(6, 12), (4, 10), (9, 9)])
    block = Block.of(
        Cells.of([early, middle, late]),
        mother=np.zeros(2, np.int64),
        daughter=np.array([3, 4]),
        gap=np.ones(2, np.int64),
        cost=np.zeros(2),
        log_probability=np.log([0.8, 0.1]),
        selected=np.array([True, False]),
        p_false=np.array([0, 0, 0.1, 0.3, 0.3, 0.3]),
        p_two=np.array([0, 0, 0.7, 0, 0, 0]),
    )
    counts = FaultCounts()
    counts.follow(block)
    return counts.counted()


def test_faults_are_counted_in_the_frames_in_which_they_are(faults: Faults) -> None:
    assert faults.frame.tolist() == [2, 4, 6]
    assert faults.masks.tolist() == [2, 1, 3]
    np.testing.assert_allclose(faults.missed, [0, 0.9, 0])
    np.testing.assert_allclose(faults.false, [0, 0.1, 0.9])
    np.testing.assert_allclose(faults.two, [0, 0.7, 0])
    assert faults.worst(6) == [1, 2]


def test_a_missing_mask_is_half_way_across_its_gap(faults: Faults) -> None:
    worst = faults.suspects[1][0]
    assert (worst.kind, worst.label, worst.place) == ("missed", 0, (3.0, 6.0))
    assert worst.probability == pytest.approx(0.9)
    assert [(each.kind, each.label) for each in faults.suspects[1]] == [("missed", 0), ("two", 10), ("false", 10)]


def test_the_section_names_the_worst_frames_first_and_what_is_wrong(faults: Faults) -> None:
    told = masks.section(JUDGED, faults, None)
    assert told.index("Frame 4") < told.index("Frame 6")
    assert "missing at y 3, x 6" in told and "mask 10: two cells" in told
    assert "dunno review OUT --at 4:10" in told
    assert "<circle" not in told
    picture = masks.FramePicture("data:,", 100, 50, (2.0, 2.0))
    assert '<circle class="fault missed" cx="3.0" cy="1.5"' in masks.section(JUDGED, faults, [picture, picture])


def test_only_what_was_looked_at_is_told(faults: Faults) -> None:
    gaps_alone = replace(ABOUT, calibration={**MODEL, "judges_masks": False})
    told = masks.section(gaps_alone, replace(faults, false=np.zeros(3), two=np.zeros(3)), None)
    assert "missing, per frame" in told and "holding" not in told


@pytest.mark.parametrize(
    ("calibration", "words"),
    [
        (None, "Masks were not judged"),
        ({"kind": "temperature scaling"}, "Masks were not judged"),
        ({"kind": "motion model", "max_gap": 0, "judges_masks": False}, "Nothing speaks against them"),
    ],
)
def test_where_nobody_looked_there_is_one_plain_line(
    faults: Faults, calibration: dict[str, Any] | None, words: str
) -> None:
    told = masks.section(replace(ABOUT, calibration=calibration), faults, None)
    assert words in told and told.count("<p>") == 1 and "<svg" not in told
