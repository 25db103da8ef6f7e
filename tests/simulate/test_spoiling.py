"""Spoiled masks have the faults that were asked for, and their truth knows of them."""

from pathlib import Path

import numpy as np
import pytest

from dunno import read
from dunno.errors import InputError
from dunno.simulate import Colony, FaultShares, Spoiled, colony, spoil
from dunno.types import Movie, Truth


@pytest.fixture(scope="module")
def clean() -> Colony:
    return colony(cells=25, frames=20, motion=0.1, seed=1)


def _counts(colony: Colony | Spoiled) -> tuple[int, int, int, int]:
    truth = colony.truth
    masks = sum(map(len, truth.labels))
    empty = sum(int((tracks == 0).sum()) for tracks in truth.tracks)
    two = sum(each.shape[1] for each in truth.others)
    seen = sum(int((tracks > 0).sum()) for tracks in truth.tracks) + two
    there = sum(map(len, truth.present))
    return masks, empty, two, there - seen


def test_no_fault_changes_nothing(clean: Colony) -> None:
    spoiled = spoil(clean.movie, clean.truth, FaultShares())
    assert all((spoiled.movie.masks(t) == clean.movie.masks(t)).all() for t in range(20))
    assert all((a == b).all() for a, b in zip(spoiled.truth.tracks, clean.truth.tracks, strict=True))


@pytest.mark.parametrize("kind", ["missed", "false", "merged", "split"])
def test_each_fault_has_its_share_and_no_other_comes_along(clean: Colony, kind: str) -> None:
    n = sum(map(len, clean.truth.labels))
    spoiled = spoil(clean.movie, clean.truth, FaultShares(**{kind: 0.05}), seed=3)
    masks, empty, two, missing = _counts(spoiled)
    wanted = 0.05 * n
    counts = {"missed": missing, "false": empty, "merged": two, "split": empty}
    assert wanted - 1 <= counts[kind] <= wanted + 5
    assert missing == (counts["missed"] if kind == "missed" else 0)
    assert masks - n == {"missed": -missing, "false": empty, "merged": -two, "split": empty}[kind]


def test_the_truth_agrees_with_pixels(clean: Colony) -> None:
    spoiled = spoil(clean.movie, clean.truth, FaultShares(0.02, 0.02, 0.03, 0.02), seed=5)
    for t in range(20):
        old, new = clean.movie.masks(t), spoiled.movie.masks(t)
        assert (spoiled.truth.labels[t] == np.unique(new[new > 0])).all()
        held = {int(a): {int(b)} - {0} for a, b in zip(spoiled.truth.labels[t], spoiled.truth.tracks[t], strict=True)}
        for place, track in spoiled.truth.held_besides(t).T:
            held[int(spoiled.truth.labels[t][place])].add(int(track))
        for track in np.unique(old[old > 0]):
            inside, counts = np.unique(new[old == track], return_counts=True)
            holders = {int(label) for label in inside[counts > counts.sum() / 2] if label}
            assert holders == {label for label, tracks in held.items() if int(track) in tracks}


def test_a_spoiled_colony_is_written_with_its_masks_and_read_with_its_truth(tmp_path: Path) -> None:
    made = colony(cells=9, frames=6, motion=0.1, seed=2, missed=0.05, merged=0.05, split=0.05, false=0.05)
    made.save(tmp_path / "01")
    movie, truth = read(tmp_path / "01", masks=tmp_path / "01_RES", truth=True)
    assert all((movie.masks(t) == made.movie.masks(t)).all() for t in range(6))
    assert [each.tolist() for each in truth.tracks] == [each.tolist() for each in made.truth.tracks]


def test_spoiling_works_in_volumes_and_is_repeatable() -> None:
    masks = np.zeros((3, 6, 20, 20), np.uint16)
    masks[:, 1:5, 2:8, 2:8] = 1
    masks[:, 1:5, 2:8, 9:15] = 2
    movie = Movie(masks, scale=(2.0, 1.0, 1.0))
    labels = tuple(np.array([1, 2]) for _ in range(3))
    ones = np.zeros(2, np.int64)
    truth = Truth(np.array([1, 2]), ones, ones + 2, ones, np.arange(3), labels, labels, labels)
    once, again = (spoil(movie, truth, FaultShares(split=0.3), seed=4) for _ in range(2))
    assert all((once.movie.masks(t) == again.movie.masks(t)).all() for t in range(3))
    assert max(len(each) for each in once.truth.labels) == 3


def test_a_share_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="merged is 2"):
        FaultShares(merged=2.0)
