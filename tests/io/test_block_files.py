"""Frame pairs on disk."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dunno import Movie, Tracker
from dunno.assignment import Triples, every_pair
from dunno.errors import InputError
from dunno.io.block_files import block_file, is_whole, keep, read_block, read_results, stored_pairs, write_block
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
    pairs = Tracker(method=method).track(simulate(cells=12, frames=5, seed=1).movie).pairs
    write_block(tmp_path / "block.npz", pairs)
    again = read_block(tmp_path / "block.npz")
    assert len(again) == len(pairs) == 4
    for first, second in zip(pairs, again, strict=True):
        assert_same(first, second)


def test_the_problem_comes_back_with_its_dividing_costs(tmp_path: Path) -> None:
    pairs = Tracker().track(simulate(cells=12, frames=4, seed=2).movie).pairs
    write_block(tmp_path / "block.npz", pairs)
    for pair, again in zip(pairs, read_block(tmp_path / "block.npz"), strict=True):
        assert pair.problem is not None
        assert again.problem is not None
        for name in ("mother", "daughter", "cost", "appear", "disappear", "divide", "dividing_cost"):
            np.testing.assert_array_equal(getattr(pair.problem, name), getattr(again.problem, name), err_msg=name)
        assert pair.problem.dividing_cost is not None


def test_exports_read_pairs_without_their_problems(tmp_path: Path) -> None:
    pairs = Tracker().track(simulate(cells=12, frames=4, seed=2).movie).pairs
    write_block(tmp_path / "block.npz", pairs)
    results, _ = read_results(tmp_path / "block.npz")
    assert [pair.problem for pair in results] == [None] * 3
    for first, second in zip(pairs, results, strict=True):
        assert_same(first, second)


def test_the_problem_comes_back_with_its_triples(tmp_path: Path) -> None:
    pairs = Tracker().track(simulate(cells=12, frames=5, seed=2).movie).pairs
    problems = [pair.problem for pair in pairs]
    listed: list[Triples | None] = []
    for k, problem in enumerate(problems):
        assert problem is not None
        first, second = every_pair(problem.mother)
        cost = np.where(np.arange(len(first)) % 3 == 0, np.inf, first - 0.5)
        listed.append([Triples(first, second, cost), None, Triples(first[:0], second[:0], cost[:0])][k % 3])
    pairs = [
        replace(pair, problem=with_triples(problem, own))
        for pair, problem, own in zip(pairs, problems, listed, strict=True)
    ]
    write_block(tmp_path / "block.npz", pairs)
    again = [pair.problem.triples for pair in read_block(tmp_path / "block.npz") if pair.problem is not None]
    assert [None if triples is None else len(triples) > 0 for triples in again] == [True, None, False, True]
    for mine, theirs in zip(listed, again, strict=True):
        for name in ("first_edge", "second_edge", "cost"):
            if mine is not None:
                np.testing.assert_array_equal(getattr(mine, name), getattr(theirs, name), err_msg=name)


def test_frames_without_cells_are_kept(tmp_path: Path) -> None:
    masks = np.zeros((4, 8, 8), np.uint16)
    masks[1, 2:4, 2:4] = 1
    pairs = Tracker(method="SM", calibration=None).track(Movie(masks)).pairs
    write_block(tmp_path / "block.npz", pairs)
    assert [len(pair.daughters) for pair in read_block(tmp_path / "block.npz")] == [1, 0, 0]


def test_blocks_come_back_in_frame_order(colony: Movie, tmp_path: Path) -> None:
    (tmp_path / "pairs").mkdir()
    first, second = Tracker(method="SM", calibration=None).track(colony).pairs
    write_block(block_file(tmp_path / "pairs", 1), [second])
    write_block(block_file(tmp_path / "pairs", 0), [first])
    assert sorted(path.name for path in (tmp_path / "pairs").iterdir()) == ["000000.npz", "000001.npz"]
    assert [pair.daughter_frame for pair in stored_pairs(tmp_path)] == [1, 2]


def test_a_stream_is_kept_in_blocks_and_handed_on(colony: Movie, tmp_path: Path) -> None:
    pairs = Tracker(method="SM", calibration=None).track(colony).pairs
    assert list(keep(iter(pairs), tmp_path / "pairs", 1)) == list(pairs)
    assert sorted(path.name for path in (tmp_path / "pairs").iterdir()) == ["000000.npz", "000001.npz"]


def test_broken_frames_are_kept_with_their_block(colony: Movie, tmp_path: Path) -> None:
    pairs = Tracker(method="SM", calibration=None).track(colony).pairs
    broken = [BrokenFrame(1, "m1.tif: cannot be read (…); is it complete?")]
    write_block(tmp_path / "one.npz", pairs, broken)
    write_block(tmp_path / "none.npz", pairs)
    assert read_results(tmp_path / "one.npz")[1] == broken
    assert read_results(tmp_path / "none.npz")[1] == []
    assert len(read_block(tmp_path / "one.npz")) == 2


def test_a_block_that_ends_early_is_not_whole(colony: Movie, tmp_path: Path) -> None:
    path = tmp_path / "block.npz"
    assert not is_whole(path)
    write_block(path, Tracker(method="SM", calibration=None).track(colony).pairs)
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
    write_block(path, Tracker(calibration=None).track(colony).pairs)
    with np.load(path) as stored:
        arrays = dict(stored)
    for name, wrong in (
        ("n_edges", np.array([99, 99])),
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
    pairs = Tracker(method="SM", calibration=None).track(Movie(np.ones((4, 3, 3), np.uint8))).pairs
    for index, pair in enumerate(pairs):
        write_block(block_file(tmp_path / "pairs", index), [pair])
    (tmp_path / "run.json").write_text('{"parameters": {"frames": [0, 1, 2, 3]}}')
    assert len(list(stored_pairs(tmp_path))) == 3
    block_file(tmp_path / "pairs", missing).unlink()
    with pytest.raises(InputError, match=f"00000{missing}.npz: is missing; track the movie again"):
        list(stored_pairs(tmp_path))
