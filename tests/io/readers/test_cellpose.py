from pathlib import Path

import numpy as np
import pytest
import tifffile

from dunno import read
from dunno.errors import MovieError

from ...conftest import COLONY
from ..movies import assert_is_colony, write_frames


def example(folder: Path) -> Path:
    return write_frames(folder / "masks", [f"im_{t}_cp_masks.png" for t in range(3)])


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
