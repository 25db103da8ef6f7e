"""The cheapest assignment is the cheapest."""

import numpy as np
import pytest
from hypothesis import given

from dunno.assignment import Problem, solve
from dunno.errors import ProblemError

from .brute_force import cost_of, enumerate_assignments
from .problems import examples, flows, frame, scale_of


@examples(1000)
@given(flows())
def test_solve_finds_the_cheapest_of_all_assignments(problem: Problem) -> None:
    solution = solve(problem)
    costs = enumerate_assignments(problem).cost
    tolerance = 1e-12 * scale_of(problem)
    assert solution.cost == pytest.approx(costs[0], abs=tolerance, rel=1e-12)
    assert cost_of(problem, solution.edge) == pytest.approx(solution.cost, abs=tolerance, rel=1e-12)


@pytest.mark.parametrize("sigma", [0.2, 0.5, 1.0])
def test_duals_prove_that_nothing_is_cheaper(sigma: float) -> None:
    problem = frame(300, sigma, seed=1)
    solution = solve(problem, duals=True)
    u, v = solution.daughter_dual, solution.mother_dual
    load = np.bincount(problem.mother[solution.edge[solution.edge >= 0]], minlength=problem.n_mothers)
    slack = problem.cost - u[problem.daughter] - v[problem.mother]
    assert slack.min() > -1e-9
    assert np.abs(slack[solution.edge[solution.edge >= 0]]).max() < 1e-9
    assert (u <= problem.appear + 1e-9).all()
    assert np.abs((u - problem.appear)[solution.edge < 0]).max(initial=0.0) < 1e-9
    assert np.abs((v - problem.disappear)[load == 0]).max(initial=0.0) < 1e-9
    assert (v[load == 1] <= problem.disappear[load == 1] + 1e-9).all()
    assert (v[load == 1] >= -problem.divide[load == 1] - 1e-9).all()
    assert (v[load == 2] <= -problem.divide[load == 2] + 1e-9).all()


def test_duals_are_returned_only_on_request() -> None:
    assert solve(frame(10, 0.5, seed=0)).mother_dual is None


@pytest.mark.parametrize(("n_mothers", "n_daughters"), [(0, 0), (0, 3), (3, 0)])
def test_empty_sides_only_appear_or_disappear(n_mothers: int, n_daughters: int) -> None:
    problem = Problem([], [], [], n_mothers, n_daughters, appear=2.0, disappear=5.0)
    solution = solve(problem)
    assert solution.cost == 2.0 * n_daughters + 5.0 * n_mothers
    assert solution.edge.tolist() == [-1] * n_daughters


def test_a_dividing_cost_is_refused() -> None:
    problem = Problem([0], [0], [1.0], 1, 1, dividing_cost=[1.0])
    with pytest.raises(ProblemError, match="solve cannot take a dividing_cost"):
        solve(problem)


def test_what_is_not_convex_is_refused_by_name() -> None:
    problem = Problem([0], [0], [1.0], 2, 1, disappear=[1.0, 1.0], divide=[0.0, -1.5])
    with pytest.raises(ProblemError, match=r"mother 1 has divide -1.5"):
        solve(problem)


@pytest.mark.parametrize("size", [1e308, -1e308, 2e12])
def test_costs_whose_sums_would_lose_their_digits_are_refused(size: float) -> None:
    with pytest.raises(ProblemError, match="cost holds .*; expected costs up to 1e.12, or inf"):
        Problem([0], [0], [size], 1, 1)
    with pytest.raises(ProblemError, match="appear holds"):
        Problem([0], [0], [1.0], 1, 1, appear=size)


@pytest.mark.parametrize("n", [2**63, 2**62, 10**9])
def test_more_cells_than_there_can_be_are_refused(n: int) -> None:
    with pytest.raises(ProblemError, match=f"n_daughters is {n}; expected at most 100,000,000 cells"):
        Problem([0], [0], [1.0], 1, n)
