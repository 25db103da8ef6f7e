"""A batch gives what its problems give one by one."""

import os
import signal
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dunno.assignment import Problem, solve, solve_batch
from dunno.errors import ProblemError

from .brute_force import cost_of
from .problems import examples, flows, frame, scale_of, with_cost


def assert_equal_to_one_by_one(problem: Problem, costs: np.ndarray) -> None:
    batch = solve_batch(problem, costs)
    assert batch.edge.shape == (len(costs), problem.n_daughters)
    for row, cost in enumerate(costs):
        alone = with_cost(problem, cost)
        tolerance = 1e-12 * scale_of(alone)
        assert batch.cost[row] == pytest.approx(solve(alone).cost, abs=tolerance, rel=1e-12)
        assert cost_of(alone, batch.edge[row]) == pytest.approx(batch.cost[row], abs=tolerance, rel=1e-12)


@examples(1000)
@given(flows(n_most=7), st.integers(0, 2**32 - 1))
def test_each_row_is_solved_exactly(problem: Problem, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_edges, scale = len(problem.cost), scale_of(problem)
    rows = [
        problem.cost,
        problem.cost + scale * rng.integers(-2, 3, n_edges),
        problem.cost + 0.01 * scale * rng.normal(size=n_edges),
        rng.permutation(problem.cost),
        np.where(rng.random(n_edges) < 0.5, np.inf, problem.cost),
        np.full(n_edges, np.inf),
        np.where(np.isinf(problem.cost), -scale, problem.cost),
    ]
    assert_equal_to_one_by_one(problem, np.array(rows))


@pytest.mark.parametrize("sigma", [0.2, 0.5, 1.0])
@pytest.mark.parametrize("noise", [0.1, 1.0, 10.0])
def test_each_row_of_a_large_frame_is_solved_exactly(sigma: float, noise: float) -> None:
    problem = frame(300, sigma, seed=3)
    rng = np.random.default_rng(4)
    assert_equal_to_one_by_one(problem, problem.cost + rng.normal(0, noise, (10, len(problem.cost))))


def test_rows_may_have_costs_of_very_different_size() -> None:
    problem = frame(50, 0.5, seed=5)
    tiny = Problem(
        problem.mother, problem.daughter, -1e9 * problem.cost, 50, 50, appear=1e-9, disappear=2e-9, divide=0.0
    )
    assert_equal_to_one_by_one(tiny, problem.cost * np.array([[-1e9], [1e-9], [-1e-9], [1e9], [1.0]]))


def test_an_edge_that_the_problem_lacks_may_exist_in_a_row() -> None:
    problem = Problem([0, 0], [0, 1], [np.inf, 1.0], n_mothers=1, n_daughters=2, appear=9.0)
    assert solve_batch(problem, [[1.0, np.inf], [np.inf, 1.0]]).edge.tolist() == [[0, -1], [-1, 1]]


def test_no_rows_give_no_solutions() -> None:
    batch = solve_batch(frame(10, 0.5, seed=0), np.zeros((0, 100)))
    assert batch.cost.shape == (0,)
    assert batch.edge.shape == (0, 10)


def test_a_row_does_not_depend_on_the_rows_around_it() -> None:
    problem = frame(100, 0.5, seed=6)
    costs = problem.cost + np.random.default_rng(7).normal(size=(20, len(problem.cost)))
    backwards = solve_batch(problem, costs[::-1])
    np.testing.assert_array_equal(solve_batch(problem, costs).edge, backwards.edge[::-1])


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ([1.0, 2.0], r"shape \(2,\); expected \(K, 2\)"),
        ([[1.0, 2.0, 3.0]], r"shape \(1, 3\); expected \(K, 2\)"),
        ([["a", "b"]], "expected numbers"),
        ([[1.0, 2.0], [np.nan, 1.0]], r"costs\[1, 0\] is nan"),
        ([[1.0, -np.inf]], r"costs\[0, 1\] is -inf"),
        ([[1.0, 1e13]], "costs holds 1e.13; expected costs up to 1e.12, or inf"),
        ([[True, False]], "expected numbers"),
    ],
)
def test_bad_costs_are_refused(costs: object, message: str) -> None:
    problem = Problem([0, 0], [0, 1], [1.0, 1.0], n_mothers=1, n_daughters=2)
    with pytest.raises(ProblemError, match=message):
        solve_batch(problem, costs)


def test_what_is_no_linear_assignment_is_refused() -> None:
    with pytest.raises(ProblemError, match="solve_batch needs divide >= -disappear"):
        solve_batch(Problem([0], [0], [1.0], 1, 1, divide=-3.0), [[1.0]])
    with pytest.raises(ProblemError, match="solve_batch cannot take a dividing_cost"):
        solve_batch(Problem([0], [0], [1.0], 1, 1, dividing_cost=[1.0]), [[1.0]])


def test_ctrl_c_ends_it() -> None:
    problem = frame(1000, 1.0, seed=8)
    costs = np.random.default_rng(9).normal(0, 1.0, (3000, len(problem.cost)))
    timer = threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        solve_batch(problem, costs)
