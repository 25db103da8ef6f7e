"""Parts and unions of masks, beside plain NumPy and SciPy on one mask at a time."""

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from scipy import ndimage
from scipy.spatial import cKDTree
from skimage.draw import disk, ellipse

from dunno import Movie
from dunno.segments.drawing import Drawn, draw
from dunno.segments.pixels import REACH, Parts, cut, unite
from dunno.types import Detections
from dunno.types.measurements import fullness

SCALES = [(1.0, 1.0), (0.65, 0.65), (2.0, 0.5), (1.0, 1.0, 1.0), (5.0, 0.6, 0.6)]


def blobs(shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Masks of odd outlines, some of which touch, in several pieces, or of a pixel or two."""
    rng = np.random.default_rng(seed)
    noise = ndimage.gaussian_filter(rng.normal(size=shape), 2.0)
    seeds = rng.uniform(0, 1, (12, len(shape))) * shape
    owner = cKDTree(seeds).query(np.argwhere(np.ones(shape)))[1].reshape(shape) + 1
    labels = np.where(noise > np.quantile(noise, 0.45), 3 * owner, 0).astype(np.uint16)
    labels[(0,) * len(shape)] = 50
    labels[(-1,) * len(shape)] = labels[(*(-1,) * (len(shape) - 1), -2)] = 51
    return labels


def image_of(labels: np.ndarray, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 3000, labels.shape, dtype=np.uint16)


def measured(labels: np.ndarray, image: np.ndarray | None, scale: tuple[float, ...]) -> Detections:
    return Movie(labels[None], None if image is None else image[None], scale=scale).detections(0)


def looked_at(
    labels: np.ndarray, image: np.ndarray | None, scale: tuple[float, ...], into: int = 3
) -> tuple[Detections, Parts]:
    cells = measured(labels, image, scale)
    rows = np.arange(len(cells))
    return cells, cut(labels, image, cells, rows, np.full(len(rows), into), np.array(scale))


def two_discs(radius: tuple[float, float] = (9.0, 7.0), apart: float = 13.0) -> tuple[np.ndarray, np.ndarray]:
    """A mask that holds two round cells, and the two."""
    labels = np.zeros((40, 60), np.uint8)
    for label, (r, x) in enumerate(zip(radius, (20.0, 20.0 + apart), strict=True), 1):
        inside = disk((20, x), r, shape=labels.shape)
        labels[inside] = np.where(labels[inside] == 0, label, labels[inside])
    return (labels > 0).astype(np.uint8), labels


def test_an_ellipse_is_full_and_has_no_neck() -> None:
    labels = np.zeros((80, 90), np.uint8)
    labels[ellipse(40, 45, 18, 30)] = 1
    dented = labels.copy()
    dented[disk((22, 45), 8)] = dented[disk((58, 45), 8)] = 0
    for masks, full in ((labels, True), (dented, False)):
        cells, parts = looked_at(masks, None, (0.5, 0.5), into=2)
        assert cells.covariance is not None
        assert (fullness(cells.area, cells.covariance)[0] > 0.96) == full
        assert (parts.neck[0] == 0) == full


def halves_of(places: np.ndarray, start: np.ndarray, rounds: int = 20) -> np.ndarray:
    """(n,) whether each pixel is in the first half: Lloyd's rounds on all of them."""
    centres = np.array([places.mean(axis=0) + start, places.mean(axis=0) - start])
    first = np.zeros(len(places), np.bool_)
    for _ in range(rounds):
        away = ((places[:, None] - centres) ** 2).sum(axis=2)
        first = away[:, 0] <= away[:, 1] + 1e-9
        centres = np.array([places[first].mean(axis=0), places[~first].mean(axis=0)])
    return first


def long_axis_of(places: np.ndarray) -> np.ndarray:
    """A standard deviation along the longest axis, to the side of larger x."""
    value, axes = np.linalg.eigh(np.cov(places.T, bias=True))
    axis = axes[:, -1]
    sign = np.sign(axis[np.flatnonzero(np.abs(axis) > 1e-9)[-1]])
    return np.asarray(sign * axis * np.sqrt(value[-1]))


@pytest.mark.parametrize("scale", SCALES)
def test_halves_are_those_of_two_means_on_every_pixel(scale: tuple[float, ...]) -> None:
    labels = blobs((48, 56) if len(scale) == 2 else (9, 26, 30), seed=1)
    cells, parts = looked_at(labels, None, scale, into=1)
    assert len(parts.row) == 0 and np.isnan(parts.neck).all()
    for i, label in enumerate(cells.label.tolist()):
        places = np.argwhere(labels == label) * scale
        if len(places) < 2:
            continue
        first = halves_of(places, 0.8 * long_axis_of(places))
        u = (places[first].mean(axis=0) - places[~first].mean(axis=0)) / cells.area[i] ** (1 / len(scale))
        assert parts.apart[i] == pytest.approx(u, abs=1e-9)
        assert parts.ratio[i] == pytest.approx(np.log(first.sum() / (~first).sum()), abs=1e-9)


def neck_of(mask: np.ndarray, scale: tuple[float, ...]) -> tuple[float, np.ndarray]:
    """What the neck of a mask is worth, and the pixels beyond it, by a watershed that looks at every pixel's neighbours."""
    unit = min(scale)
    depth = ndimage.distance_transform_edt(np.pad(mask, 1), sampling=np.array(scale) / unit) ** 2
    level = np.floor(depth + 1e-3)
    pixels = [tuple(p) for p in np.argwhere(np.pad(mask, 1))]
    pixels.sort(key=lambda p: -level[p])  # stable: by place where they are equally deep
    rank = {p: i for i, p in enumerate(pixels)}
    around = [s for s in np.ndindex(*(3,) * mask.ndim) if set(s) != {1}]
    basin: dict[tuple[int, ...], int] = {}
    summits: list[float] = []
    saddles: list[tuple[int, int, float]] = []
    lake: dict[int, int] = {}

    def root(b: int) -> int:
        return b if lake[b] == b else root(lake[b])

    def meet(one: int, other: int, height: float) -> None:
        a, b = sorted((root(one), root(other)), key=lambda x: -summits[x])
        if a != b:
            saddles.append((one, other, summits[b] - height))
            lake[b] = a

    for p in pixels:
        near = [tuple(a + s - 1 for a, s in zip(p, step, strict=True)) for step in around]
        near = sorted((q for q in near if q in basin), key=rank.__getitem__)
        if not near:
            basin[p] = len(summits)
            lake[basin[p]] = basin[p]
            summits.append(float(np.sqrt(depth[p])))
            continue
        basin[p] = basin[near[0]]
        for q in near:
            meet(basin[p], basin[q], float(np.sqrt(depth[p])))
    for b in range(1, len(summits)):
        meet(0, b, 0.0)
    best, beyond = 0.0, np.zeros(mask.shape, np.bool_)
    of = np.array([basin[p] for p in sorted(basin)])
    for s in range(len(saddles)):
        group = list(range(len(summits)))
        for _ in group:
            for k, (one, other, _) in enumerate(saddles):
                if k != s:
                    group[one] = group[other] = min(group[one], group[other])
        other_side = np.array([group[b] != group[saddles[s][0]] for b in range(len(summits))])[of]
        share = min(other_side.mean(), 1 - other_side.mean())
        if saddles[s][2] * np.sqrt(share) > best + 1e-6:
            best = saddles[s][2] * np.sqrt(share)
            beyond = np.zeros(mask.shape, np.bool_)
            beyond[mask] = other_side
    return best, beyond


@pytest.mark.parametrize("scale", SCALES)
def test_parts_are_what_a_watershed_pixel_by_pixel_parts(scale: tuple[float, ...]) -> None:
    labels = blobs((48, 56) if len(scale) == 2 else (8, 20, 24), seed=2)
    cells, parts = looked_at(labels, None, scale, into=2)
    assert cells.covariance is not None
    with_neck = 0
    for i, label in enumerate(cells.label.tolist()):
        mask = labels == label
        worth, beyond = neck_of(mask, scale)
        if fullness(cells.area[i : i + 1], cells.covariance[i : i + 1])[0] >= 0.96:
            worth = 0.0  # nearly an ellipse
        length = cells.area[i] ** (1 / len(scale))
        if mask.sum() == 1:
            assert i not in parts.row and parts.neck[i] == 0
            continue
        assert parts.neck[i] == pytest.approx(worth * min(scale) / length, abs=1e-6)
        places = np.argwhere(mask) * scale
        start = long_axis_of(places)
        first = ~beyond[mask] if worth > 0.25 else halves_of(places, 0.8 * start)
        if (places[first].mean(axis=0) - places[~first].mean(axis=0)) @ start < 0:
            first = ~first
        with_neck += worth > 0.25
        own = parts.row == i
        assert parts.number[own].tolist() == [0, 1]
        assert parts.cells.area[own] == pytest.approx(np.array([first.sum(), (~first).sum()]) * np.prod(scale))
        assert parts.cells.centroid[own] == pytest.approx(
            np.array([places[first].mean(axis=0), places[~first].mean(axis=0)])
        )
    assert with_neck >= 2


def test_two_discs_in_a_mask_are_cut_where_they_meet() -> None:
    labels, truth = two_discs()
    cells, parts = looked_at(labels, None, (1.0, 1.0), into=2)
    drawn = draw(labels, cells, np.ones(2), Drawn(parts.row, parts.number, np.array([2, 1])))  # 0 lies at larger x
    assert (drawn == truth).mean() > 0.995
    alone = measured((truth == 1).astype(np.uint8), None, (1.0, 1.0))
    round_one = cut((truth == 1).astype(np.uint8), None, alone, np.array([0]), np.array([2]), np.ones(2))
    assert parts.neck[0] > 0.05 > 10 * round_one.neck[0]


def columns_of(cells: Detections) -> dict[str, Any]:
    found = {field.name: getattr(cells, field.name) for field in fields(cells)}
    return {name: found[name] for name in found if isinstance(found[name], np.ndarray) and name != "label"}


@pytest.mark.parametrize("scale", SCALES)
def test_what_is_measured_of_parts_is_measured_of_the_masks_that_are_drawn(scale: tuple[float, ...]) -> None:
    labels = blobs((48, 56) if len(scale) == 2 else (8, 20, 24), seed=3)
    image = image_of(labels)
    cells, parts = looked_at(labels, image, scale)
    for numbers in ([0, 1], [2, 3]):
        rows = np.isin(parts.number, numbers)
        others = np.zeros(len(rows), np.bool_)
        if 2 in numbers:  # the smaller one of the first two stays beside them
            first = np.flatnonzero((parts.number == 0) & np.isin(parts.row, parts.row[rows]))
            smaller = first + (parts.cells.area[first + 1] <= parts.cells.area[first])
            others[smaller] = True
        new = np.zeros(len(rows), np.int64)
        new[rows] = 100 + np.arange(rows.sum())
        new[others] = 1000 + np.arange(others.sum())
        chosen = rows | others
        drawn = draw(labels, cells, np.array(scale), Drawn(parts.row[chosen], parts.number[chosen], new[chosen]))
        found = measured(drawn, image, scale)
        at = np.searchsorted(found.label, new[rows])
        assert (found.label[at] == new[rows]).all()
        expected = columns_of(found)
        assert set(expected) == set(columns_of(parts.cells))
        for name, column in columns_of(parts.cells).items():
            np.testing.assert_array_equal(column[rows], expected[name][at], err_msg=name)


@pytest.mark.parametrize("scale", SCALES[:4])
def test_the_three_of_a_mask_are_the_smaller_part_and_the_two_of_the_larger_one(scale: tuple[float, ...]) -> None:
    labels = blobs((48, 56) if len(scale) == 2 else (8, 20, 24), seed=4)
    cells, parts = looked_at(labels, image_of(labels), scale)
    assert (parts.cells.label == cells.label[parts.row]).all()
    for row in np.unique(parts.row).tolist():
        area, total = ({n: column[(parts.row == row) & (parts.number == n)] for n in range(4)} for column in (
            parts.cells.area, parts.cells.total))  # fmt: skip
        assert area[0] + area[1] == pytest.approx(cells.area[row])
        if len(area[2]):
            assert area[2] + area[3] == pytest.approx(max(area[0], area[1]))
            assert total[2] + total[3] == pytest.approx(total[0] if area[0] >= area[1] else total[1])
    assert (parts.number > 1).sum() > 6


def near_pairs(labels: np.ndarray, scale: tuple[float, ...], reach: float) -> dict[tuple[int, int], float]:
    """By every two masks' pixels."""
    names = np.unique(labels[labels > 0]).tolist()
    trees = [cKDTree(np.argwhere(labels == name) * scale) for name in names]
    least = {(a, b): trees[a].query(trees[b].data)[0].min() for b in range(len(names)) for a in range(b)}
    return {pair: away for pair, away in least.items() if away <= reach * (1 + 1e-9)}


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("seed", [5, 6])
def test_unions_are_all_pairs_within_reach_measured_as_one_mask(scale: tuple[float, ...], seed: int) -> None:
    labels = blobs((48, 56) if len(scale) == 2 else (8, 20, 24), seed)
    image = image_of(labels)
    cells = measured(labels, image, scale)
    found = unite(labels, cells, np.array(scale))
    expected = near_pairs(labels, scale, max(REACH * min(scale), max(scale)))
    assert 3 < len(expected) < len(cells) * (len(cells) - 1) / 2
    assert list(zip(found.first.tolist(), found.second.tolist(), strict=True)) == sorted(expected)
    assert found.distance == pytest.approx(np.array([expected[pair] for pair in sorted(expected)]))
    for i in range(len(found.first)):
        one, other = cells.label[found.first[i]], cells.label[found.second[i]]
        together = measured(np.where(labels == other, one, labels), image, scale)
        for name, column in columns_of(found.cells).items():
            at = np.searchsorted(together.label, one)
            assert column[i] == pytest.approx(getattr(together, name)[at], rel=1e-9, abs=1e-9), name


def test_some_unions_are_taken_with_all_their_columns() -> None:
    labels = blobs((48, 56), seed=5)
    found = unite(labels, measured(labels, None, (1.0, 1.0)), np.ones(2))
    kept = found.cells.area > np.median(found.cells.area)
    few = found.only(kept)
    assert few.first.tolist() == found.first[kept].tolist() and 0 < len(few.cells) < len(found.cells)
    assert few.cells.covariance is not None and few.cells.total is None
    assert few.cells.centroid.tolist() == found.cells.centroid[kept].tolist()


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.uint32, np.int64, np.uint64, np.dtype(">u2")])
def test_the_labels_values_and_type_do_not_matter(kind: Any) -> None:
    labels = blobs((40, 40), seed=7)
    _, plain = looked_at(labels, None, (1.0, 1.0))
    other = labels.astype(kind)
    if np.dtype(kind).itemsize == 8:
        other[labels > 0] += np.array(10**12, kind)
    _, found = looked_at(other, None, (1.0, 1.0))
    for name in ("apart", "ratio", "neck", "row", "number"):
        np.testing.assert_array_equal(getattr(found, name), getattr(plain, name))
    np.testing.assert_array_equal(found.cells.centroid, plain.cells.centroid)


