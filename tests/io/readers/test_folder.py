from pathlib import Path

import numpy as np
import pytest

from dunno import read
from dunno.errors import MovieError

from ..movies import assert_is_colony, write_frames


def example(folder: Path) -> Path:
    return write_frames(folder / "masks", ["t2.tif", "t9.tif", "t10.tif"])


@pytest.mark.parametrize("suffix", ["tif", "tiff", "png", "TIF"])
def test_a_folder_of_frames_sorts_naturally(tmp_path: Path, suffix: str) -> None:
    assert_is_colony(read(write_frames(tmp_path / "m", [f"t2.{suffix}", f"t9.{suffix}", f"t10.{suffix}"])))


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
