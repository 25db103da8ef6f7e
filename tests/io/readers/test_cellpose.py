from pathlib import Path

import numpy as np
import pytest
import tifffile

from dunno import read
from dunno.errors import MovieError
from dunno.io.cellpose import read_seg_masks

from ...conftest import COLONY
from ..movies import assert_is_colony, write_frames
from ..pickle_making import HEADER, evil, seg_content, write_seg


def example(folder: Path) -> Path:
    return write_frames(folder / "masks", [f"im_{t}_cp_masks.png" for t in range(3)])


def test_seg_files_are_read_without_their_images(tmp_path: Path) -> None:
    for t in range(3):
        write_seg(tmp_path / "m" / f"im_{t + 4}_seg.npy", seg_content(COLONY[t]))
    movie = read(tmp_path / "m")
    assert_is_colony(movie)
    assert movie.frames.tolist() == [4, 5, 6]
    assert movie.mask_source.endswith("m/*_seg.npy")
    write_frames(tmp_path / "m", [f"im_{t + 4}.tif" for t in range(3)], [frame * 3 for frame in COLONY])
    np.testing.assert_array_equal(read(tmp_path / "m").images(2), COLONY[2] * 3)


def test_a_seg_file_of_a_stack_is_a_movie(tmp_path: Path) -> None:
    write_seg(tmp_path / "stack_seg.npy", seg_content(np.stack(COLONY)))
    assert_is_colony(read(tmp_path / "stack_seg.npy"))
    write_seg(tmp_path / "one_seg.npy", seg_content(COLONY[0]))
    with pytest.raises(MovieError, match="one_seg.npy: holds the masks of one frame; give the folder"):
        read(tmp_path / "one_seg.npy")


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("masks", [COLONY[0], COLONY[0].T, COLONY[0].astype(">i4"), COLONY[0] == 1])
def test_masks_come_back_from_every_protocol(masks: np.ndarray, protocol: int, tmp_path: Path) -> None:
    found = read_seg_masks(write_seg(tmp_path / "a_seg.npy", seg_content(masks), protocol))
    np.testing.assert_array_equal(found, masks, strict=True)
    assert found.flags.aligned and found.flags.owndata


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("way", evil())
def test_a_seg_file_makes_nothing_but_numbers(
    way: str, protocol: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused = r"a_seg.npy: cannot be read as Cellpose's _seg.npy \(its masks (are|have) [^()]*\); is it complete\?"
    with pytest.raises(MovieError, match=refused):
        read_seg_masks(write_seg(tmp_path / "a_seg.npy", seg_content(evil()[way]), protocol))
    elsewhere = write_seg(tmp_path / "a_seg.npy", seg_content(COLONY[0]) | {"flows": [evil()[way]]}, protocol)
    np.testing.assert_array_equal(read_seg_masks(elsewhere), COLONY[0])
    assert not (tmp_path / "harm").exists()


def test_what_is_no_dictionary_with_masks_is_named(tmp_path: Path) -> None:
    np.save(tmp_path / "odd_seg.npy", {"outlines": 1})  # type: ignore[arg-type]
    with pytest.raises(MovieError, match="odd_seg.npy: cannot be read as Cellpose's _seg.npy .KeyError: 'masks'"):
        read(tmp_path / "odd_seg.npy")
    np.save(tmp_path / "plain_seg.npy", COLONY[0])
    with pytest.raises(MovieError, match="plain_seg.npy: cannot be read as Cellpose's _seg.npy .an array of uint16"):
        read(tmp_path / "plain_seg.npy")
    with pytest.raises(MovieError, match="its masks are of type list; expected an array of numbers"):
        read_seg_masks(write_seg(tmp_path / "list_seg.npy", seg_content([1, 2])))


def test_a_pickle_that_grows_without_end_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a_seg.npy").write_bytes(HEADER.getvalue() + b"]2a" * 40_000 + b".")  # a list within a list within …
    with pytest.raises(MovieError, match="it holds no dictionary"):
        read_seg_masks(tmp_path / "a_seg.npy")
    monkeypatch.setattr("dunno.io.cellpose.MOST_PICKLE_STEPS", 100_000)
    with pytest.raises(MovieError, match="more than 100,000 steps"):
        read_seg_masks(tmp_path / "a_seg.npy")


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
