from pathlib import Path

import numpy as np
import pytest

from dunno import read
from dunno.errors import MovieError

from ...conftest import COLONY
from ..movies import assert_is_colony, write_frames


def example(folder: Path) -> Path:
    return write_frames(folder / "masks", ["t0.tif", "t1.tif", "t2.tif"])


@pytest.mark.parametrize("suffix", ["tif", "tiff", "png", "TIF"])
def test_a_folder_of_frames_sorts_naturally(tmp_path: Path, suffix: str) -> None:
    movie = read(write_frames(tmp_path / "m", [f"t2.{suffix}", f"t9.{suffix}", f"t10.{suffix}"]))
    assert_is_colony(movie)
    assert movie.frames.tolist() == [2, 9, 10]
    assert movie.notes == (
        "frames 3, 4, 5, 6, 7, 8 are missing; frames keep the numbers of their files, and cells are linked across the gap to the "
        "next frame that is there",
    )


@pytest.mark.parametrize(
    ("names", "frames"),
    [
        (["x1_t0005.tif", "x1_t0010.tif", "x1_t0015.tif"], [5, 10, 15]),
        (["a.tif", "b.tif", "c.tif"], [0, 1, 2]),
        (["2024-01-02_11-59.tif", "2024-01-02_12-00.tif", "2024-01-02_12-01.tif"], [0, 1, 2]),  # times of day
    ],
)
def test_frames_have_the_number_that_tells_files_apart(tmp_path: Path, names: list[str], frames: list[int]) -> None:
    movie = read(write_frames(tmp_path / "m", names))
    assert_is_colony(movie)
    assert (movie.frames.tolist(), movie.notes) == (frames, ())


PICTURES = [frame * 9 + 50 for frame in COLONY]


@pytest.mark.parametrize(
    ("masks", "images"),
    [
        ("frame{:03d}_mask.tif", "frame{:03d}.tif"),
        ("frame{:03d}_mask.png", "frame{:03d}.tif"),
        ("mask{:03d}.tif", "raw{:03d}.tif"),
        ("x_labels_{}.tif", "x_image_{}.tif"),
        ("cells_t{}_seg.tif", "cells_t{}.png"),
        ("mask_{}.tif", "a_{}.tif"),
    ],
)
def test_a_folder_with_both_never_reads_an_image_as_a_mask(tmp_path: Path, masks: str, images: str) -> None:
    folder = write_frames(tmp_path / "m", [masks.format(t) for t in (1, 2, 10)])
    write_frames(folder, [images.format(t) for t in (1, 2, 10)], PICTURES)
    movie = read(folder)
    assert_is_colony(movie)
    np.testing.assert_array_equal(movie.images(2), PICTURES[2])
    assert movie.frames.tolist() == [1, 2, 10]
    assert movie.notes[0] == f"images are {images.format(1)} …, masks {masks.format(1)} …"


def test_two_series_without_a_word_are_refused(tmp_path: Path) -> None:
    folder = write_frames(tmp_path / "m", [f"a{t}.tif" for t in range(3)])
    write_frames(folder, [f"b{t}.tif" for t in range(3)], PICTURES)
    with pytest.raises(
        MovieError, match="3 files like a0.tif and 3 files like b0.tif, and no name says which are masks; put"
    ):
        read(folder)


def test_masks_of_which_some_have_an_image_are_refused(tmp_path: Path) -> None:
    folder = write_frames(tmp_path / "m", [f"a{t}_mask.tif" for t in range(3)])
    write_frames(folder, ["a0.tif", "a2.tif"], PICTURES[:2])
    with pytest.raises(MovieError, match="a1_mask.tif: there is no image a1 beside it, as for other frames"):
        read(folder)


def test_folders_of_masks_and_of_images_are_found(tmp_path: Path) -> None:
    write_frames(tmp_path / "movie" / "masks", ["a0.tif", "a1.tif", "a2.tif"])
    write_frames(tmp_path / "movie" / "images", ["a0.tif", "a1.tif", "a2.tif"], PICTURES)
    for path in ("movie", "movie/masks", "movie/images"):
        movie = read(tmp_path / path)
        assert_is_colony(movie)
        np.testing.assert_array_equal(movie.images(0), PICTURES[0])
    assert read(tmp_path / "movie").notes == (
        f"images are in {tmp_path}/movie/images, masks in {tmp_path}/movie/masks",
    )


def test_one_level_too_high_says_what_was_meant(tmp_path: Path) -> None:
    write_frames(tmp_path / "HeLa" / "01", ["t000.tif", "t001.tif"], PICTURES[:2])
    write_frames(tmp_path / "HeLa" / "02_ST" / "SEG", ["man_seg000.tif", "man_seg001.tif"], COLONY[:2])
    write_frames(tmp_path / "HeLa" / "02", ["t000.tif", "t001.tif"], PICTURES[:2])
    with pytest.raises(MovieError, match="HeLa: holds no images itself; did you mean .*HeLa/01 or .*HeLa/02"):
        read(tmp_path / "HeLa")


@pytest.mark.parametrize("compression", ["lzw", "zlib", "zstd", "packbits"])
def test_compressed_frames_are_read(tmp_path: Path, compression: str) -> None:
    assert_is_colony(read(write_frames(tmp_path / "m", ["a0.tif", "a1.tif", "a2.tif"], compression=compression)))


def test_a_truncated_file_is_named(tmp_path: Path) -> None:
    folder = write_frames(tmp_path / "m", ["a0.tif", "a1.tif", "a2.tif"])
    whole = (folder / "a1.tif").read_bytes()
    (folder / "a1.tif").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(MovieError, match=r"a1\.tif: cannot be read .*; is it complete"):
        read(folder).masks(1)
    (folder / "a0.tif").write_bytes(b"")
    with pytest.raises(MovieError, match=r"a0\.tif: cannot be read"):
        read(folder)


def test_a_colour_image_is_refused(tmp_path: Path) -> None:
    folder = write_frames(tmp_path / "m", ["a.png"], [np.zeros((4, 5, 3), np.uint8)])
    with pytest.raises(MovieError, match="a colour PNG"):
        read(folder)
