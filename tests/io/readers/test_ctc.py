from pathlib import Path

import numpy as np
import pytest

from dunno import read
from dunno.errors import DunnoWarning, MovieError

from ...conftest import COLONY
from ..movies import assert_is_colony, write_frames, write_sequence


def example(folder: Path) -> Path:
    return write_sequence(folder, "01_RES", "mask")


def test_a_sequence_is_there_if_any_of_its_folders_is(tmp_path: Path) -> None:
    with pytest.warns(DunnoWarning, match="holds markers instead of whole cells"):
        assert_is_colony(read(write_sequence(tmp_path)))
    assert_is_colony(read(write_sequence(tmp_path, "01_ST/SEG", "man_seg")))
    result = write_sequence(tmp_path / "other", "01_RES", "mask")
    assert_is_colony(read(result))


def test_masks_are_looked_for_in_the_silver_truth_first(tmp_path: Path) -> None:
    write_sequence(tmp_path)
    write_sequence(tmp_path, "01_ST/SEG", "man_seg")
    assert read(tmp_path / "01").mask_source.endswith("01_ST/SEG")


def test_frames_keep_the_numbers_of_their_files(tmp_path: Path) -> None:
    assert read(write_sequence(tmp_path, "01_RES", "mask", first=7)).frames.tolist() == [7, 8, 9]


def test_a_sequence_reads_its_images(tmp_path: Path) -> None:
    path = write_sequence(tmp_path, "01_RES", "mask")
    write_frames(path, ["t000.tif", "t001.tif", "t002.tif"], [frame + 9 for frame in COLONY])
    movie = read(path)
    np.testing.assert_array_equal(movie.images(2), COLONY[2] + 9)
    (path / "t002.tif").unlink()
    with pytest.raises(MovieError, match="2 images but 3 masks in .*01_RES; every frame needs one of each"):
        read(path)


def test_frames_that_are_missing_are_said_and_the_others_keep_their_numbers(tmp_path: Path) -> None:
    path = write_sequence(tmp_path, "01_RES", "mask", first=5)
    write_frames(path, [f"t00{t}.tif" for t in (5, 6, 7)], [frame + 9 for frame in COLONY])
    write_frames(tmp_path / "01_RES", ["mask010.tif"], COLONY[:1])
    (tmp_path / "01_RES" / "mask006.tif").unlink()
    with pytest.raises(
        MovieError, match="3 images but 3 masks in .*01_RES; every frame needs one .* frame 10 has no image"
    ):
        read(path)
    write_frames(path, ["t010.tif"], [COLONY[0] + 9])
    movie = read(path)
    assert movie.frames.tolist() == [5, 7, 10]
    np.testing.assert_array_equal(movie.images(1), COLONY[2] + 9)
    assert movie.notes[0].startswith("frames 6, 8, 9 are missing; frames keep the numbers of their files")


def test_two_files_of_a_frame_are_refused(tmp_path: Path) -> None:
    path = write_sequence(tmp_path, "01_RES", "mask")
    write_frames(tmp_path / "01_RES", ["mask0001.tif"], COLONY[:1])
    with pytest.raises(MovieError, match="mask001.tif follows mask0001.tif|mask0001.tif follows mask001.tif"):
        read(path)


def test_images_without_masks_are_not_taken_for_masks(tmp_path: Path) -> None:
    images = write_frames(tmp_path / "01", ["t000.tif", "t001.tif", "t002.tif"])
    with pytest.raises(MovieError, match="no masks beside it in 01_ST/SEG, 01_GT/TRA or 01_RES"):
        read(images)
    (tmp_path / "01_GT").mkdir()
    with pytest.raises(MovieError, match="found no masks in 01_ST/SEG, 01_GT/TRA, 01_RES"):
        read(images)
