from pathlib import Path

import numpy as np
import pytest
import zarr

from dunno import read
from dunno.errors import MovieError

from ...conftest import COLONY
from ..movies import assert_is_colony


def example(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    array = zarr.create_array(folder / "m.zarr", shape=(3, 6, 12), chunks=(1, 6, 12), dtype="u2")
    array[:] = np.stack(COLONY)
    return folder / "m.zarr"


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


@pytest.mark.parametrize(
    "metadata",
    [
        [{}],
        [{"datasets": []}],
        [{"datasets": [{}]}],
        [{"datasets": [{"path": "0"}], "axes": [{}]}],
        [{"datasets": [{"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [1.0]}]}]}],
        "none",
        {"datasets": 3},
    ],
)
def test_incomplete_ome_metadata_get_one_clear_line(tmp_path: Path, metadata: object) -> None:
    group = zarr.open_group(ome_zarr(tmp_path / "m.zarr"), mode="a")
    group["labels/cells"].attrs["multiscales"] = metadata
    with pytest.raises(
        MovieError, match="cells: its OME metadata are incomplete .*; expected multiscales with datasets"
    ):
        read(tmp_path / "m.zarr")


def test_a_zarr_that_claims_a_billion_frames_is_refused(tmp_path: Path) -> None:
    zarr.create_array(tmp_path / "m.zarr", shape=(10**9, 6, 12), chunks=(1, 6, 12), dtype="u2")
    with pytest.raises(MovieError, match="m: claims to have 1,000,000,000 frames; expected at most 100,000,000"):
        read(tmp_path / "m.zarr")


def test_a_number_is_no_movie(tmp_path: Path) -> None:
    zarr.create_array(tmp_path / "m.zarr", shape=(), dtype="u2")
    with pytest.raises(MovieError, match=r"an array of shape \(\); expected \(T, Y, X\)"):
        read(tmp_path / "m.zarr")
