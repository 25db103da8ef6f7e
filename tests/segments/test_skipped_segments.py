"""Segments with every second frame left out."""

import numpy as np
import pytest

from dunno.segments.skipped_segments import UNKNOWN_SHARE, SkippedSegments, every_second
from dunno.segments.table import segment_table
from tests.segments.scenes import fitted, meeting, movie


def test_every_second_frame_keeps_what_is_in_it() -> None:
    made = movie(meeting(13, range(4, 9)), shared=[(5, 6, range(4, 9))])
    model = fitted(made)
    segments = segment_table(made, model.seen).segments
    few, rows = every_second(segments)
    expected = segment_table(made.every(2), model.seen).segments
    assert few.n_frames == expected.n_frames == 7
    assert few.n_masks == expected.n_masks
    for name in ("frame", "masks", "place", "area", "halves", "neck", "cuts"):
        order = [np.lexsort((each.area, each.place[:, 0], each.frame)) for each in (few, expected)]
        if name in ("place", "area", "halves", "neck", "frame"):
            np.testing.assert_allclose(getattr(few, name)[order[0]], getattr(expected, name)[order[1]])
    np.testing.assert_array_equal(segments.frame[rows] // 2, few.frame)
    assert len(few.cuts) == len(expected.cuts) and (few.masks[few.cuts[:, 0], 0] < few.n_masks).all()


def test_doubt_of_parts_grows_with_what_all_frames_deny() -> None:
    def unknown(promised: float, composed: float, sets: int = 2000) -> float:
        return SkippedSegments(100, 1.0, 1.0, sets, promised, composed).unknown

    assert unknown(0.0, 0.0, 0) == pytest.approx(UNKNOWN_SHARE, rel=0.06)
    assert unknown(100.0, 100.0) < unknown(100.0, 300.0) < unknown(100.0, 900.0)
    assert unknown(100.0, 300.0) == pytest.approx(0.1, abs=0.02)
    assert unknown(0.0, 2000.0) <= 0.4
