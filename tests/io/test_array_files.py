"""Named arrays on disk."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dunno.errors import InputError
from dunno.io.array_files import open_arrays, write_arrays
from dunno.io.schema import CELL_FILES

ARRAYS = {
    "numbers": np.linspace(-1, 1, 12).reshape(3, 2, 2),
    "labels": np.arange(5, dtype=np.uint16),
    "truths": np.array([True, False]),
    "texts": np.array(["a frame", "µ"]),
    "none": np.empty((0, 2)),
    "one": np.int64(7),
    "sideways": np.asfortranarray(np.arange(6).reshape(2, 3)),
    "bytes": np.array([1, 255], np.uint8),
    "swapped": np.array([1.5, -2.0], ">f8"),
}


def test_arrays_come_back_as_numpy_reads_them(tmp_path: Path) -> None:
    write_arrays(tmp_path / "a.npz", CELL_FILES, ARRAYS)
    with open_arrays(tmp_path / "a.npz", CELL_FILES) as arrays, np.load(tmp_path / "a.npz") as expected:
        assert set(arrays) == set(expected) == {"schema", *ARRAYS}
        for name in arrays:
            np.testing.assert_array_equal(arrays[name], expected[name])
            assert (arrays[name].dtype, arrays[name].shape) == (expected[name].dtype, expected[name].shape)
            assert arrays[name].flags.writeable


def test_what_was_written_is_a_whole_archive_for_others(tmp_path: Path) -> None:
    write_arrays(tmp_path / "a.npz", CELL_FILES, ARRAYS)
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        assert archive.testzip() is None
        assert archive.namelist() == [f"{name}.npy" for name in ("schema", *ARRAYS)]


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_archives_that_numpy_wrote_are_read(tmp_path: Path, save: Callable[..., None]) -> None:
    save(tmp_path / "a.npz", schema=np.int64(1), **ARRAYS)
    with open_arrays(tmp_path / "a.npz", CELL_FILES) as arrays:
        assert set(arrays) == {"schema", *ARRAYS}
        for name, expected in ARRAYS.items():
            np.testing.assert_array_equal(arrays[name], expected)
            assert arrays[name].flags.writeable


@pytest.mark.parametrize("end", [0, 10, 400, 1000, -1])
def test_a_part_of_a_file_is_no_file(tmp_path: Path, end: int) -> None:
    path = tmp_path / "a.npz"
    write_arrays(path, CELL_FILES, ARRAYS)
    path.write_bytes(path.read_bytes()[:end])
    with pytest.raises(InputError, match=r"a\.npz: cannot be read"), open_arrays(path, CELL_FILES):
        pass


def test_arrays_with_a_header_of_another_version_are_read(tmp_path: Path) -> None:
    write_arrays(tmp_path / "a.npz", CELL_FILES, {"fields": np.array([(1, 2.0)], dtype=[("a", int), ("b", float)])})
    with open_arrays(tmp_path / "a.npz", CELL_FILES) as arrays:
        assert arrays["fields"]["b"].tolist() == [2.0]


def test_a_changed_byte_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    write_arrays(path, CELL_FILES, {"numbers": np.full(1000, 0.5)})
    content = bytearray(path.read_bytes())
    content[content.index(np.full(10, 0.5).tobytes()) + 40] ^= 1
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"a\.npz: cannot be read \(Bad CRC"), open_arrays(path, CELL_FILES) as arrays:
        arrays["numbers"]
