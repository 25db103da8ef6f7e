"""K best assignments and batches: dunno against scipy and Gurobi, as ratios from one run.

python benchmarks/k_best.py [--quick]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from heapq import heappop, heappush

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import min_weight_full_bipartite_matching
from scipy.spatial import cKDTree

from dunno.assignment import Problem, k_best, solve, solve_batch

CANDIDATES = 12
APPEAR = DISAPPEAR = 10.0
FORBIDDEN = 1e6


def make_problem(n: int, sigma: float, seed: int = 0) -> Problem:
    """Scatter n cells at unit density, move each by sigma per axis, keep the 12 nearest mothers."""
    rng = np.random.default_rng(seed)
    mothers = rng.uniform(0, np.sqrt(n), (n, 2))
    daughters = mothers + rng.normal(0, sigma, (n, 2))
    distance, mother = cKDTree(mothers).query(daughters, CANDIDATES)
    cost = (distance**2 / (2 * sigma**2)).ravel()
    return Problem(mother.ravel(), np.repeat(np.arange(n), CANDIDATES), cost, n, n, APPEAR, DISAPPEAR)


def two_slots(problem: Problem) -> csr_matrix:
    """A daughter takes a mother's first slot (saving `disappear`), her second (paying `divide`) or her own dummy.

    All weights are raised by what makes the least of them 1.
    """
    m, n = problem.n_mothers, problem.n_daughters
    rows = np.concatenate([problem.daughter, problem.daughter, np.arange(n)])
    columns = np.concatenate([problem.mother, problem.mother + m, np.arange(n) + 2 * m])
    first = problem.cost - problem.disappear[problem.mother]
    second = problem.cost + problem.divide[problem.mother]
    weights = np.concatenate([first, second, problem.appear])
    return csr_matrix((weights - weights.min() + 1.0, (rows, columns)), shape=(n, 2 * m + n))


def murty_on_scipy(problem: Problem, k: int) -> np.ndarray:
    """(k,) costs by Murty's partition, each subproblem solved afresh by scipy's dense solver.

    A daughter is fixed to, or banned from, both slots of a mother, so that solutions differ as sets of edges.
    """
    m, n = problem.n_mothers, problem.n_daughters
    weights = np.full((n, 2 * m + n), FORBIDDEN)
    weights[problem.daughter, problem.mother] = problem.cost - problem.disappear[problem.mother]
    weights[problem.daughter, problem.mother + m] = problem.cost + problem.divide[problem.mother]
    weights[np.arange(n), 2 * m + np.arange(n)] = problem.appear
    constant = problem.disappear.sum()

    def solved(subproblem: np.ndarray, first_free: int) -> tuple[float, int, int, np.ndarray, np.ndarray] | None:
        rows, columns = linear_sum_assignment(subproblem)
        cost = subproblem[rows, columns].sum() + constant
        return None if cost > FORBIDDEN / 2 else (cost, len(created), first_free, subproblem, columns)

    created: list[int] = []
    queue = [solved(weights, 0)]
    costs = []
    while queue and len(costs) < k:
        cost, _, first_free, subproblem, columns = heappop(queue)
        costs.append(cost)
        fixed = subproblem.copy()
        for j in range(first_free, n):
            chosen = [columns[j] % m, columns[j] % m + m] if columns[j] < 2 * m else [columns[j]]
            banned = fixed.copy()
            banned[j, chosen] = FORBIDDEN
            created.append(j)
            child = solved(banned, j)
            if child is not None:
                heappush(queue, child)
            kept = fixed[j, chosen].copy()
            fixed[j] = FORBIDDEN
            fixed[j, chosen] = kept
    return np.array(costs)


def gurobi_pool(problem: Problem, k: int) -> np.ndarray:
    """(k,) costs by Gurobi's solution pool; events are continuous, lest it return an assignment twice."""
    import gurobipy

    with gurobipy.Env(params={"OutputFlag": 0}) as env, gurobipy.Model(env=env) as model:
        link = model.addMVar(len(problem.cost), vtype="B", obj=problem.cost)
        appear = model.addMVar(problem.n_daughters, ub=1.0, obj=problem.appear)
        disappear = model.addMVar(problem.n_mothers, ub=1.0, obj=problem.disappear)
        divide = model.addMVar(problem.n_mothers, ub=1.0, obj=problem.divide)
        for j in range(problem.n_daughters):
            model.addConstr(link[problem.daughter == j].sum() + appear[j] == 1)
        for i in range(problem.n_mothers):
            model.addConstr(link[problem.mother == i].sum() + disappear[i] - divide[i] == 1)
        model.Params.PoolSearchMode, model.Params.PoolSolutions, model.Params.MIPGap = 2, k, 0.0
        model.optimize()
        costs = []
        for number in range(min(k, model.SolCount)):
            model.Params.SolutionNumber = number
            costs.append(model.PoolObjVal)
    return np.sort(costs)


def fastest(repeats: int, action: Callable[..., object], *arguments: object) -> float:
    """Milliseconds of the fastest of a few calls."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action(*arguments)
        times.append(time.perf_counter() - start)
    return 1e3 * min(times)


def solve_each(problems: list[Problem]) -> None:
    """Solve problems one by one, each from scratch."""
    for problem in problems:
        solve(problem)


def print_map(sizes: tuple[int, ...]) -> None:
    """Compare the MAP with scipy's sparse matching."""
    print("\nMAP                         dunno ms   scipy ms   faster")
    for n in sizes:
        for sigma in (0.2, 0.5, 1.0):
            problem = make_problem(n, sigma)
            matrix = two_slots(problem)
            ours = fastest(15, solve, problem)
            theirs = fastest(2, min_weight_full_bipartite_matching, matrix)
            print(f"N = {n:>6,}  σ = {sigma:<3}        {ours:>9.3f} {theirs:>10.2f} {theirs / ours:>7.1f}×")


def print_peers(k: int) -> None:
    """Compare the K best of 100 cells with a plain Murty on scipy and with Gurobi's pool."""
    problem = make_problem(100, 0.5)
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
            problem = make_problem(n, sigma)
            alone = fastest(15, solve, problem)
            ratios = [fastest(7, k_best, problem, k) / alone for k in (10, 100, 1000)]
            row = "".join(f"{ratio:>8.1f}" for ratio in ratios)
            print(f"N = {n:>6,}  σ = {sigma:<3}        {alone:>9.3f} {row}")


def print_batch(n: int) -> None:
    """Compare 100 perturbed problems in one batch with 100 times the MAP, and with solving each from scratch."""
    print("\n100 perturbed problems      noise   × one MAP   × faster than one by one")
    for sigma in (0.2, 0.5, 1.0):
        problem = make_problem(n, sigma)
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
    print_map(sizes)
    print_peers(3 if quick else 10)
    print_growth(sizes)
    print_batch(100 if quick else 1000)


if __name__ == "__main__":
    main()
