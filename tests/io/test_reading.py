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
        (tmp_path / "empty", "empty: holds no .npy, .png, .tif, .tiff files"),
        (tmp_path / "notes.txt", "notes.txt: cannot read .txt; expected"),
    ):
        with pytest.raises(MovieError, match=message):
            read(path)


def test_what_is_read_is_listed_from_the_room(tmp_path: Path) -> None:
    (tmp_path / "movie.mp4").touch()
    forms = "a table of points .*, a zarr or OME-Zarr folder, .*, a TIFF stack .* or a folder of TIFF or PNG masks$"
    with pytest.raises(MovieError, match=f"movie.mp4: cannot read .mp4; expected {forms}"):
        read(tmp_path / "movie.mp4")
    images = write_frames(tmp_path / "images", ["a.tif", "b.tif", "c.tif"])
    with pytest.raises(MovieError, match="movie.mp4: cannot read .mp4; expected a zarr .* or a folder") as caught:
        read(images, masks=tmp_path / "movie.mp4")
    assert "Challenge" not in str(caught.value)  # the masks of a sequence do not come alone


def test_masks_of_a_sequence_keep_their_numbers_wherever_they_lie(tmp_path: Path) -> None:
    images = write_frames(tmp_path / "01", ["t007.tif", "t008.tif", "t009.tif"])
    (tmp_path / "01_GT").mkdir()
    masks = write_frames(tmp_path / "mine", ["m7.tif", "m8.tif", "m9.tif"])
    movie = read(images, masks=masks)
    assert_is_colony(movie)
    assert movie.frames.tolist() == [7, 8, 9]
    assert (movie.name, movie.has_images) == (f"{tmp_path.name}/01", True)
    assert movie.form == "a Cell Tracking Challenge sequence"
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


def test_images_lie_where_they_are_told(tmp_path: Path) -> None:
    masks = write_frames(tmp_path / "a", ["x1.tif", "x2.tif", "x3.tif"])
    images = write_frames(tmp_path / "b", [f"y{t}.png" for t in range(5)], [COLONY[t % 3] + t for t in range(5)])
    movie = read(masks, images=images)
    assert_is_colony(movie)
    np.testing.assert_array_equal(movie.images(0), COLONY[1] + 1)  # by its number
    assert movie.notes[0] == f"images from {images}"
    assert movie.opened_with == {"images": str(images)}
    both = write_frames(tmp_path / "c", ["z0.tif", "z1.tif", "z2.tif"])
    write_frames(both, ["z0_mask.tif", "z1_mask.tif", "z2_mask.tif"])
    assert read(both, images=masks).notes == (f"images from {masks}",)
    tifffile.imwrite(tmp_path / "four.tif", np.stack([*COLONY, COLONY[0]]), photometric="minisblack")
    with pytest.raises(MovieError, match="3 mask frames but 4 image frames"):
        read(masks, images=tmp_path / "four.tif")
    with pytest.raises(MovieError, match="nowhere: there is no such file or folder; --images says where"):
        read(masks, images=tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("masks", "images"),
    [("masks.tif", "raw.tif"), ("cells_masks.tif", "cells.tif"), ("x_seg.tif", "x_img.tif"), ("x-labels.tif", "x.tif")],
)
def test_stacks_side_by_side_are_masks_and_images(tmp_path: Path, masks: str, images: str) -> None:
    for name, stack in ((masks, COLONY), (images, [frame + 50 for frame in COLONY])):
        tifffile.imwrite(tmp_path / name, np.stack(stack), photometric="minisblack")
    for given in (masks, images):
        movie = read(tmp_path / given)
        assert_is_colony(movie)
        np.testing.assert_array_equal(movie.images(2), COLONY[2] + 50)
    assert read(tmp_path / masks).notes == (f"images are taken from {tmp_path / images}, beside the masks",)
    assert read(tmp_path / images).notes == (
        f"{tmp_path / images} is taken for the images of {tmp_path / masks}, as its name says",
    )


