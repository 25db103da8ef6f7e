"""The K best by Gurobi's solution pool: an oracle that shares no line with the core."""

from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from dunno.assignment import Problem


def pool_costs(gurobi: ModuleType, problem: Problem, k: int) -> NDArray[np.float64]:
    """(k,) ascending costs. Only the edges are integer variables.

    The pool tells solutions apart by their integer variables, so the events are continuous: integer ones would let it
    return an assignment twice.
    """
    with gurobi.Env(params={"OutputFlag": 0}) as env, gurobi.Model(env=env) as model:
        n_edges = len(problem.cost)
        link = model.addMVar(n_edges, vtype="B", obj=problem.cost)
        appear = model.addMVar(problem.n_daughters, ub=1.0, obj=problem.appear)
        disappear = model.addMVar(problem.n_mothers, ub=1.0, obj=problem.disappear)
        divide = model.addMVar(problem.n_mothers, ub=1.0, obj=problem.divide)
        for j in range(problem.n_daughters):
            model.addConstr(link[problem.daughter == j].sum() + appear[j] == 1)
        for i in range(problem.n_mothers):
            model.addConstr(link[problem.mother == i].sum() + disappear[i] - divide[i] == 1)
        model.Params.PoolSearchMode, model.Params.PoolSolutions, model.Params.Threads = 2, k, 1
        model.Params.MIPGap = 0.0
        model.optimize()
        costs = []
        for number in range(min(k, model.SolCount)):
            model.Params.SolutionNumber = number
            costs.append(model.PoolObjVal)
    return np.sort(costs)
