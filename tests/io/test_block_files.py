"""Frame pairs on disk."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dunno import Movie, Tracker
from dunno.assignment import Triples, every_pair
from dunno.errors import InputError
from dunno.io.block_files import block_file, is_whole, keep, linked_blocks, read_block, read_results, write_block
from dunno.simulate import colony as simulate
from dunno.types import BrokenFrame, PairPosterior
from tests.assignment.problems import with_triples

FIELDS = ("mother", "daughter", "cost", "log_probability", "log_no_mother", "entropy", "selected", "log_disappear")


def assert_same(first: PairPosterior, second: PairPosterior) -> None:
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name), err_msg=name)
    for mine, theirs in ((first.mothers, second.mothers), (first.daughters, second.daughters)):
        assert mine.frame == theirs.frame
        for name in ("label", "centroid", "area", "bbox"):
            np.testing.assert_array_equal(getattr(mine, name), getattr(theirs, name), err_msg=name)


@pytest.mark.parametrize("method", ["JP", "SM"])
def test_pairs_come_back_to_the_bit(method: str, tmp_path: Path) -> None:
    block = Tracker(method=method).track(simulate(cells=12, frames=5, seed=1).movie).block
    write_block(tmp_path / "block.npz", block)
    again = read_block(tmp_path / "block.npz")
    assert len(again.own) == len(block.own) == 4
    for first, second in zip(block.pairs(), again.pairs(), strict=True):
        assert_same(first, second)


def test_the_problem_comes_back_with_its_dividing_costs(tmp_path: Path) -> None:
    block = Tracker().track(simulate(cells=12, frames=4, seed=2).movie).block
    write_block(tmp_path / "block.npz", block)
    for pair, again in zip(block.pairs(), read_block(tmp_path / "block.npz").pairs(), strict=True):
        assert pair.problem is not None
        assert again.problem is not None
        for name in ("mother", "daughter", "cost", "appear", "disappear", "divide", "dividing_cost"):
            np.testing.assert_array_equal(getattr(pair.problem, name), getattr(again.problem, name), err_msg=name)
        assert pair.problem.dividing_cost is not None


def test_exports_read_pairs_without_their_problems(tmp_path: Path) -> None:
    block = Tracker().track(simulate(cells=12, frames=4, seed=2).movie).block
    write_block(tmp_path / "block.npz", block)
    results, _ = read_results(tmp_path / "block.npz")
    assert results.problem is None
    for first, second in zip(block.pairs(), results.pairs(), strict=True):
        assert_same(first, second)


def test_the_problem_comes_back_with_its_triples(tmp_path: Path) -> None:
    block = Tracker().track(simulate(cells=12, frames=5, seed=2).movie).block
    assert block.problem is not None
    first, second = every_pair(block.mother)
    listed = np.flatnonzero(block.frame_of[block.daughter[first]] != 2)
    cost = np.where(listed % 3 == 0, np.inf, first[listed] - 0.5)
    triples = Triples(first[listed], second[listed], cost)
    write_block(tmp_path / "block.npz", replace(block, problem=with_triples(block.problem, triples)))
    again = read_block(tmp_path / "block.npz")
    assert again.problem is not None and again.problem.triples is not None
    for name in ("first_edge", "second_edge", "cost"):
        np.testing.assert_array_equal(getattr(triples, name), getattr(again.problem.triples, name), err_msg=name)
    own = [pair.problem.triples for pair in again.pairs() if pair.problem is not None]
    assert [triples is not None and len(triples) > 0 for triples in own] == [True, False, True, True]


def test_frames_without_cells_are_kept(tmp_path: Path) -> None:
    masks = np.zeros((4, 8, 8), np.uint16)
    masks[1, 2:4, 2:4] = 1
    write_block(tmp_path / "block.npz", Tracker(method="SM", calibration=None).track(Movie(masks)).block)
    assert [len(pair.daughters) for pair in read_block(tmp_path / "block.npz").pairs()] == [1, 0, 0]


def test_blocks_come_back_in_frame_order(colony: Movie, tmp_path: Path) -> None:
    (tmp_path / "pairs").mkdir()
    block = Tracker(method="SM", calibration=None).track(colony).block
    write_block(block_file(tmp_path / "pairs", 1), block.part(1))
    write_block(block_file(tmp_path / "pairs", 0), block.part(0, 1))
    assert sorted(path.name for path in (tmp_path / "pairs").iterdir()) == ["000000.npz", "000001.npz"]
    assert [int(block.frames[-1]) for block in linked_blocks(tmp_path)] == [1, 2]


def test_a_stream_is_kept_in_blocks_and_handed_on(colony: Movie, tmp_path: Path) -> None:
    block = Tracker(method="SM", calibration=None).track(colony).block
    blocks = [block.part(0, 1), block.part(1)]
    assert list(keep(iter(blocks), tmp_path / "pairs")) == blocks
    assert sorted(path.name for path in (tmp_path / "pairs").iterdir()) == ["000000.npz", "000001.npz"]


def test_broken_frames_are_kept_with_their_block(colony: Movie, tmp_path: Path) -> None:
    block = Tracker(method="SM", calibration=None).track(colony).block
    broken = [BrokenFrame(1, "m1.tif: cannot be read (…); is it complete?")]
    write_block(tmp_path / "one.npz", block, broken)
    write_block(tmp_path / "none.npz", block)
    assert read_results(tmp_path / "one.npz")[1] == broken
    assert read_results(tmp_path / "none.npz")[1] == []
    assert len(read_block(tmp_path / "one.npz").own) == 2


def test_a_block_that_ends_early_is_not_whole(colony: Movie, tmp_path: Path) -> None:
    path = tmp_path / "block.npz"
    assert not is_whole(path)
    write_block(path, Tracker(method="SM", calibration=None).track(colony).block)
    assert is_whole(path)
    path.write_bytes(path.read_bytes()[:-30])
    assert not is_whole(path)


def test_a_broken_block_is_named(tmp_path: Path) -> None:
    path = block_file(tmp_path, 3)
    path.write_bytes(b"PK\x03\x04 not really")
    with pytest.raises(InputError, match="000003.npz: cannot be read .* track the movie again"):
        read_block(path)


def test_a_damaged_block_is_named_and_not_whole(colony: Movie, tmp_path: Path) -> None:
    path = block_file(tmp_path, 3)
    write_block(path, Tracker(calibration=None).track(colony).block)
    with np.load(path) as stored:
        arrays = dict(stored)
    for name, wrong in (
        ("ends", np.array([0, 99, 120])),
        ("mother", np.full_like(arrays["mother"], 99)),
        ("frames", np.zeros(0, np.int64)),
        ("cell_label", np.array([1])),
    ):
        np.savez(path, **{**arrays, name: wrong})
        assert not is_whole(path), name
        with pytest.raises(InputError, match="000003.npz: cannot be read .*; track the movie again"):
            read_block(path)


@pytest.mark.parametrize("missing", [0, 1, 2])
def test_a_missing_block_is_named(tmp_path: Path, missing: int) -> None:
    (tmp_path / "pairs").mkdir()
    block = Tracker(method="SM", calibration=None).track(Movie(np.ones((4, 3, 3), np.uint8))).block
    for index in range(3):
        write_block(block_file(tmp_path / "pairs", index), block.part(index, index + 1))
    (tmp_path / "run.json").write_text('{"parameters": {"frames": [0, 1, 2, 3]}}')
    assert len(list(linked_blocks(tmp_path))) == 3
    block_file(tmp_path / "pairs", missing).unlink()
    with pytest.raises(InputError, match=f"00000{missing}.npz: is missing; track the movie again"):
        list(linked_blocks(tmp_path))
