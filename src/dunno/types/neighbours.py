"""Which places lie near which others: by all distances where there are few, by a k-d tree where there are many."""

from __future__ import annotations

import numpy as np

from dunno.types.arrays import Floats, Ints

FEW = 160_000
"""Pairs of places up to which all distances are faster than trees; importing these takes longer than linking a short movie."""


def within(places: Floats, others: Floats, reach: float) -> tuple[Ints, Ints]:
    """All pairs no farther apart than `reach`, as indices into (n, d) places and (m, d) others; sorted by place, then by other.

    Example:
        >>> near = within(np.array([[0.0, 0.0], [5.0, 0.0]]), np.array([[5.0, 1.0], [0.0, 3.0], [4.0, 0.0]]), 3.0)
        >>> [each.tolist() for each in near]
        [[0, 1, 1], [1, 0, 2]]
    """
    if len(places) * len(others) <= FEW:
        first, second = np.nonzero(_squared(places, others) <= reach * reach)
        return first, second
    from scipy.spatial import cKDTree

    near = cKDTree(places).sparse_distance_matrix(cKDTree(others), reach, output_type="ndarray")
    first, second = near["i"].astype(np.int64), near["j"].astype(np.int64)
    order = np.lexsort((second, first))
    return first[order], second[order]


def distance_to_nearest(places: Floats, others: Floats, rank: int = 1) -> Floats:
    """(n,) distance from each place to the nearest of the others, or to the second nearest with rank 2; infinite without one."""
    if len(others) < rank:
        return np.full(len(places), np.inf)
    if len(places) * len(others) <= FEW:
        squared = _squared(places, others)
        return np.sqrt(np.partition(squared, rank - 1, axis=1)[:, rank - 1])
    from scipy.spatial import cKDTree

    found: Floats = cKDTree(others).query(places, [rank])[0][:, 0]
    return found


def _squared(places: Floats, others: Floats) -> Floats:
    """(n, m) squares of all distances, added up axis by axis as a tree does."""
    total = np.zeros((len(places), len(others)))
    for axis in range(places.shape[1]):
        total += np.subtract.outer(places[:, axis], others[:, axis]) ** 2
    return total
