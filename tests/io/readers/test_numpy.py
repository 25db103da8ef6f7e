import gc
import warnings
from pathlib import Path

import numpy as np
import pytest

from dunno import read
from dunno.errors import MovieError

from ...conftest import COLONY
from ..movies import assert_is_colony


def example(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "masks.npy", np.stack(COLONY))
    return folder / "masks.npy"


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_an_archive_with_one_array_or_one_called_masks_is_read(tmp_path: Path, save: object) -> None:
    save(tmp_path / "a.npz", np.stack(COLONY))  # type: ignore[operator]
    save(tmp_path / "b.npz", raw=np.zeros(3), masks=np.stack(COLONY))  # type: ignore[operator]
    assert_is_colony(read(tmp_path / "a.npz"))
    assert_is_colony(read(tmp_path / "b.npz"))
    save(tmp_path / "c.npz", x=np.zeros(3), y=np.stack(COLONY))  # type: ignore[operator]
    with pytest.raises(MovieError, match="c.npz: holds the arrays x, y; expected one, or one called masks"):
        read(tmp_path / "c.npz")


def test_a_damaged_archive_is_closed(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", np.stack(COLONY))
    (tmp_path / "a.npz").write_bytes((tmp_path / "a.npz").read_bytes()[:-30])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(MovieError, match="a.npz: cannot be read"):
            read(tmp_path / "a.npz")
        gc.collect()
    assert [each.message for each in caught] == []


def test_axes_and_channels_of_an_array_are_told(tmp_path: Path) -> None:
    last = np.stack([np.stack(COLONY) * 0, np.stack(COLONY)], axis=-1)
    np.save(tmp_path / "masks.npy", last)
    assert_is_colony(read(tmp_path / "masks.npy", axes="TYXC", channel=1))
    np.save(tmp_path / "five.npy", last[:, None])
    with pytest.raises(
        MovieError, match="five.npy: an array of shape .*; say what its axes are with --axes, such as TZCYX"
    ):
        read(tmp_path / "five.npy")


def test_a_single_image_and_pickled_objects_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "one.npy", COLONY[0])
    with pytest.raises(MovieError, match=r"one.npy: an array of shape \(6, 12\); expected \(T, Y, X\)"):
        read(tmp_path / "one.npy")
    np.save(tmp_path / "objects.npy", np.array([{}, {}]), allow_pickle=True)
    with pytest.raises(MovieError, match="objects.npy: cannot be read"):
        read(tmp_path / "objects.npy")


def test_images_in_an_array_of_their_own_are_found(tmp_path: Path) -> None:
    path = example(tmp_path)
    np.save(tmp_path / "raw.npy", np.stack(COLONY) * 5)
    for given in (path, tmp_path / "raw.npy"):
        movie = read(given)
        assert_is_colony(movie)
        np.testing.assert_array_equal(movie.images(1), COLONY[1] * 5)


def test_a_folder_of_arrays_is_a_movie(tmp_path: Path) -> None:
    for t in range(3):
        np.save(tmp_path / f"t{t}.npy", COLONY[t])
    assert_is_colony(read(tmp_path))
