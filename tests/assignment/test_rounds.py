"""Rounds keep what outlives a change of the costs, and find the same marginals."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.frames import colony
from dunno.assignment import Marginals, Problem, Rounds, marginals
from dunno.assignment.marginals import Method
from dunno.errors import ProblemError

from .problems import examples, problems, problems_with_triples, scaled
from .test_marginals import FIELDS, assert_consistent, assert_equal, uncertain_error


def assert_same(found: Marginals, expected: Marginals) -> None:
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    assert found.log_evidence == expected.log_evidence
    assert found.exact == expected.exact


def shaken(problem: Problem, rng: np.random.Generator, noise: float) -> Problem:
    """The same edges with noise on all costs."""

    def with_noise(cost: np.ndarray) -> np.ndarray:
        return cost + noise * rng.normal(size=len(cost))

    events = with_noise(problem.appear), with_noise(problem.disappear), with_noise(problem.divide)
    dividing = None if problem.dividing_cost is None else with_noise(problem.dividing_cost)
    triples = None if problem.triples is None else replace(problem.triples, cost=with_noise(problem.triples.cost))
    ends, sizes = (problem.mother, problem.daughter), (problem.n_mothers, problem.n_daughters)
    return Problem(*ends, with_noise(problem.cost), *sizes, *events, dividing, triples)


@pytest.mark.parametrize("triples", [False, True])
@pytest.mark.parametrize("method", ["auto", "rough", "bp"])
def test_the_first_round_is_a_single_call_to_the_bit(method: Method, triples: bool) -> None:
    problem = colony(8, 8, 0.5, seed=1, triples=triples)
    assert_same(Rounds().marginals(problem, method), marginals(problem, method))


@examples(200)
@given(problems(infinite=False), st.integers(0, 2**32 - 1))
def test_later_rounds_are_exact_where_sums_fit(problem: Problem, seed: int) -> None:
    rounds, rng = Rounds(), np.random.default_rng(seed)
    for noise in (0.0, 0.1, 3.0):
        problem = shaken(problem, rng, noise)
        found, expected = rounds.marginals(problem), marginals(problem, "exact")
        assert_equal(found, expected, 1e-9)
        np.testing.assert_allclose(found.log_evidence, expected.log_evidence, rtol=1e-9, atol=1e-9)


@examples(100)
@given(problems_with_triples(infinite=False), st.integers(0, 2**32 - 1))
def test_later_rounds_know_of_triples(problem: Problem, seed: int) -> None:
    rounds, rng = Rounds(), np.random.default_rng(seed)
    for noise in (0.0, 0.1, 3.0):
        problem = shaken(problem, rng, noise)
        found, expected = rounds.marginals(problem), marginals(problem, "exact")
        assert_equal(found, expected, 1e-9)
        assert found.triple is not None and expected.triple is not None
        np.testing.assert_allclose(found.triple, expected.triple, rtol=0, atol=1e-9)


@pytest.mark.parametrize("triples", [False, True])
@pytest.mark.parametrize("motion", [0.2, 0.5, 1.0])
def test_later_rough_rounds_are_nearer_to_where_messages_settle(motion: float, triples: bool) -> None:
    problem, rng = colony(12, 12, motion, seed=2, triples=triples), np.random.default_rng(0)
    rounds, again, once = Rounds(), [], []
    for noise in (0.0, 0.1, 0.1, 0.1):
        problem = shaken(problem, rng, noise)
        settled, found = marginals(problem, "bp"), rounds.marginals(problem, "rough")
        assert_consistent(problem, found)
        again.append(uncertain_error(found, settled))
        once.append(uncertain_error(marginals(problem, "rough"), settled))
    assert again[0] == once[0]
    assert np.mean(again[1:]) < max(np.mean(once[1:]), 1e-3)


@pytest.mark.parametrize("noise", [0.05, 0.5, 2.0])
@pytest.mark.parametrize("motion", [0.2, 0.5, 1.0])
def test_later_rounds_are_as_close_to_exact_sums_as_single_calls(motion: float, noise: float) -> None:
    again, once = [], []
    for seed in range(2):
        problem, rng, rounds = colony(3, 14, motion, seed, candidates=9), np.random.default_rng(seed), Rounds()
        rounds.marginals(problem)
        for _ in range(4):
            problem = shaken(problem, rng, noise)
            exact, found = marginals(problem, "exact"), rounds.marginals(problem)
            assert_consistent(problem, found)
            again.append(uncertain_error(found, exact))
            once.append(uncertain_error(marginals(problem), exact))
    assert np.mean(again) < 1.25 * np.mean(once) + 1e-3


def test_clusters_are_chosen_anew_where_costs_have_changed_altogether() -> None:
    """Otherwise they would join cells that have nothing to do with each other any more."""
    problem, rng, rounds = colony(3, 14, 0.5, 0, candidates=9), np.random.default_rng(1), Rounds()
    rounds.marginals(problem)
    other = shaken(problem, rng, 10.0)
    exact = marginals(other, "exact")
    assert uncertain_error(rounds.marginals(other), exact) < uncertain_error(marginals(other), exact) + 0.005


def test_costs_far_from_the_last_ones_are_weighed_beyond_the_range_of_doubles() -> None:
    problem, rounds = colony(6, 6, 0.5, seed=1), Rounds()
    rounds.marginals(problem)
    for far in (scaled(problem, 1e6), scaled(problem, -1e6), problem):
        assert_equal(rounds.marginals(far), marginals(far), 0.05)


def test_other_edges_are_other_problems() -> None:
    one, other, rounds = colony(5, 5, 0.5, seed=1), colony(5, 5, 0.5, seed=2), Rounds()
    absent = np.where(np.arange(len(one.cost)) % 7 == 0, np.inf, one.cost)
    events = (one.appear, one.disappear, one.divide)
    fewer = Problem(one.mother, one.daughter, absent, one.n_mothers, one.n_daughters, *events)
    for problem in (one, other, fewer):
        assert_same(rounds.marginals(problem, "rough"), marginals(problem, "rough"))


def test_edges_that_were_long_ago_are_forgotten() -> None:
    first, rounds = colony(4, 4, 0.5, seed=0), Rounds()
    single = rounds.marginals(first, "rough")
    assert np.any(rounds.marginals(first, "rough").edge != single.edge)
    for seed in range(1, 9):
        rounds.marginals(colony(4, 4, 0.5, seed), "rough")
    assert_same(rounds.marginals(first, "rough"), single)


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(ProblemError, match="method is 'best'"):
        Rounds().marginals(colony(3, 3, 0.5, seed=0), "best")  # type: ignore[arg-type]
