"""Square matrices that are mostly empty, and which rows hang together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dunno import _core
from dunno.types.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class SparseMatrix:
    """(N, N) numbers, of which those that are not 0 are kept.

    Example:
        >>> one = SparseMatrix.of(np.array([0, 1]), np.array([1, 1]), np.array([0.5, 2.0]), 2)
        >>> (one @ one)[np.array([0, 1]), np.array([1, 0])].tolist()
        [1.0, 0.0]
        >>> one.times(np.array([1.0, 10.0])).tolist()
        [5.0, 20.0]
    """

    begin: Ints  # (N + 1,) where each row's entries begin
    column: Ints  # (K,) of each entry; ascending within a row
    value: Floats  # (K,) of each entry

    @classmethod
    def of(cls, row: Ints, column: Ints, value: Floats, n: int) -> SparseMatrix:
        """From entries in any order; those at the same place are added."""
        key, entry = np.unique(_key(row, column, n), return_inverse=True)
        begin = np.searchsorted(key, np.arange(n + 1) * n)
        return cls(begin, key % n, _sums(entry, value, len(key)))

    @property
    def n(self) -> int:
        """N."""
        return len(self.begin) - 1

    @cached_property
    def row(self) -> Ints:
        """(K,) of each entry."""
        return np.repeat(np.arange(self.n), np.diff(self.begin))

    def times(self, vector: Floats) -> Floats:
        """(N,) the product with a vector."""
        return _sums(self.row, self.value * vector[self.column], self.n)

    def row_sums(self) -> Floats:
        """(N,) the sum of each row."""
        return _sums(self.row, self.value, self.n)

    def __getitem__(self, at: tuple[Ints | int, Ints | int]) -> Floats:
        """The numbers at some places: their rows and columns."""
        row, column = at
        key, wanted = _key(self.row, self.column, self.n), _key(row, column, self.n)
        entry = np.searchsorted(key, wanted)
        is_there = np.append(key, -1)[entry] == wanted
        return np.where(is_there, np.append(self.value, 0.0)[entry], 0.0)

    def __matmul__(self, other: SparseMatrix) -> SparseMatrix:
        mine, theirs = ((each.begin, each.column, each.value) for each in (self, other))
        return SparseMatrix(*_core.sparse_product(*mine, *theirs, self.n))

    def __add__(self, other: SparseMatrix) -> SparseMatrix:
        row, column = np.concatenate([self.row, other.row]), np.concatenate([self.column, other.column])
        return SparseMatrix.of(row, column, np.concatenate([self.value, other.value]), self.n)


def _key(row: Ints | int, column: Ints | int, n: int) -> Ints:
    return np.asarray(row, np.int64) * n + column


def _sums(owner: Ints, value: Floats, n: int) -> Floats:
    """(n,) of the values of each owner, added in their order."""
    return np.asarray(np.bincount(owner, value, minlength=n), np.float64)


def components(first: Ints, second: Ints, n: int) -> Ints:
    """(n,) the lowest row of each row's component: those that edges join, directly or through others.

    Example:
        >>> components(np.array([3, 1]), np.array([1, 4]), 5).tolist()
        [0, 1, 2, 1, 1]
    """
    return _core.components(np.ascontiguousarray(first, np.int64), np.ascontiguousarray(second, np.int64), n)
