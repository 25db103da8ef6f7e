"""Near places, by all distances and by trees."""

import numpy as np
import pytest

from dunno.types import neighbours
from dunno.types.neighbours import distance_to_nearest, within


@pytest.mark.parametrize("few", [0, 10**9])
@pytest.mark.parametrize("dimensions", [2, 3])
def test_near_places_are_those_of_every_distance(dimensions: int, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours, "FEW", few)
    rng = np.random.default_rng(dimensions)
    places, others = rng.integers(0, 12, (40, dimensions)) / 1.0, rng.integers(0, 12, (50, dimensions)) / 1.0
    distance = np.linalg.norm(places[:, None] - others, axis=2)
    first, second = within(places, others, 5.0)  # whole numbers: some lie just at the edge
    expected = np.nonzero(distance <= 5.0)
    assert (distance == 5.0).any()
    np.testing.assert_array_equal(first, expected[0])
    np.testing.assert_array_equal(second, expected[1])
    np.testing.assert_allclose(distance_to_nearest(places, others), distance.min(axis=1), rtol=1e-14)


def test_all_distances_and_trees_agree_to_the_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    places, others = rng.uniform(0, 100, (90, 2)), rng.uniform(0, 100, (80, 2))
    found = []
    for few in (0, 10**9):
        monkeypatch.setattr(neighbours, "FEW", few)
        found.append((*within(places, others, 20.0), distance_to_nearest(places, others)))
    for by_tree, by_distances in zip(*found, strict=True):
        np.testing.assert_array_equal(by_tree, by_distances)
        assert by_tree.dtype == by_distances.dtype


@pytest.mark.parametrize("few", [0, 10**9])
def test_nothing_is_near_nothing(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours, "FEW", few)
    assert [len(each) for each in within(np.zeros((0, 2)), np.zeros((0, 2)), 1.0)] == [0, 0]
    assert [len(each) for each in within(np.zeros((1, 2)), np.full((3, 2), 9.0), 1.0)] == [0, 0]
