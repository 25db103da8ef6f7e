"""The door: who is asked, and what is said where nobody reads it."""

from pathlib import Path

import imagecodecs
import numpy as np
import pytest
import tifffile

from dunno import read
from dunno.errors import MovieError

from ..conftest import COLONY
from .movies import assert_is_colony, write_frames


def test_masks_can_be_told(tmp_path: Path) -> None:
    images = write_frames(tmp_path / "images", ["a.tif", "b.tif", "c.tif"], [frame + 50 for frame in COLONY])
    masks = write_frames(tmp_path / "masks", ["x1.tif", "x2.tif", "x3.tif"])
    movie = read(images, masks=masks)
    assert_is_colony(movie)
    np.testing.assert_array_equal(movie.images(0), COLONY[0] + 50)
    with pytest.raises(MovieError, match="nowhere: there is no such file or folder; --masks"):
        read(images, masks=tmp_path / "nowhere")


def test_what_is_missing_empty_or_strange_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").write_text("hello")
    for path, message in (
        (tmp_path / "nowhere", "nowhere: there is no such file or folder"),
        (tmp_path / "empty", "empty: holds no .png, .tif, .tiff files"),
        (tmp_path / "notes.txt", "notes.txt: cannot read .txt; expected"),
    ):
        with pytest.raises(MovieError, match=message):
            read(path)


def test_what_is_read_is_listed_from_the_room(tmp_path: Path) -> None:
    (tmp_path / "movie.mp4").touch()
    forms = "a zarr or OME-Zarr folder, .*, a TIFF stack .* or a folder of TIFF or PNG masks$"
    with pytest.raises(MovieError, match=f"movie.mp4: cannot read .mp4; expected {forms}"):
        read(tmp_path / "movie.mp4")
    images = write_frames(tmp_path / "images", ["a.tif", "b.tif", "c.tif"])
    with pytest.raises(MovieError, match="movie.mp4: cannot read .mp4; expected a zarr .* or a folder") as caught:
        read(images, masks=tmp_path / "movie.mp4")
    assert "Cellpose" not in str(caught.value)  # its masks do not come alone


def test_masks_of_a_sequence_keep_their_numbers_wherever_they_lie(tmp_path: Path) -> None:
    images = write_frames(tmp_path / "01", ["t007.tif", "t008.tif", "t009.tif"])
    (tmp_path / "01_GT").mkdir()
    masks = write_frames(tmp_path / "mine", ["m7.tif", "m8.tif", "m9.tif"])
    movie = read(images, masks=masks)
    assert_is_colony(movie)
    assert movie.frames.tolist() == [7, 8, 9]
    assert (movie.name, movie.has_images) == (f"{tmp_path.name}/01", True)
    unnumbered = write_frames(tmp_path / "others", ["a.tif", "b.tif", "c.tif"])
    assert read(images, masks=unnumbered).frames.tolist() == [0, 1, 2]


@pytest.mark.parametrize("suffix", [".tif", ".png"])
def test_a_movie_is_opened_without_reading_a_frame(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    labels = np.arange(12, dtype=np.uint8).reshape(3, 4)
    for t in range(2):
        path = tmp_path / f"{t}{suffix}"
        if suffix == ".tif":
            tifffile.imwrite(path, labels)
        else:
            path.write_bytes(imagecodecs.png_encode(labels))
    monkeypatch.setattr("dunno.io.images.read_image", lambda path: pytest.fail(f"{path} was read"))
    assert read(tmp_path).shape == (3, 4)
