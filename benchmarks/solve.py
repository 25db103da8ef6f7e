"""The cheapest assignment: dunno against scipy's sparse matching on the two-slot encoding with dummies.

python -m benchmarks.solve [--quick]
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from benchmarks.clock import fastest
from benchmarks.frames import scatter
from benchmarks.peers import two_slots
from dunno.assignment import solve


def compare(n: int, sigma: float) -> None:
    """Print one row, after checking that both found the same cost."""
    problem = scatter(n, sigma)
    matrix, shift = two_slots(problem)
    rows, columns = min_weight_full_bipartite_matching(matrix)
    peer = float(matrix[rows, columns].sum()) + shift * n + float(problem.disappear.sum())
    assert np.isclose(peer, solve(problem).cost), (peer, solve(problem).cost)
    ours = fastest(15, solve, problem)
    theirs = fastest(3, min_weight_full_bipartite_matching, matrix)
    print(f"{n:>7,} {sigma:>6.1f} {ours:>10.3f} {theirs:>10.2f} {theirs / ours:>8.1f}×")


def main() -> None:
    """Print the table."""
    quick = "--quick" in sys.argv
    print(f"{'cells':>7} {'σ':>6} {'dunno ms':>10} {'scipy ms':>10} {'faster':>9}")
    for n in (100, 1000) if quick else (100, 1000, 10_000):
        for sigma in (0.5,) if quick else (0.2, 0.5, 1.0):
            compare(n, sigma)


if __name__ == "__main__":
    main()
