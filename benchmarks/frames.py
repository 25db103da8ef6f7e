"""Frames of cells to measure and to test with. Cells lie about one spacing apart and move by `motion` spacings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from dunno.assignment import Problem, Triples, every_pair

CANDIDATES = 12

Edges = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]


def nearest_edges(
    before: NDArray[np.float64], after: NDArray[np.float64], motion: float, candidates: int = CANDIDATES
) -> Edges:
    """Each daughter's nearest mothers as (E,) mother, daughter and cost = distance² / (2 motion²)."""
    candidates = min(candidates, len(before))
    distance, mother = cKDTree(before).query(after, k=candidates)
    daughter = np.repeat(np.arange(len(after)), candidates)
    return mother.ravel(), daughter, distance.ravel() ** 2 / (2 * motion**2)


def scatter(n: int, motion: float, seed: int = 0) -> Problem:
    """Make n cells anywhere at unit density, each of whom moves; nobody divides, appears or disappears."""
    rng = np.random.default_rng(seed)
    before = rng.uniform(0, np.sqrt(n), (n, 2))
    after = before + rng.normal(0, motion, (n, 2))
    return Problem(*nearest_edges(before, after, motion), n, n, appear=10.0, disappear=10.0)


def colony(
    rows: int,
    columns: int,
    motion: float,
    seed: int,
    divide: float = 0.0,
    candidates: int = CANDIDATES,
    dividing_cost: bool = False,
    triples: bool = False,
) -> Problem:
    """A jittered grid of cells that move, divide, appear and disappear; with triples, sisters lie opposite of each other."""
    rng = np.random.default_rng(seed)
    grid = np.stack(np.meshgrid(np.arange(rows), np.arange(columns)), axis=-1).reshape(-1, 2)
    before = grid + rng.uniform(size=grid.shape)
    after = np.repeat(before, rng.choice([0, 1, 2], size=len(before), p=[0.05, 0.85, 0.1]), axis=0)
    after = after + motion * rng.normal(size=after.shape)
    after = np.concatenate([after, rng.uniform(size=(len(before) // 20, 2)) * [rows, columns]])
    mother, daughter, cost = nearest_edges(before, after, motion, candidates)
    when_dividing = cost / 4 if dividing_cost else None
    listed = opposite_sisters(before, after, mother, daughter, motion) if triples else None
    return Problem(mother, daughter, cost, len(before), len(after), 7.0, 7.0, divide, when_dividing, listed)


def opposite_sisters(
    before: NDArray[np.float64],
    after: NDArray[np.float64],
    mother: NDArray[np.int64],
    daughter: NDArray[np.int64],
    motion: float,
) -> Triples:
    """All divisions, each at a cost of |middle of the sisters - mother|² / motion²."""
    first, second = every_pair(mother)
    middle = (after[daughter[first]] + after[daughter[second]]) / 2
    return Triples(first, second, ((middle - before[mother[first]]) ** 2).sum(axis=1) / motion**2)
