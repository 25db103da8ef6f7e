"""Which places lie near which others: along a sorted axis where there are few, by a k-d tree where there are many."""

from __future__ import annotations

import numpy as np

from dunno.types.arrays import Floats, Ints

FEW = 160_000
"""Pairs of places up to which no trees are made: importing these takes longer than linking a short movie."""


def within(places: Floats, others: Floats, reach: float) -> tuple[Ints, Ints]:
    """All pairs no farther apart than `reach`, as indices into (n, d) places and (m, d) others; sorted by place, then by other.

    Example:
        >>> near = within(np.array([[0.0, 0.0], [5.0, 0.0]]), np.array([[5.0, 1.0], [0.0, 3.0], [4.0, 0.0]]), 3.0)
        >>> [each.tolist() for each in near]
        [[0, 1, 1], [1, 0, 2]]
    """
    if len(places) * len(others) <= FEW:
        return _within_few(places, others, reach)
    from scipy.spatial import cKDTree

    near = cKDTree(places).sparse_distance_matrix(cKDTree(others), reach, output_type="ndarray")
    first, second = near["i"].astype(np.int64), near["j"].astype(np.int64)
    order = np.lexsort((second, first))
    return first[order], second[order]


def _within_few(places: Floats, others: Floats, reach: float) -> tuple[Ints, Ints]:
    """The same, of those others that are near along the first axis."""
    if len(places) == 0 or len(others) == 0:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    order = np.argsort(others[:, 0], kind="stable")
    margin = reach * (1 + 1e-9)  # those just at the edge are decided by their distance
    begin = np.searchsorted(others[order, 0], places[:, 0] - margin)
    n = np.searchsorted(others[order, 0], places[:, 0] + margin, side="right") - begin
    first = np.repeat(np.arange(len(places)), n)
    second = order[np.arange(len(first)) + np.repeat(begin - np.cumsum(n) + n, n)]
    squared = np.zeros(len(first))
    for axis in range(places.shape[1]):  # added up as a tree does
        squared += (places[first, axis] - others[second, axis]) ** 2
    near = np.sort((first * len(others) + second)[squared <= reach * reach])
    return near // len(others), near % len(others)


def distance_to_nearest(places: Floats, others: Floats) -> Floats:
    """(n,) distance from each place to the nearest of the others, of which there is at least one."""
    if len(places) * len(others) <= FEW:
        squared = np.zeros((len(places), len(others)))
        for axis in range(places.shape[1]):
            squared += np.subtract.outer(places[:, axis], others[:, axis]) ** 2
        return np.asarray(np.sqrt(squared.min(axis=1)))
    from scipy.spatial import cKDTree

    found: Floats = cKDTree(others).query(places)[0]
    return found
