"""Measured cells on disk."""

import os
import pickle
from pathlib import Path

import numpy as np
import pytest

from dunno import Movie
from dunno.errors import InputError, MovieError
from dunno.io.block_files import block_file
from dunno.io.cell_files import (
    FRAMES_PER_FILE,
    KEPT_FILES,
    StoredCells,
    copy_cells,
    has_cells,
    read_cells,
    write_cells,
)
from dunno.types import BrokenFrame, Detections
from dunno.types.detections import MEASURED, PLACED


def movie(frames: int, lit: bool = True, depth: int | None = None) -> Movie:
    rng = np.random.default_rng(frames)
    shape = (frames, 8, 9) if depth is None else (frames, depth, 8, 9)
    masks = np.repeat(rng.integers(0, 3, shape), 2, axis=-1).astype(np.uint16)
    return Movie(masks, rng.integers(0, 99, masks.shape) if lit else None)


def write(folder: Path, source: Movie) -> Path:
    """All of a movie's cells, as a run leaves them."""
    folder.mkdir(parents=True)
    for index, begin in enumerate(range(0, len(source), FRAMES_PER_FILE)):
        part = source.part(slice(begin, begin + FRAMES_PER_FILE))
        write_cells(block_file(folder, index), [part.detections(t) for t in range(len(part))])
    return folder


def assert_same(one: Detections, other: Detections) -> None:
    for name in (*PLACED, *MEASURED):
        first, second = getattr(one, name), getattr(other, name)
        assert (first is None) == (second is None), name
        if first is not None:
            np.testing.assert_array_equal(first, second, err_msg=name)
            assert first.dtype == second.dtype
    assert (one.frame, one.digest, one.background) == (other.frame, other.digest, other.background)


@pytest.mark.parametrize("lit", [True, False])
@pytest.mark.parametrize("depth", [None, 3])
def test_cells_come_back_to_the_bit(tmp_path: Path, lit: bool, depth: int | None) -> None:
    source = movie(19, lit, depth)
    stored = StoredCells(write(tmp_path / "cells", source))
    for t in (18, 0, 16, 15):
        assert_same(stored[t], source.detections(t))
        assert stored.digest(t) == source.detections(t).digest
    view = source.with_cells(stored)
    assert_same(view.detections(17), source.detections(17))


def test_broken_frames_say_why_and_have_no_digest(tmp_path: Path) -> None:
    source = movie(3)
    frames = [source.detections(0), source.blanked([1]).detections(1), source.detections(2)]
    write_cells(block_file(tmp_path, 0), frames, [BrokenFrame(1, "m1.tif: cannot be read")])
    stored = StoredCells(tmp_path)
    assert_same(stored[2], frames[2])
    assert stored.digest(1) is None
    with pytest.raises(MovieError, match="m1.tif: cannot be read"):
        stored[1]
    cells, broken = read_cells(block_file(tmp_path, 0))
    assert broken == {1: "m1.tif: cannot be read"}
    assert np.diff(cells.ends).tolist() == [len(frames[0]), 0, len(frames[2])]


def test_a_reader_pickles_as_its_path_where_the_disk_is_shared(tmp_path: Path) -> None:
    source = movie(40)
    stored = StoredCells(write(tmp_path / "cells", source))
    stored[0]
    assert len(pickle.dumps(stored)) < 300
    assert_same(pickle.loads(pickle.dumps(stored))[39], source.detections(39))
    sent = pickle.dumps(source.with_cells(stored).part(slice(30, 33)))
    assert_same(pickle.loads(sent).detections(2).without_pixels(), source.detections(32))


def test_a_worker_on_another_disk_gets_the_cells_themselves(tmp_path: Path) -> None:
    source = movie(40)
    frames = [source.detections(t) for t in range(16)]
    folder = write(tmp_path / "cells", source)
    write_cells(block_file(folder, 0), frames, [BrokenFrame(15, "m15.tif: cannot be read")])
    view = source.with_cells(StoredCells(folder, shared=False)).part(slice(15, 18))
    sent = pickle.dumps(view)
    for file in folder.iterdir():
        file.unlink()
    there = pickle.loads(sent)
    assert_same(there.detections(2).without_pixels(), source.detections(17))
    with pytest.raises(MovieError, match="m15.tif"):
        there.detections(0)


def test_a_reader_keeps_a_few_files(tmp_path: Path) -> None:
    source = movie(16 * (KEPT_FILES + 2))
    stored = StoredCells(write(tmp_path / "cells", source))
    for t in range(0, len(source), 16):
        stored[t]
    assert list(stored._read) == list(range(2, KEPT_FILES + 2))


def test_a_reader_keeps_fewer_files_of_crowded_frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dunno.io.cell_files.KEPT_CELLS", 10)
    stored = StoredCells(write(tmp_path / "cells", movie(64)))
    for t in range(0, 64, 16):
        stored[t]
    assert list(stored._read) == [2, 3]


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(file: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_cells(block_file(tmp_path, 0), [movie(1).detections(0)])
    assert not block_file(tmp_path, 0).exists()


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    block_file(tmp_path, 1).write_bytes(b"PK\x03\x04 not really")
    with pytest.raises(InputError, match="000001.npz: cannot be read .* track the movie again"):
        StoredCells(tmp_path)[20]


def test_an_output_has_cells_if_all_its_frames_do(tmp_path: Path) -> None:
    write(tmp_path / "out" / "cells", movie(20))
    assert has_cells(tmp_path / "out", 20)
    assert has_cells(tmp_path / "out", 32)
    assert not has_cells(tmp_path / "out", 33)
    assert not has_cells(tmp_path, 20)
    (tmp_path / "other").mkdir()
    copy_cells(tmp_path / "out", tmp_path / "other")
    assert has_cells(tmp_path / "other", 20)
    copy_cells(tmp_path, tmp_path / "other")  # there are none to copy
