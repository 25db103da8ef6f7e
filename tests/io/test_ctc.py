"""The challenge's truth."""

from pathlib import Path

import numpy as np
import pytest
import tifffile

from dunno import read
from dunno.errors import TruthError
from dunno.types import Truth

from .movies import write_sequence

GOOD = "1 0 2 0\n2 0 2 0\n3 0 2 0\n4 1 2 0\n"


def truth_of(tmp_path: Path, table: str) -> Truth:
    path = write_sequence(tmp_path)
    write_sequence(tmp_path, "01_ST/SEG", "man_seg")
    (tmp_path / "01_GT/TRA/man_track.txt").write_text(table)
    return read(path, truth=True)[1]


def test_truth_is_read_and_follows_every(tmp_path: Path) -> None:
    truth = truth_of(tmp_path, GOOD)
    assert truth.track.tolist() == [1, 2, 3, 4]
    assert truth.first.tolist() == [0, 0, 0, 1]
    assert truth.every(2).frames.tolist() == [0, 2]
    assert truth.every(2).tracks[1].tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("1 0 2 0\n2 0 2 0\n3 0 2 0\n", "has no row for label 4, which is in .*man_track001.tif"),
        ("1 0 2 0\n2 0 1 0\n3 0 2 0\n4 1 2 0\n", "track 2 lives from frame 0 to 1, but .*man_track002.tif shows it"),
        ("1 0 2 0\n2 0 2 0\n3 0 2 0\n4 0 2 0\n", "track 4 begins in frame 0, but no mask shows it there"),
        ("1 0 2 0\n2 0 2 0\n3 0 2 0\n4 1 3 0\n", "track 4 ends in frame 3, but no mask shows it there"),
        ("1 0 2 0\n2 0 2 0\n3 0 2 0\n4 1 2 9\n", "track 4 comes from track 9, which has no row"),
        ("1 0 2 0\n2 0 2 0\n3 0 2 0\n4 1 2 1\n", "track 1, from which it comes, is still there in frame 2"),
        ("1 0 2 0\n1 0 2 0\n2 0 2 0\n3 0 2 0\n4 1 2 0\n", "track 1 has several rows"),
        ("1 2 0 0\n2 0 2 0\n3 0 2 0\n4 1 2 0\n", "track 1 ends in frame 0, before it begins in 2"),
        ("1 0 2\n", "3 columns; expected four"),
        ("1 0 2 x\n", "expected four whole numbers a row"),
    ],
)
def test_a_table_that_contradicts_itself_or_its_masks_is_refused(tmp_path: Path, table: str, message: str) -> None:
    with pytest.raises(TruthError, match=message):
        truth_of(tmp_path, table)


@pytest.mark.parametrize("shape", [(6, 13), (72,), (1, 1, 6, 12)])
def test_annotations_of_another_shape_are_refused(tmp_path: Path, shape: tuple[int, ...]) -> None:
    truth_of(tmp_path, GOOD)
    tifffile.imwrite(tmp_path / "01_GT/TRA/man_track001.tif", np.zeros(shape, np.uint16))
    with pytest.raises(TruthError, match="but annotations of shape"):
        read(tmp_path / "01", truth=True)


def test_truth_needs_a_table(tmp_path: Path) -> None:
    path = write_sequence(tmp_path, "01_RES", "mask")
    with pytest.raises(TruthError, match="man_track.txt: there is no such file"):
        read(path, truth=True)