def test_a_neighbour_that_does_not_fit_is_told_and_not_used(tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / "masks.tif", np.stack(COLONY), photometric="minisblack")
    tifffile.imwrite(tmp_path / "raw.tif", np.stack(COLONY[:2]), photometric="minisblack")
    movie = read(tmp_path / "masks.tif")
    assert not movie.has_images
    assert (
        "raw.tif could be the images, but has 2 frames of (6, 12), not 3 of (6, 12); it is not used" in movie.notes[0]
    )
    (tmp_path / "raw.tif").write_bytes(b"nothing")
    assert "raw.tif could be the images, but is not used: " in read(tmp_path / "masks.tif").notes[0]


def test_a_part_of_a_movie_is_read(tmp_path: Path) -> None:
    folder = write_frames(tmp_path / "m", ["a5.tif", "a6.tif", "a9.tif"])
    movie = read(folder, frames=(6, 10), region=((0, 3), (0, 12)))
    assert movie.frames.tolist() == [6, 9]
    assert movie.notes[-1] == "frames 6 to 9 of 5 to 9"
    assert movie.detections(0).label.tolist() == [1, 3]  # the others lie below the third row
    assert movie.detections(0).centroid[1].tolist() == [1.5, 8.5]  # as in the whole field
    assert read(folder, frames=(None, 6)).frames.tolist() == [5]
    with pytest.raises(MovieError, match="m: has no frames from 20 up to 30; its frames are 5 to 9"):
        read(folder, frames=(20, 30))
    with pytest.raises(MovieError, match="--region begins outside the frames"):
        read(folder, region=((7, 9), (0, 2)))


def test_connected_pieces_become_cells(tmp_path: Path) -> None:
    folder = write_frames(tmp_path / "m", ["a0.tif", "a1.tif", "a2.tif"], [(frame > 0) * 255 for frame in COLONY])
    movie = read(folder, label_components=True)
    assert [len(movie.detections(t)) for t in range(3)] == [3, 4, 4]
    assert movie.opened_with == {"label_components": True}


def test_a_folder_with_one_stack_is_that_stack(tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / "masks.tif", np.stack(COLONY), photometric="minisblack")
    movie = read(tmp_path)
    assert_is_colony(movie)
    assert movie.notes == (f"masks.tif is the one file of masks in {tmp_path}",)
    tifffile.imwrite(tmp_path / "raw.tif", np.stack(COLONY) + 3, photometric="minisblack")
    np.testing.assert_array_equal(read(tmp_path).images(1), COLONY[1] + 3)


def test_a_folder_around_a_movie_says_which_is_meant(tmp_path: Path) -> None:
    (tmp_path / "movie.zarr").mkdir()
    with pytest.raises(MovieError, match="holds no images itself; did you mean .*movie.zarr"):
        read(tmp_path)


def test_sizes_that_only_the_images_know_are_taken_from_them(tmp_path: Path) -> None:
    metadata = {"axes": "TYX", "unit": "um", "finterval": 120.0}
    tifffile.imwrite(tmp_path / "masks.tif", np.stack(COLONY), photometric="minisblack")
    tifffile.imwrite(tmp_path / "raw.tif", np.stack(COLONY), imagej=True, resolution=(2.0, 2.0), metadata=metadata)
    movie = read(tmp_path / "masks.tif")
    assert (movie.scale, movie.has_scale, movie.interval) == ((0.5, 0.5), True, 2.0)
    assert movie.notes[0] == "0.5 µm/pixel, 2 min between frames, from the images"
    own = read(tmp_path / "masks.tif", scale=3.0)
    assert (own.scale, own.interval, own.notes[0]) == ((3.0, 3.0), 2.0, "2 min between frames, from the images")


def test_masks_in_a_folder_below_the_images_are_found(tmp_path: Path) -> None:
    write_frames(tmp_path / "m", ["t0.tif", "t1.tif", "t2.tif"], [frame * 7 for frame in COLONY])
    write_frames(tmp_path / "m" / "masks", ["t0.tif", "t1.tif", "t2.tif"])
    movie = read(tmp_path / "m")
    assert_is_colony(movie)
    np.testing.assert_array_equal(movie.images(1), COLONY[1] * 7)
    assert movie.notes == (f"images are in {tmp_path}/m, masks in {tmp_path}/m/masks",)
