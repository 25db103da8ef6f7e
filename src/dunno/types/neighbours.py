"""Which places lie near which others: by a k-d tree in the core."""

from __future__ import annotations

import numpy as np

from dunno import _core
from dunno.types.arrays import Floats, Ints


def within(places: Floats, others: Floats, reach: float, most: int | None = None) -> tuple[Ints, Ints]:
    """Pairs no farther apart than `reach`, as indices into (n, d) places and (m, d) others; sorted by place, then by other.

    All of them, or of each place the `most` nearest others, found without making the rest.

    Example:
        >>> near = within(np.array([[0.0, 0.0], [5.0, 0.0]]), np.array([[5.0, 1.0], [0.0, 3.0], [4.0, 0.0]]), 3.0)
        >>> [each.tolist() for each in near]
        [[0, 1, 1], [1, 0, 2]]
    """
    first, second = _core.within(_table(places), _table(others), reach, *([] if most is None else [most]))
    return first, second


def nearest(places: Floats, others: Floats, k: int) -> tuple[Floats, Ints]:
    """(n, k) distances from each of (n, d) places to the nearest of (m, d) others, and who they are, nearest first.

    Of others that are equally far, the first come first. Where there are fewer than k, the distance is infinite and the index m.
    """
    distance, index = _core.nearest(_table(places), _table(others), k)
    return distance.reshape(-1, k), index.reshape(-1, k)


def distance_to_nearest(places: Floats, others: Floats) -> Floats:
    """(n,) distance from each place to the nearest of the others, of which there is at least one."""
    return nearest(places, others, 1)[0][:, 0]


def nearest_others(places: Floats, begin: Ints, k: int) -> Ints:
    """(N, k) the nearest other places of the same frame, nearest first; a place itself where there are fewer.

    Places are (N, d), frame after frame; `begin` (F + 1,) is where each frame begins, and N.
    """
    return _core.nearest_in_groups(_table(places), np.ascontiguousarray(begin, np.int64), k).reshape(-1, k)


def _table(places: Floats) -> Floats:
    return np.ascontiguousarray(places, np.float64)
