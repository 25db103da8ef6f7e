import json
import sys
from pathlib import Path

import numpy as np
import pytest

from dunno import read
from dunno.errors import MissingExtra, MovieError
from dunno.io.hdf5_heaps import heaps_lead_on
from dunno.io.readers import ReadingOptions
from dunno.io.readers.hdf5 import Hdf5Reader

from ...conftest import COLONY
from ..movies import assert_is_colony


def save(path: Path, axes: str | None = "tyxc", name: str = "exported_data") -> Path:
    """As ilastik exports object identities."""
    h5py = pytest.importorskip("h5py")
    path.parent.mkdir(parents=True, exist_ok=True)
    stack = np.stack(COLONY)
    with h5py.File(path, "a") as file:
        dataset = file.create_dataset(name, data=stack if axes is None else stack[..., None], chunks=True)
        if axes is not None:
            dataset.attrs["axistags"] = json.dumps({"axes": [{"key": key, "typeFlags": 1} for key in axes]})
    return path


def example(folder: Path) -> Path:
    return save(folder / "cells.h5")


def test_a_dataset_is_named_in_the_path(tmp_path: Path) -> None:
    path = save(save(tmp_path / "cells.h5"), None, "other/masks")
    assert_is_colony(read(path / "exported_data"))
    assert_is_colony(read(path / "other" / "masks"))
    assert_is_colony(read(path))  # ilastik's own name comes first
    with pytest.raises(MovieError, match="holds no dataset nothing, but exported_data, other/masks; say which one"):
        read(path / "nothing")


def test_several_datasets_are_listed(tmp_path: Path) -> None:
    path = save(save(tmp_path / "cells.h5", name="a"), name="b")
    with pytest.raises(
        MovieError, match="holds several datasets, but a, b; say which one holds the masks: .*cells.h5/a"
    ):
        read(path)


def test_axes_are_those_that_ilastik_noted(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "v.h5", "w") as file:
        dataset = file.create_dataset("exported_data", data=np.stack(COLONY)[:, None, :, :, None])
        dataset.attrs["axistags"] = json.dumps({"axes": [{"key": key} for key in "tzyxc"]})
    movie = read(tmp_path / "v.h5")
    assert movie.shape == (1, 6, 12)
    np.testing.assert_array_equal(movie.masks(1)[0], COLONY[1])
    with pytest.raises(MovieError, match="has the axes CZYX.*without time; say what they are with --axes"):
        read(save(tmp_path / "c.h5", "czyx"))


@pytest.mark.parametrize(("number", "length"), [(0, 0), (0, 8), (1, 2**64 - 8), (1, 2**64 - 16), (1, 2**40)])
def test_notes_whose_heap_leads_nowhere_are_none(number: int, length: int, tmp_path: Path) -> None:
    """HDF5's own library follows the lengths in it for ever, or back."""
    path = example(tmp_path)
    assert heaps_lead_on(path)
    content = bytearray(path.read_bytes())
    at = content.index(b"GCOL") + 16
    if number == 0:  # the free space behind the text
        at += 16 + -(-int.from_bytes(content[at + 8 : at + 16], "little") // 8) * 8
    assert int.from_bytes(content[at : at + 2], "little") == number
    content[at + 8 : at + 16] = length.to_bytes(8, "little")
    path.write_bytes(content)
    assert not heaps_lead_on(path)
    assert Hdf5Reader().frames(path, ReadingOptions(axes="tyxc")).frame_shape == (6, 12)
    with pytest.raises(MovieError, match="axes"):
        read(path)


def test_without_h5py_the_install_line_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = example(tmp_path)
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(MissingExtra, match="reading HDF5 needs h5py; pip install 'dunno.h5py.'"):
        read(path)


def test_what_is_no_hdf5_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.h5").write_bytes(b"hello")
    with pytest.raises(MovieError, match="x.h5: cannot be opened as HDF5"):
        read(tmp_path / "x.h5")


def test_a_last_axis_of_one_pixel_is_asked_about(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "cells.h5", "w") as file:
        file.create_dataset("exported_data", data=np.stack(COLONY)[..., None])  # no axistags
    with pytest.raises(
        MovieError, match=r"shape \(3, 6, 12, 1\) without names.*Say so with --axes TYXC or --axes TZYX"
    ):
        read(tmp_path / "cells.h5")
    assert_is_colony(read(tmp_path / "cells.h5", axes="TYXC"))
    assert read(tmp_path / "cells.h5", axes="TZYX").shape == (6, 12, 1)
