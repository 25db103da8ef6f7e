"""Others who solve the same problem: peers to measure against, and oracles that share no line with the core."""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_matrix

from dunno.assignment import Problem

FORBIDDEN = 1e6


def two_slots(problem: Problem) -> tuple[csr_matrix, float]:
    """A daughter takes a mother's first slot (saving `disappear`), its second (paying `divide`) or its own dummy.

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


def murty_on_scipy(problem: Problem, k: int) -> NDArray[np.float64]:
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


def gurobi_pool(problem: Problem, k: int) -> NDArray[np.float64]:
    """(k,) ascending costs by Gurobi's solution pool.

    The pool tells solutions apart by their integer variables, so the events are continuous: integer ones would let it
    return an assignment twice.
    """
    import gurobipy

    with gurobipy.Env(params={"OutputFlag": 0, "Threads": 1}) as env, gurobipy.Model(env=env) as model:
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