def test_where_a_mask_lies_does_not_matter() -> None:
    labels, _ = two_discs()
    wide = np.zeros((2000, 3000), np.uint16)
    wide[1900:1940, 2900:2960] = labels
    _, here = looked_at(labels, None, (0.3, 0.3))
    _, there = looked_at(wide, None, (0.3, 0.3))
    assert there.apart == pytest.approx(here.apart, abs=1e-12)
    assert there.ratio.tolist() == here.ratio.tolist() and there.neck.tolist() == here.neck.tolist()
    assert there.cells.area.tolist() == here.cells.area.tolist()


def test_only_the_masks_that_are_asked_for_are_cut() -> None:
    labels = blobs((48, 56), seed=2)
    cells, every = looked_at(labels, None, (1.0, 1.0))
    rows, into = np.array([1, 3, 4, 8]), np.array([1, 2, 3, 2])
    some = cut(labels, None, cells, rows, into, np.ones(2))
    np.testing.assert_array_equal(some.apart, every.apart[rows])
    assert np.isnan(some.neck).tolist() == [True, False, False, False]
    assert dict(zip(*np.unique(some.row, return_counts=True), strict=True)) == {3: 2, 4: 4, 8: 2}
    same = np.flatnonzero(np.isin(every.row, rows[1:]) & ((every.number < 2) | (every.row == 4)))
    np.testing.assert_array_equal(some.cells.centroid, every.cells.centroid[same])


