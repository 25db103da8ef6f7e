from pathlib import Path

import numpy as np
import pytest
import tifffile

from dunno import read
from dunno.errors import MovieError

from ...conftest import COLONY
from ..movies import assert_is_colony


def example(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    tifffile.imwrite(folder / "stack.tif", np.stack(COLONY), photometric="minisblack")
    return folder / "stack.tif"


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


def test_a_stack_of_colour_images_is_refused(tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / "c.tif", np.zeros((3, 4, 5, 3), np.uint8), photometric="rgb")
    with pytest.raises(MovieError, match="has colour channels"):
        read(tmp_path / "c.tif")


@pytest.mark.parametrize("bytes_left", [0, 4, 8, 50, 200, 400])
def test_a_stack_that_was_cut_off_gets_one_clear_line(tmp_path: Path, bytes_left: int) -> None:
    path = example(tmp_path)
    path.write_bytes(path.read_bytes()[:bytes_left])
    with pytest.raises(MovieError, match="stack.tif: "):
        read(path).masks(2)


@pytest.mark.parametrize("tag", ["ImageWidth", "ImageLength", "BitsPerSample", "StripOffsets"])
def test_a_stack_with_odd_tags_gets_one_clear_line(tmp_path: Path, tag: str) -> None:
    path = example(tmp_path)
    with tifffile.TiffFile(path) as file:
        place = file.pages[0].tags[tag].valueoffset
    content = bytearray(path.read_bytes())
    content[place : place + 2] = b"\xfe\x7f"
    path.write_bytes(content)
    with pytest.raises(MovieError, match="stack.tif"):
        movie = read(path)
        for t in range(3):
            movie.masks(t)
