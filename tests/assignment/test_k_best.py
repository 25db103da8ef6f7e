"""The K best are the K best: against brute force, a plain Murty, Gurobi, and themselves."""

import os
import signal
import threading
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from benchmarks.peers import gurobi_pool
from dunno import _core
from dunno.assignment import KBest, Problem, k_best, solve
from dunno.errors import ProblemError

from .brute_force import cost_of, enumerate_assignments
from .problems import examples, flows, frame, permuted, scale_of, scaled, with_more_for_one


def assert_consistent(problem: Problem, best: KBest) -> None:
    """Valid, distinct, ascending, with the costs that the edges add up to; ties as documented."""
    tolerance = 1e-12 * scale_of(problem) * max(1, problem.n_daughters)
    recomputed = [cost_of(problem, edge) for edge in best.edge]
    np.testing.assert_allclose(best.cost, recomputed, rtol=1e-12, atol=tolerance)
    rows = [tuple(edge) for edge in best.edge]
    assert len(set(rows)) == len(rows)
    assert (np.diff(best.cost) >= 0).all()
    for (cost, row), (next_cost, next_row) in pairwise(zip(best.cost[1:], rows[1:], strict=True)):
        assert cost < next_cost or row < next_row


@examples(2000)
@given(flows(), st.data())
def test_k_best_equals_brute_force_down_to_the_last_assignment(problem: Problem, data: st.DataObject) -> None:
    every = enumerate_assignments(problem)
    costs, edges = every.cost, every.edge
    k = data.draw(st.sampled_from([len(costs) + 2, len(costs), max(1, len(costs) // 2), 3, 1]))
    best = k_best(problem, k)
    tolerance = 1e-12 * scale_of(problem) * max(1, problem.n_daughters)
    assert len(best) == min(k, len(costs))
    np.testing.assert_allclose(best.cost, costs[: len(best)], rtol=1e-12, atol=tolerance)
    assert_consistent(problem, best)
    if k >= len(costs):
        assert {tuple(edge) for edge in best.edge} == {tuple(edge) for edge in edges}


@examples(500)
@given(flows(kinds=("zero-one", "tied", "integer")))
def test_ties_are_in_lexicographic_order_after_the_map(problem: Problem) -> None:
    assume(scale_of(problem) >= 1.0)  # whole numbers add up without rounding
    edges = enumerate_assignments(problem).edge
    best = k_best(problem, len(edges))
    first = solve(problem).edge
    others = [edge for edge in edges.tolist() if edge != first.tolist()]
    assert best.edge.tolist() == [first.tolist(), *others]


@pytest.mark.parametrize("whole_numbers", [False, True])
@pytest.mark.parametrize("sigma", [0.2, 0.5, 1.0])
@pytest.mark.parametrize(("n", "k"), [(30, 300), (200, 50), (1000, 20)])
def test_freezing_changes_nothing(n: int, k: int, sigma: float, whole_numbers: bool) -> None:
    problem = frame(n, sigma, seed=n + k, whole_numbers=whole_numbers)
    fast, plain = k_best(problem, k), KBest(*_core.k_best(problem.core, k, False))
    assert_consistent(problem, fast)
    assert_consistent(problem, plain)
    np.testing.assert_allclose(fast.cost, plain.cost, rtol=1e-12)
    if not whole_numbers:
        np.testing.assert_array_equal(fast.edge, plain.edge)


def test_prices_that_are_all_zero_do_not_stall_it() -> None:
    problem = Problem([0] * 5, [4, 0, 1, 2, 3], [0.0, 1.0, 0.0, 0.0, 1.0], 1, 5, appear=0.0, disappear=0.0, divide=1.0)
    costs = enumerate_assignments(problem).cost
    for k in range(1, len(costs) + 2):
        np.testing.assert_array_equal(k_best(problem, k).cost, costs[:k])


def test_the_first_is_what_solve_finds() -> None:
    problem = frame(200, 0.5, seed=2)
    best, solution = k_best(problem, 5), solve(problem)
    np.testing.assert_array_equal(best.edge[0], solution.edge)
    assert best.cost[0] == solution.cost


def test_more_assignments_begin_with_the_same_ones() -> None:
    problem = frame(100, 0.5, seed=3)
    few, many = k_best(problem, 10), k_best(problem, 1000)
    np.testing.assert_array_equal(few.edge, many.edge[:10])


def test_differences_describe_the_same_assignments() -> None:
    best = k_best(frame(100, 0.5, seed=4), 50)
    for r in range(len(best)):
        differences = slice(best.start[r], best.start[r + 1])
        changed = np.flatnonzero(best.edge[r] != best.map_edge)
        np.testing.assert_array_equal(best.daughter[differences], changed)
        np.testing.assert_array_equal(best.daughter_edge[differences], best.edge[r][changed])
    assert best.start[1] == 0


@examples(200)
@given(flows(kinds=("real", "positive")), st.integers(0, 2**32 - 1))
def test_the_order_of_detections_and_edges_does_not_matter(problem: Problem, seed: int) -> None:
    shuffled, _, daughters, edges = permuted(problem, np.random.default_rng(seed))
    best, other = k_best(problem, 20), k_best(shuffled, 20)
    tolerance = 1e-11 * scale_of(problem)
    np.testing.assert_allclose(best.cost, other.cost, rtol=1e-11, atol=tolerance)
    if len(best) == len(other) and (np.diff(best.cost) > 2 * tolerance).all():  # the last one may be tied
        restored = np.where(other.edge >= 0, np.append(edges, -1)[other.edge], -1)[:, np.argsort(daughters)]
        np.testing.assert_array_equal(best.edge[:-1], restored[:-1])


def test_scaling_all_costs_scales_the_result() -> None:
    problem = frame(100, 0.5, seed=5)
    best = k_best(problem, 100)
    for factor in (2.0**-30, 2.0**30):
        larger = k_best(scaled(problem, factor), 100)
        np.testing.assert_array_equal(larger.edge, best.edge)
        np.testing.assert_allclose(larger.cost, best.cost * factor, rtol=1e-12)


def test_adding_to_all_that_a_daughter_can_do_shifts_all_costs() -> None:
    problem = frame(100, 0.5, seed=6)
    best = k_best(problem, 100)
    shifted = k_best(with_more_for_one(problem, 7, 3.0), 100)
    np.testing.assert_array_equal(shifted.edge, best.edge)
    np.testing.assert_allclose(shifted.cost, best.cost + 3.0, rtol=1e-12)


@pytest.mark.parametrize(("n_mothers", "n_daughters"), [(0, 0), (0, 3), (3, 0), (2, 2)])
def test_without_edges_there_is_one_assignment(n_mothers: int, n_daughters: int) -> None:
    best = k_best(Problem([], [], [], n_mothers, n_daughters), 10)
    assert best.edge.tolist() == [[-1] * n_daughters]


def test_a_division_is_returned_once() -> None:
    best = k_best(Problem([0, 0], [0, 1], [1.0, 1.0], n_mothers=1, n_daughters=2), 10)
    assert sorted(map(tuple, best.edge.tolist())) == [(-1, -1), (-1, 1), (0, -1), (0, 1)]


@pytest.mark.parametrize("k", [0, -1, 1.0, True, "3", None])
def test_k_must_be_a_whole_number_from_one(k: object) -> None:
    with pytest.raises(ProblemError, match="at least 1"):
        k_best(Problem([0], [0], [1.0], 1, 1), k)


def test_k_may_be_a_numpy_integer_or_enormous() -> None:
    problem = Problem([0], [0], [1.0], 1, 1)
    assert len(k_best(problem, np.int32(2))) == 2
    assert len(k_best(problem, 10**30)) == 2


def test_what_is_no_linear_assignment_is_refused() -> None:
    with pytest.raises(ProblemError, match="k_best needs divide >= -disappear"):
        k_best(Problem([0], [0], [1.0], 1, 1, divide=-3.0), 2)
    with pytest.raises(ProblemError, match="k_best cannot take a dividing_cost"):
        k_best(Problem([0], [0], [1.0], 1, 1, dividing_cost=[1.0]), 2)


def test_a_request_to_stop_ends_it() -> None:
    problem = frame(60, 1.0, seed=7, whole_numbers=True)
    timer = threading.Timer(0.2, _core.request_stop, [True])
    timer.start()
    try:
        with pytest.raises(_core.Stopped):
            k_best(problem, 10**9)
    finally:
        timer.join()
        _core.request_stop(False)


def test_ctrl_c_ends_it() -> None:
    problem = frame(60, 1.0, seed=7, whole_numbers=True)
    timer = threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        k_best(problem, 10**9)


@pytest.mark.parametrize("seed", range(3))
def test_k_best_equals_gurobis_pool(seed: int) -> None:
    pytest.importorskip("gurobipy", reason="pip install gurobipy, an independent oracle")
    problem = frame(40, 0.5, seed=seed, n_nearest=8)
    np.testing.assert_allclose(k_best(problem, 200).cost, gurobi_pool(problem, 200), atol=1e-5)
