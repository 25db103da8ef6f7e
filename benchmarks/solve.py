"""The cheapest assignment: dunno against scipy's sparse matching on the two-slot encoding with dummies.

python benchmarks/solve.py [--quick]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import min_weight_full_bipartite_matching
from scipy.spatial import cKDTree

from dunno.assignment import Problem, solve

CANDIDATES = 12


def make_problem(n: int, sigma: float, seed: int = 0) -> Problem:
    """Scatter n cells at unit density, move each by sigma per axis, keep the 12 nearest mothers."""
    rng = np.random.default_rng(seed)
    mothers = rng.uniform(0, np.sqrt(n), (n, 2))
    daughters = mothers + rng.normal(0, sigma, (n, 2))
    distance, mother = cKDTree(mothers).query(daughters, CANDIDATES)
    daughter = np.repeat(np.arange(n), CANDIDATES)
    cost = (distance**2 / (2 * sigma**2)).ravel()
    return Problem(mother.ravel(), daughter, cost, n, n, appear=10.0, disappear=10.0)


def two_slots(problem: Problem) -> tuple[csr_matrix, float]:
    """A daughter takes a mother's first slot (saving `disappear`), her second (paying `divide`) or her own dummy.

    Returns the matrix, and what to add per daughter to undo the shift that makes its entries positive.
    """
    m, n = problem.n_mothers, problem.n_daughters
    rows = np.concatenate([problem.daughter, problem.daughter, np.arange(n)])
    columns = np.concatenate([problem.mother, problem.mother + m, np.arange(n) + 2 * m])
    first = problem.cost - problem.disappear[problem.mother]
    second = problem.cost + problem.divide[problem.mother]
    weights = np.concatenate([first, second, problem.appear])
    shift = weights.min() - 1.0
    return csr_matrix((weights - shift, (rows, columns)), shape=(n, 2 * m + n)), float(shift)


def fastest(action: Callable[[], object], repeats: int) -> float:
    """Seconds of the fastest of a few calls."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def compare(n: int, sigma: float) -> None:
    """Print one row, after checking that both found the same cost."""
    problem = make_problem(n, sigma)
    matrix, shift = two_slots(problem)
    rows, columns = min_weight_full_bipartite_matching(matrix)
    peer = float(matrix[rows, columns].sum()) + shift * n + float(problem.disappear.sum())
    assert np.isclose(peer, solve(problem).cost), (peer, solve(problem).cost)
    ours = fastest(lambda: solve(problem), 9)
    theirs = fastest(lambda: min_weight_full_bipartite_matching(matrix), 3)
    print(f"{n:>7,} {sigma:>6.1f} {ours * 1e3:>10.3f} {theirs * 1e3:>10.2f} {theirs / ours:>8.1f}×")


def main() -> None:
    """Print the table."""
    quick = "--quick" in sys.argv
    print(f"{'cells':>7} {'σ':>6} {'dunno ms':>10} {'scipy ms':>10} {'faster':>9}")
    for n in (100, 1000) if quick else (100, 1000, 10_000):
        for sigma in (0.5,) if quick else (0.2, 0.5, 1.0):
            compare(n, sigma)


if __name__ == "__main__":
    main()
