"""Near places, beside every distance and beside SciPy's trees."""

import numpy as np
import pytest
from scipy.spatial import cKDTree

from dunno.types.neighbours import distance_to_nearest, nearest, nearest_others, within


@pytest.mark.parametrize("dimensions", [2, 3])
def test_near_places_are_those_of_every_distance(dimensions: int) -> None:
    rng = np.random.default_rng(dimensions)
    places, others = rng.integers(0, 12, (40, dimensions)) / 1.0, rng.integers(0, 12, (50, dimensions)) / 1.0
    distance = np.linalg.norm(places[:, None] - others, axis=2)
    first, second = within(places, others, 5.0)  # whole numbers: some lie just at the edge
    expected = np.nonzero(distance <= 5.0)
    assert (distance == 5.0).any()
    np.testing.assert_array_equal(first, expected[0])
    np.testing.assert_array_equal(second, expected[1])
    np.testing.assert_allclose(distance_to_nearest(places, others), distance.min(axis=1), rtol=1e-14)


@pytest.mark.parametrize("n", [1, 9, 150, 3000])
@pytest.mark.parametrize("dimensions", [2, 3])
def test_trees_agree_to_the_bit(dimensions: int, n: int) -> None:
    rng = np.random.default_rng(n)
    places, others = rng.uniform(0, 100, (n + 1, dimensions)), rng.uniform(0, 100, (n, dimensions))
    others[: n // 3] *= 0.01  # as uneven as a colony in a large field
    near = cKDTree(places).sparse_distance_matrix(cKDTree(others), 9.0, output_type="ndarray")
    order = np.lexsort((near["j"], near["i"]))
    first, second = within(places, others, 9.0)
    np.testing.assert_array_equal(first, near["i"][order])
    np.testing.assert_array_equal(second, near["j"][order])
    for k in (2, 7):
        for ours, theirs in zip(nearest(places, others, k), cKDTree(others).query(places, k), strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("most", [1, 3, 7])
def test_of_each_place_no_more_than_the_nearest_are_found(most: int) -> None:
    rng = np.random.default_rng(most)
    places, others = rng.integers(0, 9, (60, 3)) / 1.0, rng.integers(0, 9, (80, 3)) / 1.0
    squared = ((places[:, None] - others) ** 2).sum(axis=2)
    first, second = within(places, others, 4.0, most)
    expected = [
        (i, j) for i in range(60) for j in sorted(np.argsort(squared[i], kind="stable")[:most]) if squared[i, j] <= 16
    ]
    assert list(zip(first.tolist(), second.tolist(), strict=True)) == expected
    with pytest.raises(ValueError, match="at least one"):
        within(places, others, 4.0, 0)


def test_of_places_equally_far_the_first_comes_first() -> None:
    lattice = np.stack(np.meshgrid(np.arange(9.0), np.arange(9.0)), axis=-1).reshape(-1, 2)
    squared = ((lattice[:, None] - lattice) ** 2).sum(axis=2)
    expected = np.argsort(squared, axis=1, kind="stable")[:, :6]
    np.testing.assert_array_equal(nearest(lattice, lattice, 6)[1], expected)


def test_where_there_are_too_few_the_rest_is_infinitely_far() -> None:
    distance, index = nearest(np.zeros((1, 2)), np.array([[3.0, 4.0]]), 3)
    assert distance.tolist() == [[5.0, np.inf, np.inf]]
    assert index.tolist() == [[0, 1, 1]]


def test_others_are_of_the_same_frame_and_not_the_place_itself() -> None:
    places = np.array(
        [[0.0, 0.0], [0.0, 0.0], [3.0, 0.0], [0.0, 1.0], [9.0, 9.0]]
    )  # two frames; two cells at one place
    found = nearest_others(places, np.array([0, 3, 3, 5]), 2)
    assert found.tolist() == [[1, 2], [0, 2], [0, 1], [4, 3], [3, 4]]


def test_others_are_those_of_every_distance() -> None:
    places = np.random.default_rng(0).uniform(0, 50, (300, 3))
    distance = np.linalg.norm(places[:, None] - places, axis=2) + np.diag(np.full(300, np.inf))
    found = nearest_others(places, np.array([0, 300]), 5)
    np.testing.assert_array_equal(found, np.argsort(distance, axis=1)[:, :5])


def test_nothing_is_near_nothing() -> None:
    assert [len(each) for each in within(np.zeros((0, 2)), np.zeros((0, 2)), 1.0)] == [0, 0]
    assert [len(each) for each in within(np.zeros((1, 2)), np.full((3, 2), 9.0), 1.0)] == [0, 0]
    assert nearest_others(np.zeros((0, 2)), np.array([0, 0]), 3).shape == (0, 3)


def test_everything_is_near_where_the_reach_is_infinite() -> None:
    first, second = within(np.zeros((2, 2)), np.arange(60.0).reshape(30, 2), np.inf)
    assert second.tolist() == 2 * list(range(30))
    assert first.sum() == 30


def test_places_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        within(np.zeros((1, 2)), np.array([[np.nan, 0.0]]), 1.0)
