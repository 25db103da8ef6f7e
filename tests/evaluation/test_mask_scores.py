"""DET and SEG, counted by hand and by the challenge's library."""

from pathlib import Path

import numpy as np
import pytest

from dunno import Tracker
from dunno.evaluation.challenge import _compact, challenge_measures
from dunno.evaluation.mask_scores import mask_scores
from dunno.io.ctc import match_folder, write_mask, write_sequence, write_table
from dunno.io.images import ImageFiles
from dunno.simulate import FaultShares, colony, spoil

from .worlds import annotated, frame


def test_faults_are_counted_and_weighed() -> None:
    """Three cells: one detected, two in one mask; and a mask on nothing."""
    cells = frame([(1, 10, 10), (2, 10, 30), (3, 10, 36)])
    masks = frame([(1, 10, 10), (2, 10, 30), (2, 10, 36), (4, 30, 10)])
    movie, truth = annotated([(1, 0, 0, 0), (2, 0, 0, 0), (3, 0, 0, 0)], [cells], [masks])
    found = mask_scores(movie, truth)
    assert (found.cells, found.masks, found.missed, found.false, found.shared) == (3, 3, 0, 1, 1)
    assert found.det == pytest.approx(1 - (1 + 5) / 30)
    assert found.seg == pytest.approx((1 + 0.5 + 0.5) / 3)


def test_masks_that_are_no_cells_can_be_left_out() -> None:
    cells = frame([(1, 10, 10)])
    movie, truth = annotated([(1, 0, 0, 0)], [cells], [frame([(1, 10, 10), (2, 30, 10)])])
    assert mask_scores(movie, truth).det == pytest.approx(0.9)
    assert mask_scores(movie, truth, np.array([True, False])).det == 1.0
    assert mask_scores(movie, truth, np.array([False, True])).det == 0.0


def test_markers_say_nothing_of_outlines() -> None:
    movie, truth = annotated([(1, 0, 0, 0)], [frame([(1, 12, 12)], 2)], [frame([(1, 10, 10)])])
    assert mask_scores(movie, truth).det == 1.0
    assert np.isnan(mask_scores(movie, truth).seg)
    assert mask_scores(movie, truth).to_dict()["seg"] is None


def test_a_mask_that_cells_share_makes_no_markers_of_them() -> None:
    cells, shared = (
        [(1, 10, 10), (2, 10, 20), (3, 10, 30), (4, 30, 30)],
        [(1, 10, 10), (1, 10, 20), (1, 10, 30), (4, 30, 30)],
    )
    movie, truth = annotated([(k, 0, 0, 0) for k in (1, 2, 3, 4)], [frame(cells)], [frame(shared)])
    assert mask_scores(movie, truth).seg == pytest.approx((3 * 1 / 3 + 1) / 4)


def test_the_challenge_counts_the_same(tmp_path: Path) -> None:
    pytest.importorskip("ctc_metrics")
    made = colony(cells=20, frames=6, seed=3)
    write_sequence(tmp_path / "01", tmp_path / "01_GT", made.movie, made.truth)
    bad = spoil(made.movie, made.truth, FaultShares(missed=0.1, false=0.1, merged=0.1, split=0.1), 1).movie
    tracking = Tracker(evidence="places", repair=False, workers=1).track(bad)
    truth = match_folder(tmp_path / "01_GT/TRA", bad)
    found = mask_scores(bad, truth)
    assert min(found.missed, found.false, found.shared) > 0
    told = challenge_measures(tracking, tmp_path / "01_GT/TRA", tmp_path / "01_GT/SEG")
    assert found.det == pytest.approx(told["DET"])
    assert found.seg == pytest.approx(told["SEG"])


def test_pieces_of_tracks_with_gaps_leave_room_for_the_labels_that_the_challenge_adds(tmp_path: Path) -> None:
    write_mask(tmp_path / "mask000.tif", np.array([[0, 3], [65535, 65534]], np.uint16))
    write_table(tmp_path / "res_track.txt", [(3, 0, 0, 65535), (65534, 0, 0, 0), (65535, 0, 0, 0)])
    _compact(tmp_path)
    assert ImageFiles([tmp_path / "mask000.tif"])[0].tolist() == [[0, 1], [3, 2]]
    assert (tmp_path / "res_track.txt").read_text() == "1 0 0 3\n2 0 0 0\n3 0 0 0\n"
