"""Examples in the formats of other programs: they come back whole, and their own libraries read them."""

from pathlib import Path

import numpy as np
import pytest

from dunno import Movie, read
from dunno.cli import run
from dunno.errors import InputError
from dunno.io.examples import FORMATS, write_example
from dunno.simulate import colony as simulate

from .others import by_others, library


@pytest.fixture(scope="module")
def small() -> Movie:
    return simulate(cells=5, frames=4, seed=2).movie


def with_what_it_needs(form: str) -> str:
    if form == "ilastik":
        pytest.importorskip("h5py")
    return form


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_comes_back_with_masks_images_and_sizes(form: str, small: Movie, tmp_path: Path) -> None:
    movie = read(write_example(with_what_it_needs(form), tmp_path, small))
    for t in range(4):
        np.testing.assert_array_equal(movie.masks(t), small.masks(t))
        np.testing.assert_array_equal(movie.images(t), small.images(t))
    if form in ("imagej", "ome-tiff", "ome-zarr"):
        assert movie.scale == pytest.approx((0.65, 0.65))
        assert movie.interval == pytest.approx(5.0)
        assert "0.65 µm/pixel, 5 min between frames, from the file" in movie.notes


@by_others
def test_the_ome_zarr_is_valid(small: Movie, tmp_path: Path) -> None:
    models = library("ome_zarr_models.v05")
    import zarr

    path = write_example("ome-zarr", tmp_path, small)
    image = models.Image.from_zarr(zarr.open_group(path, mode="r"))
    assert [axis.name for axis in image.ome_attributes.multiscales[0].axes] == ["t", "y", "x"]


def test_simulate_writes_what_track_takes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--cells", "5", "--frames", "4"]
    assert run(["simulate", str(tmp_path / "sim"), "--format", "imagej", *options]) == 0
    assert (
        capsys.readouterr().out
        == f"{tmp_path}/sim: 4 frames; track them: dunno track {tmp_path}/sim/masks.tif -o OUT\n"
    )
    assert run(["simulate", str(tmp_path / "sim"), "--format", "imagej", *options]) == 2
    assert run(["simulate", str(tmp_path / "b"), "--format", "mp4", *options]) == 2
    assert "there is no format 'mp4'; there are ctc, npy, cellpose" in capsys.readouterr().err
    assert not (tmp_path / "b").exists()
    with pytest.raises(InputError):
        write_example("gif", tmp_path, simulate(cells=2, frames=2).movie)
