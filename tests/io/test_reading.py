import pickle
from pathlib import Path

import imagecodecs
import numpy as np
import pytest
import tifffile
import zarr

from dunno import read
from dunno.errors import DunnoWarning, MovieError, TruthError

from ..conftest import COLONY


def write_frames(folder: Path, names: list[str], frames: list[np.ndarray] = COLONY, **options: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, frame in zip(names, frames, strict=True):
        if name.endswith(".png"):
            (folder / name).write_bytes(imagecodecs.png_encode(frame))
        else:
            tifffile.imwrite(folder / name, frame, **options)
    return folder


def assert_is_colony(movie: object) -> None:
    assert len(movie) == 3
    for t in range(3):
        np.testing.assert_array_equal(movie.masks(t), COLONY[t])
    copy = pickle.loads(pickle.dumps(movie))
    np.testing.assert_array_equal(copy.masks(2), COLONY[2])


@pytest.mark.parametrize("suffix", ["tif", "tiff", "png", "TIF"])
def test_a_folder_of_frames_sorts_naturally(tmp_path: Path, suffix: str) -> None:
    assert_is_colony(read(write_frames(tmp_path / "m", [f"t2.{suffix}", f"t9.{suffix}", f"t10.{suffix}"])))


@pytest.mark.parametrize("compression", ["lzw", "zlib", "zstd", "packbits"])
def test_compressed_frames_are_read(tmp_path: Path, compression: str) -> None:
    assert_is_colony(read(write_frames(tmp_path / "m", ["a0.tif", "a1.tif", "a2.tif"], compression=compression)))


@pytest.mark.parametrize(
    "options",
    [
        {"photometric": "minisblack"},
        {"photometric": "minisblack", "compression": "lzw"},
        {"photometric": "minisblack", "imagej": True},
        {"photometric": "rgb", "planarconfig": "separate"},
        {"photometric": "rgb", "planarconfig": "separate", "compression": "zlib"},
    ],
)
def test_a_stack_is_read_frame_by_frame(tmp_path: Path, options: dict) -> None:
    path = tmp_path / "stack.tif"
    tifffile.imwrite(path, np.stack(COLONY), **options)
    assert_is_colony(read(path))


@pytest.mark.parametrize("options", [{}, {"compression": "lzw"}, {"imagej": True, "metadata": {"axes": "TZYX"}}])
def test_a_stack_of_volumes_is_read(tmp_path: Path, options: dict) -> None:
    volumes = np.stack([np.stack([frame, frame * 2]) for frame in COLONY])
    tifffile.imwrite(tmp_path / "stack.tif", volumes, **options)
    movie = read(tmp_path / "stack.tif", scale=(3.0, 1.0, 1.0))
    assert len(movie) == 3
    for t in range(3):
        np.testing.assert_array_equal(movie.masks(t), volumes[t])


def test_a_cellpose_folder_takes_masks_and_images_apart(tmp_path: Path) -> None:
    folder = write_frames(tmp_path / "m", [f"im_{t}_cp_masks.png" for t in range(3)])
    write_frames(folder, [f"im_{t}.tif" for t in range(3)], [frame * 3 for frame in COLONY])
    movie = read(folder)
    assert_is_colony(movie)
    np.testing.assert_array_equal(movie.images(1), COLONY[1] * 3)
    assert movie.mask_source.endswith("*_cp_masks.png")


def test_a_cellpose_folder_may_have_no_images_but_not_some(tmp_path: Path) -> None:
    folder = write_frames(tmp_path / "m", [f"im_{t}_cp_masks.tif" for t in range(3)])
    assert not read(folder).has_images
    tifffile.imwrite(folder / "im_0.tif", COLONY[0])
    with pytest.raises(MovieError, match="im_1_cp_masks.tif: there is no image im_1 beside it"):
        read(folder)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_zarr_array_is_read(tmp_path: Path, zarr_format: int) -> None:
    array = zarr.create_array(
        tmp_path / "m.zarr", shape=(3, 6, 12), chunks=(1, 6, 12), dtype="u2", zarr_format=zarr_format
    )
    array[:] = np.stack(COLONY)
    assert_is_colony(read(tmp_path / "m.zarr"))


def ome_zarr(path: Path) -> Path:
    axes = [{"name": n, "type": k} for n, k in zip("tcyx", ("time", "channel", "space", "space"), strict=True)]
    axes[0]["unit"] = "second"
    level = {"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [90.0, 1.0, 0.5, 0.25]}]}
    root = zarr.open_group(path, mode="w", zarr_format=2)
    stack = np.stack(COLONY)[:, None]
    for group, pixels in ((root, stack * 7), (root.create_group("labels/cells"), stack)):
        group.attrs["multiscales"] = [{"axes": axes, "datasets": [level]}]
        group.create_array("0", data=pixels)
    root["labels"].attrs["labels"] = ["cells"]
    return path


def test_an_ome_zarr_gives_labels_images_scale_and_interval(tmp_path: Path) -> None:
    movie = read(ome_zarr(tmp_path / "m.zarr"))
    assert_is_colony(movie)
    np.testing.assert_array_equal(movie.images(1), COLONY[1] * 7)
    assert movie.scale == (0.5, 0.25)
    assert movie.interval == 1.5
    assert read(tmp_path / "m.zarr", scale=2.0).scale == (2.0, 2.0)


def test_a_plain_zarr_group_lists_what_it_holds(tmp_path: Path) -> None:
    group = zarr.open_group(tmp_path / "m.zarr", mode="w")
    group.create_array("cells", data=np.stack(COLONY))
    with pytest.raises(MovieError, match=r"holds cells; give the array that holds the masks, such as .*m\.zarr/NAME"):
        read(tmp_path / "m.zarr")
    assert_is_colony(read(tmp_path / "m.zarr" / "cells"))


def test_masks_can_be_told(tmp_path: Path) -> None:
    images = write_frames(tmp_path / "images", ["a.tif", "b.tif", "c.tif"], [frame + 50 for frame in COLONY])
    masks = write_frames(tmp_path / "masks", ["x1.tif", "x2.tif", "x3.tif"])
    movie = read(images, masks=masks)
    assert_is_colony(movie)
    np.testing.assert_array_equal(movie.images(0), COLONY[0] + 50)
    with pytest.raises(MovieError, match="nowhere: there is no such file or folder; --masks"):
        read(images, masks=tmp_path / "nowhere")


# --- CTC -----------------------------------------------------------------------------------------------------------

TABLE = "1 0 2 0\n2 0 0 0\n3 0 0 0\n"


def sequence(root: Path, place: str = "01_GT/TRA", stem: str = "man_track", first: int = 0) -> Path:
    write_frames(root / place, [f"{stem}{t + first:03d}.tif" for t in range(3)])
    return root / "01"


def test_a_sequence_is_there_if_any_of_its_folders_is(tmp_path: Path) -> None:
    with pytest.warns(DunnoWarning, match="holds markers instead of whole cells"):
        assert_is_colony(read(sequence(tmp_path)))
    assert_is_colony(read(sequence(tmp_path, "01_ST/SEG", "man_seg")))
    result = sequence(tmp_path / "other", "01_RES", "mask")
    assert_is_colony(read(result))


def test_masks_are_looked_for_in_the_silver_truth_first(tmp_path: Path) -> None:
    sequence(tmp_path)
    sequence(tmp_path, "01_ST/SEG", "man_seg")
    assert read(tmp_path / "01").mask_source.endswith("01_ST/SEG")


def test_frames_keep_the_numbers_of_their_files(tmp_path: Path) -> None:
    assert read(sequence(tmp_path, "01_RES", "mask", first=7)).frames.tolist() == [7, 8, 9]


def test_a_sequence_reads_its_images(tmp_path: Path) -> None:
    path = sequence(tmp_path, "01_RES", "mask")
    write_frames(path, ["t000.tif", "t001.tif", "t002.tif"], [frame + 9 for frame in COLONY])
    movie = read(path)
    np.testing.assert_array_equal(movie.images(2), COLONY[2] + 9)
    (path / "t002.tif").unlink()
    with pytest.raises(MovieError, match="2 images but 3 masks in .*01_RES; every frame needs one of each"):
        read(path)


def test_a_missing_frame_is_named(tmp_path: Path) -> None:
    path = sequence(tmp_path, "01_RES", "mask")
    (tmp_path / "01_RES" / "mask001.tif").unlink()
    with pytest.raises(MovieError, match="mask002.tif follows mask000.tif; frames are missing"):
        read(path)


def truth_of(tmp_path: Path, table: str) -> None:
    path = sequence(tmp_path)
    sequence(tmp_path, "01_ST/SEG", "man_seg")
    (tmp_path / "01_GT/TRA/man_track.txt").write_text(table)
    return read(path, truth=True)[1]


GOOD = "1 0 2 0\n2 0 2 0\n3 0 2 0\n4 1 2 0\n"


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


def test_truth_needs_a_table(tmp_path: Path) -> None:
    path = sequence(tmp_path, "01_RES", "mask")
    with pytest.raises(TruthError, match="man_track.txt: there is no such file"):
        read(path, truth=True)


# --- what is no movie ----------------------------------------------------------------------------------------------


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


def test_images_without_masks_are_not_taken_for_masks(tmp_path: Path) -> None:
    images = write_frames(tmp_path / "01", ["t000.tif", "t001.tif", "t002.tif"])
    with pytest.raises(MovieError, match="no masks beside it in 01_ST/SEG, 01_GT/TRA or 01_RES"):
        read(images)
    (tmp_path / "01_GT").mkdir()
    with pytest.raises(MovieError, match="found no masks in 01_ST/SEG, 01_GT/TRA, 01_RES"):
        read(images)


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
    colour = np.zeros((4, 5, 3), np.uint8)
    folder = write_frames(tmp_path / "m", ["a.png"], [colour])
    with pytest.raises(MovieError, match="a colour PNG"):
        read(folder)
    tifffile.imwrite(tmp_path / "c.tif", np.zeros((3, 4, 5, 3), np.uint8), photometric="rgb")
    with pytest.raises(MovieError, match="has colour channels"):
        read(tmp_path / "c.tif")


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
    monkeypatch.setattr("dunno.io.tiff.read_image", lambda path: pytest.fail(f"{path} was read"))
    assert read(tmp_path).shape == (3, 4)
