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


def save_seg(path: Path, masks: np.ndarray) -> None:
    """As `cellpose.io.masks_flows_to_seg` writes it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {
        "outlines": masks * 0,
        "masks": masks,
        "chan_choose": [0, 0],
        "ismanual": np.zeros(masks.max(), bool),
        "filename": path.with_name("im.tif"),
        "flows": [np.zeros((2, 2), np.uint8), None, [np.float32(0.5)]],
        "diameter": np.float64(30.0),
    }
    np.save(path, content)  # type: ignore[arg-type]


def test_seg_files_are_read_without_their_images(tmp_path: Path) -> None:
    for t in range(3):
        save_seg(tmp_path / "m" / f"im_{t + 4}_seg.npy", COLONY[t])
    movie = read(tmp_path / "m")
    assert_is_colony(movie)
    assert movie.frames.tolist() == [4, 5, 6]
    assert movie.mask_source.endswith("m/*_seg.npy")
    write_frames(tmp_path / "m", [f"im_{t + 4}.tif" for t in range(3)], [frame * 3 for frame in COLONY])
    np.testing.assert_array_equal(read(tmp_path / "m").images(2), COLONY[2] * 3)


def test_a_seg_file_of_a_stack_is_a_movie(tmp_path: Path) -> None:
    save_seg(tmp_path / "stack_seg.npy", np.stack(COLONY))
    assert_is_colony(read(tmp_path / "stack_seg.npy"))
    save_seg(tmp_path / "one_seg.npy", COLONY[0])
    with pytest.raises(MovieError, match="one_seg.npy: holds the masks of one frame; give the folder"):
        read(tmp_path / "one_seg.npy")


class Harm:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return Path.touch, (Path("harm"),)  # type: ignore[return-value]


def test_a_seg_file_runs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.save(tmp_path / "evil_seg.npy", {"masks": Harm()})  # type: ignore[arg-type]
    with pytest.raises(MovieError, match="evil_seg.npy: cannot be read as Cellpose's _seg.npy .it wants to run"):
        read(tmp_path / "evil_seg.npy")
    assert not (tmp_path / "harm").exists()
    np.save(tmp_path / "odd_seg.npy", {"outlines": 1})  # type: ignore[arg-type]
    with pytest.raises(MovieError, match="odd_seg.npy: cannot be read as Cellpose's _seg.npy .KeyError: 'masks'"):
        read(tmp_path / "odd_seg.npy")
    np.save(tmp_path / "plain_seg.npy", COLONY[0])
    with pytest.raises(MovieError, match="plain_seg.npy: cannot be read as Cellpose's _seg.npy .an array of uint16"):
        read(tmp_path / "plain_seg.npy")


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
