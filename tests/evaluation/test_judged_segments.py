"""P(segment), where the annotation can judge it."""

from dataclasses import replace

import numpy as np
import pytest

from dunno import Movie, Tracker
from dunno.evaluation.judged_segments import (
    MASK_PART,
    MASK_UNION,
    MASK_WHOLE,
    CutFrame,
    JudgedSegment,
    SegmentClaim,
    judged_segments,
    promise_bins,
)
from dunno.evaluation.mask_scores import repair_scores
from dunno.io.output import SegmentRow
from dunno.tracking import Tracking

from .worlds import annotated, frame

SCALE = np.ones(2)
CELLS = frame([(1, 10, 10), (2, 10, 16), (3, 10, 40)])
MASKS = frame([(1, 10, 10), (1, 10, 16), (3, 10, 40), (4, 30, 30)])
"""A mask over cells 1 and 2, one on cell 3, and one on nothing."""


@pytest.fixture(scope="module")
def cut() -> CutFrame:
    return CutFrame.of(MASKS, CELLS, SCALE)


def test_a_whole_mask_is_judged_by_what_its_parts_lie_on(cut: CutFrame) -> None:
    assert [cut.judge(cut.whole(mask, 0.9)) for mask in (1, 3, 4)] == [False, True, None]


def test_parts_are_right_where_each_lies_on_a_cell_of_its_own(cut: CutFrame) -> None:
    assert [cut.judge(cut.part(mask, number, 0.5)) for mask in (1, 3) for number in (0, 1)] == [
        True,
        True,
        False,
        False,
    ]


def test_of_three_parts_one_must_share(cut: CutFrame) -> None:
    sisters = [cut.part(1, number, 0.5) for number in (2, 3)]
    assert [len(set(claim.cells)) for claim in sisters] == [2, 2]
    assert [cut.judge(claim) for claim in sisters] == [False, False]


def test_unions_are_right_where_masks_lie_on_one_cell(cut: CutFrame) -> None:
    halves = frame([(1, 10, 10)])
    halves[10:16, 13:16] = 2
    torn = CutFrame.of(halves, CELLS, SCALE)
    assert torn.judge(torn.union([1, 2], 0.5)) is True
    assert torn.judge(torn.whole(1, 0.5)) is False  # another mask covers half of its cell
    assert cut.judge(cut.union([1, 3], 0.5)) is False
    assert cut.judge(cut.union([3, 4], 0.5)) is None


def test_a_part_is_known_by_its_place(cut: CutFrame) -> None:
    area, place = cut.measured[1][1]
    assert cut.number_of(SegmentRow((1,), area, tuple(place), 0.3)) == 1
    assert cut.number_of(SegmentRow((1,), 72.0, (12.5, 15.5), 0.3)) is None


def test_what_nobody_knows_is_not_judged(cut: CutFrame) -> None:
    assert cut.judge(SegmentClaim(3, MASK_WHOLE, float("nan"), [3, 3])) is None


def test_bins_hold_their_lower_end() -> None:
    bins = promise_bins(np.array([0.0, 0.1, 0.95, 1.0]), np.array([False, True, True, False]))
    assert [each.count for each in bins] == [1, 1, 0, 0, 0, 0, 0, 0, 0, 2]
    assert bins[-1].promised == pytest.approx(1.95)
    assert [each.found for each in bins] == [0, 1, 0, 0, 0, 0, 0, 0, 0, 1]


def repaired() -> tuple[Tracking, Movie]:
    """The mask over two cells is cut in the first frame, and kept as it is in the second."""
    given = Movie([MASKS, MASKS])
    drawn = MASKS.copy()
    drawn[10:16, 16:22] = 5
    tracking = Tracker("distance", "SM", calibration=None, max_distance=20.0).track(Movie([drawn, MASKS]))
    p_segment = np.array([0.8, 0.99, 0.97, 0.8, 0.6, 0.99, 0.97])  # 1, 3, 4 and 5; 1, 3 and 4
    cells = replace(tracking.block, p_segment=p_segment, p_cell=np.array([1, 1, 0.2, 1, 1, 1, 0.2]))
    return replace(tracking, blocks=(cells,)), given


def test_all_segments_of_an_output_are_judged() -> None:
    tracking, given = repaired()
    _, truth = annotated([(1, 0, 1, 0), (2, 0, 1, 0), (3, 0, 1, 0)], [CELLS, CELLS], [MASKS, MASKS])
    cut = CutFrame.of(MASKS, CELLS, SCALE)
    area, place = cut.measured[1][0]
    others = {
        0: [SegmentRow((1,), 72.0, (12.5, 15.5), 0.15)],
        1: [SegmentRow((1,), area, tuple(place), 0.4), SegmentRow((3, 4), 72.0, (20.0, 35.0), 0.1)],
    }
    found = judged_segments(tracking, given, truth, others)
    assert found == [
        JudgedSegment(0, 1, MASK_PART, True, 0.8, True),
        JudgedSegment(0, 1, MASK_PART, True, 0.8, True),
        JudgedSegment(0, 3, MASK_WHOLE, True, 0.99, True),
        JudgedSegment(0, 1, MASK_WHOLE, False, 0.15, False),
        JudgedSegment(1, 1, MASK_WHOLE, True, 0.6, False),
        JudgedSegment(1, 3, MASK_WHOLE, True, 0.99, True),
        JudgedSegment(1, 1, MASK_PART, False, 0.4, True),
    ]
    assert MASK_UNION not in {each.kind for each in found}


def test_given_and_repaired_masks_side_by_side() -> None:
    tracking, given = repaired()
    _, truth = annotated([(1, 0, 1, 0), (2, 0, 1, 0), (3, 0, 1, 0)], [CELLS, CELLS], [MASKS, MASKS])
    told = repair_scores(tracking, given, truth, {})
    assert (told.given.shared, told.repaired.shared) == (2, 1)
    assert (told.given.false, told.repaired.false, told.cells.false) == (2, 2, 0)
    assert (told.given.seg, told.repaired.seg) == (pytest.approx(4 / 6), pytest.approx(5 / 6))
    objects = {each.low: (each.count, each.found) for each in told.objects if each.count}
    assert objects == {0.2: (2, 0), 0.9: (5, 5)}
    assert sum(each.count for each in told.segments) == 5
