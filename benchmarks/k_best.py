"""K best assignments and batches: dunno against scipy and Gurobi, as ratios from one run.

python -m benchmarks.k_best [--quick]
"""

from __future__ import annotations

import sys

import numpy as np

from benchmarks.clock import fastest
from benchmarks.frames import scatter
from benchmarks.peers import gurobi_pool, murty_on_scipy
from dunno.assignment import Problem, k_best, solve, solve_batch


def solve_each(problems: list[Problem]) -> None:
    """Solve problems one by one, each from scratch."""
    for problem in problems:
        solve(problem)


def print_peers(k: int) -> None:
    """Compare the K best of 100 cells with a plain Murty on scipy and with Gurobi's pool."""
    problem = scatter(100, 0.5)
    ours = fastest(15, k_best, problem, k)
    print(f"\nK = {k} best, N = 100, σ = 0.5: dunno {ours:.3f} ms")
    for name, peer in (("Murty on scipy", murty_on_scipy), ("Gurobi's pool", gurobi_pool)):
        try:
            np.testing.assert_allclose(peer(problem, k), k_best(problem, k).cost, atol=1e-5)
        except ModuleNotFoundError:
            print(f"  {name:<16} not installed")
            continue
        theirs = fastest(1, peer, problem, k)
        print(f"  {name:<16} {theirs:>9.1f} ms {theirs / ours:>9,.0f}×")


def print_growth(sizes: tuple[int, ...]) -> None:
    """Show how little the cost grows with K."""
    print("\nK best, × the MAP alone       MAP ms   K = 10      100    1000")
    for n in sizes:
        for sigma in (0.2, 0.5, 1.0):
            problem = scatter(n, sigma)
            alone = fastest(15, solve, problem)
            ratios = [fastest(7, k_best, problem, k) / alone for k in (10, 100, 1000)]
            row = "".join(f"{ratio:>8.1f}" for ratio in ratios)
            print(f"N = {n:>6,}  σ = {sigma:<3}        {alone:>9.3f} {row}")


def print_batch(n: int) -> None:
    """Compare 100 perturbed problems in one batch with 100 times the MAP, and with solving each from scratch."""
    print("\n100 perturbed problems      noise   × one MAP   × faster than one by one")
    for sigma in (0.2, 0.5, 1.0):
        problem = scatter(n, sigma)
        alone = fastest(15, solve, problem)
        for noise in (0.1, 0.5, 1.0):
            costs = problem.cost + np.random.default_rng(1).normal(0, noise, (100, len(problem.cost)))
            events = problem.appear, problem.disappear, problem.divide
            each = [Problem(problem.mother, problem.daughter, cost, n, n, *events) for cost in costs]
            batch = fastest(3, solve_batch, problem, costs)
            cold = fastest(2, solve_each, each)
            print(f"N = {n:>6,}  σ = {sigma:<3}      {noise:>7} {batch / alone:>11.1f} {cold / batch:>26.2f}")


def main() -> None:
    """Print the tables."""
    quick = "--quick" in sys.argv
    sizes = (100,) if quick else (100, 1000, 10_000)
    print_peers(3 if quick else 10)
    print_growth(sizes)
    print_batch(100 if quick else 1000)


if __name__ == "__main__":
    main()
