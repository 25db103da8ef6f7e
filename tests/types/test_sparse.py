"""Matrices that are mostly empty, beside full ones."""

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from dunno.types.sparse import SparseMatrix, components

N = 23


def drawn(rng: np.random.Generator, n_entries: int) -> tuple[SparseMatrix, np.ndarray]:
    """A matrix and the same with all its zeros; some places are given twice."""
    row, column = rng.integers(0, N, (2, n_entries)).astype(np.int32)
    value = rng.uniform(0.1, 1, n_entries)
    full = np.zeros((N, N))
    np.add.at(full, (row, column), value)
    return SparseMatrix.of(row, column, value, N), full


@pytest.mark.parametrize("n_entries", [0, 1, 40, 400])
def test_sums_and_products_are_those_of_full_matrices(n_entries: int) -> None:
    rng = np.random.default_rng(n_entries)
    (one, full), (other, other_full) = drawn(rng, n_entries), drawn(rng, 50)
    rows, columns = np.indices((N, N))
    for found, expected in ((one, full), (one @ other, full @ other_full), (other + one, other_full + full)):
        np.testing.assert_allclose(found[rows, columns], expected, rtol=1e-14)
    np.testing.assert_allclose(one.row_sums(), full.sum(axis=1), rtol=1e-14)
    vector = rng.normal(size=N)
    np.testing.assert_allclose(one.times(vector), full @ vector, rtol=1e-12, atol=1e-15)


def test_many_rows_do_not_overflow() -> None:
    n = 100_000
    matrix = SparseMatrix.of(np.array([n - 1], np.int32), np.array([n - 2], np.int32), np.array([0.5]), n)
    assert matrix[np.array([n - 1], np.int32), np.array([n - 2], np.int32)].tolist() == [0.5]


@pytest.mark.parametrize("n_edges", [0, 10, 30, 200])
def test_components_are_scipy_s(n_edges: int) -> None:
    first, second = np.random.default_rng(n_edges).integers(0, 60, (2, n_edges))
    _, expected = connected_components(coo_array((np.ones(n_edges), (first, second)), shape=(60, 60)), directed=False)
    found = components(first, second, 60)
    np.testing.assert_array_equal(found[:, None] == found, expected[:, None] == expected)
    assert (found <= np.arange(60)).all()


def test_an_edge_to_nowhere_is_refused() -> None:
    with pytest.raises(ValueError, match="below n"):
        components(np.array([0]), np.array([3]), 3)