def test_a_pixel_and_a_pair_of_pixels_have_halves() -> None:
    labels = np.zeros((3, 5, 9), np.uint8)
    labels[1, 1, 1], labels[1, 3, 4:6] = 1, 2
    cells, parts = looked_at(labels, None, (9.0, 1.0, 1.0))
    assert np.isfinite(parts.apart).all() and parts.ratio.tolist() == [0.0, 0.0]
    assert parts.apart[1] * cells.area[1] ** (1 / 3) == pytest.approx([0.0, 0.0, 1.0])
    assert parts.row.tolist() == [1, 1] and parts.number.tolist() == [0, 1]
    assert parts.cells.centroid.tolist() == [[9.0, 3.0, 5.0], [9.0, 3.0, 4.0]]


def test_an_empty_frame_has_no_segments() -> None:
    labels = np.zeros((4, 5), np.uint16)
    cells, parts = looked_at(labels, None, (1.0, 1.0))
    assert len(parts.cells) == len(parts.apart) == len(unite(labels, cells, np.ones(2)).first) == 0


def test_parts_are_dark_where_the_image_cannot_be_read() -> None:
    labels = blobs((40, 40), seed=7)
    cells = measured(labels, image_of(labels), (1.0, 1.0))
    rows = np.arange(len(cells))
    dark = cut(labels, None, cells, rows, np.full(len(rows), 2), np.ones(2)).cells
    assert dark.total is not None and np.isnan(dark.total).all() and len(dark.total) == len(dark)
