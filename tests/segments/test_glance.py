"""Whether masks may hold two cells, or be pieces of one."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import ndimage

from dunno import Movie
from dunno.segments.glance import Glance, glance, merges
from dunno.segments.pixels import unite
from dunno.simulate import FaultShares, colony, spoil
from dunno.types import Detections, KeptCells
from tests.segments.test_pixels import blobs, measured, two_discs


def merged_by_hand(before: Detections, after: Detections) -> list[bool]:
    """A mask of `after` at a time: who lies in its ellipse, and in no other that is nearer."""
    assert after.covariance is not None
    d = after.centroid.shape[1]
    found = []
    square = np.array([
        [(b - a) @ np.linalg.inv(c) @ (b - a) / (d + 2) for a, c in zip(after.centroid, after.covariance, strict=True)]
        for b in before.centroid
    ])  # fmt: skip
    for j in range(len(after)):
        own = [i for i in range(len(before)) if square[i].argmin() == j and square[i, j] <= 1]
        area = sorted(before.area[own] / after.area[j])[::-1]
        found.append(len(area) > 1 and area[1] >= 0.12 and 0.7 <= sum(area) <= 1.4)
    return found


def frames(movie: Movie) -> list[Detections]:
    return [movie.detections(t).without_pixels() for t in range(len(movie))]


@pytest.mark.parametrize("depth", [1, 16])
def test_merges_are_those_that_are_found_one_by_one(depth: int) -> None:
    made = colony(cells=24, frames=14, seed=3, depth=depth)
    spoiled = spoil(made.movie, made.truth, FaultShares(merged=0.3, split=0.3)).movie
    cells = frames(spoiled)
    found = [merges(*pair).tolist() for pair in pairwise(cells)]
    assert found == [merged_by_hand(*pair) for pair in pairwise(cells)]
    assert sum(map(sum, found)) >= 3


def test_where_nothing_is_nothing_merges() -> None:
    empty, some = (
        measured(np.zeros((4, 4), np.uint8), None, (1.0, 1.0)),
        measured(np.eye(4, dtype=np.uint8), None, (1.0, 1.0)),
    )
    assert merges(empty, some).tolist() == [False] and len(merges(some, empty)) == len(merges(empty, empty)) == 0


@pytest.mark.parametrize("faults", [FaultShares(), FaultShares(missed=0.05), FaultShares(false=0.05)])
def test_masks_are_clean_that_hold_one_cell_or_none(faults: FaultShares) -> None:
    made = colony(cells=30, frames=16, seed=1)
    movie = spoil(made.movie, made.truth, faults).movie if faults else made.movie
    seen = glance(movie)
    assert seen.are_clean() and seen.masks == sum(map(len, frames(movie)))


@pytest.mark.parametrize("faults", [FaultShares(merged=0.05), FaultShares(split=0.05)])
def test_masks_are_not_clean_that_merge_or_are_cut(faults: FaultShares) -> None:
    made = colony(cells=30, frames=20, seed=1)
    seen = glance(spoil(made.movie, made.truth, faults).movie)
    assert not seen.are_clean() and seen.merges >= 5


def test_an_empty_movie_and_points_are_clean() -> None:
    assert glance(Movie(np.zeros((3, 8, 8), np.uint8))).are_clean()
    assert glance(Movie(np.ones((1, 8, 8), np.uint8))).are_clean()
    made = colony(cells=10, frames=4)
    points = [Detections(each.label, each.centroid, each.area, each.bbox) for each in frames(made.movie)]
    assert glance(made.movie.with_cells(KeptCells(dict(enumerate(points))))).are_clean()


def test_of_a_long_movie_some_frames_all_over_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    made = colony(cells=30, frames=20, seed=1)
    movie = spoil(made.movie, made.truth, FaultShares(merged=0.3)).movie
    every = glance(movie)
    monkeypatch.setattr("dunno.segments.glance.LOOKED_AT", every.masks // 2)
    some = glance(movie)
    assert 0.4 * every.masks < some.masks < 0.6 * every.masks
    assert 0.25 * every.merges < some.merges < 0.75 * every.merges
    assert some.usual_area == pytest.approx(every.usual_area, rel=0.1)


def test_large_masks_are_cut() -> None:
    assert Glance(1000, 100, 50.0).into(np.array([29.0, 30.0, 64.9, 65.0])).tolist() == [1, 2, 2, 3]


def test_debris_does_not_make_cells_large() -> None:
    labels = np.zeros((2, 60, 60), np.uint16)
    for i, (y, x) in enumerate(np.ndindex(3, 3)):
        labels[:, 4 + 12 * y : 14 + 12 * y, 4 + 12 * x : 14 + 12 * x] = i + 1
    labels[:, ::2, 58] = 100 + np.arange(30)
    assert glance(Movie(labels)).usual_area == 100


def test_unions_that_may_be_a_cell_are_small_and_full() -> None:
    discs, two = two_discs((9.0, 9.0), 19.0)
    labels = np.concatenate([two, np.where(ndimage.binary_erosion(discs), 3 + (np.indices(discs.shape)[1] > 22), 0)])
    cells = measured(labels.astype(np.uint8), None, (1.0, 1.0))
    unions = unite(labels.astype(np.uint8), cells, np.ones(2))
    pairs = list(zip(unions.first.tolist(), unions.second.tolist(), strict=True))
    assert (0, 1) in pairs and (2, 3) in pairs
    seen = Glance(1000, 100, float(np.median(cells.area)))
    may = seen.may_be_one(unions.cells, 100)
    assert may[pairs.index((2, 3))] == (unions.cells.area[pairs.index((2, 3))] < 2.5 * seen.usual_area)
    assert not Glance(1000, 100, 10.0).may_be_one(unions.cells, 100).any()


def test_of_many_unions_the_fullest_are_kept() -> None:
    labels = np.repeat(np.repeat(np.arange(1, 26).reshape(5, 5), 6, axis=0), 6, axis=1).astype(np.uint8)
    labels[:6, :6] = np.where(np.tri(6) > 0, 1, 0)
    cells = measured(labels, None, (1.0, 1.0))
    unions = unite(labels, cells, np.ones(2))
    may = Glance(1000, 100, 36.0).may_be_one(unions.cells, len(cells))
    assert may.sum() == 7 < len(unions.first) and 0 not in unions.first[may]


@pytest.mark.parametrize("shape", [(60, 70), (8, 26, 30)])
def test_a_frames_segments_are_no_more_than_four_per_mask(shape: tuple[int, ...]) -> None:
    labels = blobs(shape, seed=4)
    scale = (1.0,) * len(shape)
    cells = measured(labels, None, scale)
    parts, unions = Glance(1000, 100, float(np.median(cells.area))).segments(labels, None, cells, np.array(scale))
    assert len(parts.apart) == len(cells) and np.isfinite(parts.apart).all()
    assert 0 < len(unions.first) <= np.ceil(len(cells) / 4)
    assert len(cells) + len(parts.row) + len(unions.first) <= 4 * len(cells)
