"""Samples are the posterior's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from benchmarks.frames import colony, nearest_edges, scatter
from dunno.assignment import Problem, Samples, marginals, sample
from dunno.assignment.sample import autocorrelation_time, sample_costs
from dunno.errors import ProblemError

from .brute_force import enumerate_assignments
from .problems import examples, problems

some = examples(100)


def assert_assignments(problem: Problem, edge: NDArray[np.int64]) -> None:
    assert ((edge >= -1) & (edge < len(problem.cost))).all()
    for chosen in edge:
        daughter = np.flatnonzero(chosen >= 0)
        links = chosen[daughter]
        assert (problem.daughter[links] == daughter).all()
        assert (np.bincount(problem.mother[links], minlength=1) <= 2).all()


def frequencies(problem: Problem, edge: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.bincount(edge[edge >= 0], minlength=len(problem.cost)) / len(edge)


@some
@given(problems(), st.integers(0, 2**40))
def test_small_problems_are_sampled_exactly(problem: Problem, seed: int) -> None:
    samples = sample(problem, 2000, seed, report=True)
    assert samples.exact and samples.effective_size == 2000
    assert_assignments(problem, samples.edge[:50])
    every = enumerate_assignments(problem)
    counts = {tuple(chosen): 0 for chosen in every.edge}
    for chosen in samples.edge:
        counts[tuple(chosen)] += 1  # a KeyError would be an assignment that is none
    found = np.array(list(counts.values())) / 2000
    deviation = np.sqrt(every.probability * (1 - every.probability) / 2000)
    assert (np.abs(found - every.probability) <= 6 * deviation + 3 / 2000).all()


@pytest.mark.parametrize("dividing_cost", [False, True])
@pytest.mark.parametrize("motion", [0.2, 0.5, 1.0])
def test_the_chain_agrees_with_the_exact_marginals(motion: float, dividing_cost: bool) -> None:
    problem = colony(3, 14, motion, seed=5, candidates=9, dividing_cost=dividing_cost)
    exact = marginals(problem, "exact")
    samples = sample(problem, 4000, seed=1, report=True)
    assert not samples.exact
    assert 100 < samples.effective_size <= 4000
    assert_assignments(problem, samples.edge[::100])
    deviation = np.sqrt(exact.edge * (1 - exact.edge) / samples.effective_size)
    assert (np.abs(frequencies(problem, samples.edge) - exact.edge) <= 5 * deviation + 0.005).all()
    np.testing.assert_allclose((samples.edge < 0).mean(axis=0), exact.appear, atol=0.05)
    load = np.array([np.bincount(problem.mother[s[s >= 0]], minlength=problem.n_mothers) for s in samples.edge])
    np.testing.assert_allclose((load == 2).mean(axis=0), exact.divide, atol=0.05)


@pytest.mark.parametrize("frame", ["colony", "scatter"])
def test_samples_of_a_large_frame_are_worth_a_third_of_their_number(frame: str) -> None:
    problem = colony(32, 32, 0.5, seed=1) if frame == "colony" else scatter(1000, 0.5)
    samples = sample(problem, 600, seed=0, report=True)
    assert not samples.exact
    assert samples.effective_size > 200


def test_where_every_mother_is_a_candidate_only_what_can_be_drawn_is_looked_at() -> None:
    problem = colony(6, 8, 0.35, seed=3, candidates=48)
    assert len(problem.mother) == 48 * problem.n_daughters
    samples = sample(problem, 4000, seed=1, report=True)
    assert_assignments(problem, samples.edge[::100])
    found = marginals(problem).edge
    deviation = np.sqrt(found * (1 - found) / samples.effective_size)
    assert (np.abs(frequencies(problem, samples.edge) - found) <= 5 * deviation + 0.02).all()


@pytest.mark.parametrize("seed", range(3))
def test_cells_that_only_change_places_along_cycles_are_sampled(seed: int) -> None:
    rng = np.random.default_rng(seed)
    before = rng.uniform([0, 0], [4, 10], (40, 2))
    edges = nearest_edges(before, before + rng.normal(0, 0.5, before.shape), 0.5, candidates=9)
    problem = Problem(*edges, 40, 40, appear=15.0, disappear=15.0)
    exact = marginals(problem, "exact")
    samples = sample(problem, 4000, seed, report=True)
    assert not samples.exact
    assert samples.effective_size > 1000
    deviation = np.sqrt(exact.edge * (1 - exact.edge) / samples.effective_size)
    assert (np.abs(frequencies(problem, samples.edge) - exact.edge) <= 5 * deviation + 0.005).all()


def test_a_mother_who_can_only_divide_is_sampled() -> None:
    alone = [np.inf, np.inf, 0.0]
    problem = Problem([0, 0, 1], [0, 1, 2], alone, 2, 3, 0.0, 0.0, 0.0, dividing_cost=[0.0, 0.0, 0.0])
    edge = sample(problem, 1000, seed=0)
    assert np.mean(edge[:, 0] == 0) == pytest.approx(0.5, abs=0.1)
    assert ((edge[:, 0] == 0) == (edge[:, 1] == 1)).all()


def test_costs_beyond_the_range_of_doubles_are_sampled() -> None:
    appear = [3000.0, 3000.0, 3001.0]
    problem = Problem([0, 0, 0], [0, 1, 2], np.zeros(3), 1, 3, appear, divide=-1.0, disappear=0.5)
    edge = sample(problem, 4000, seed=0)
    np.testing.assert_allclose((edge < 0).mean(axis=0), marginals(problem).appear, atol=0.05)


def test_a_seed_repeats_and_another_differs() -> None:
    for problem in [colony(3, 4, 0.5, seed=0, candidates=4), colony(12, 12, 0.5, seed=0)]:
        assert (sample(problem, 20, seed=7) == sample(problem, 20, seed=7)).all()
        assert (sample(problem, 20, seed=7) != sample(problem, 20, seed=8)).any()


@pytest.mark.parametrize(("m", "n"), [(0, 0), (0, 3), (3, 0), (2, 2)])
def test_without_edges_everybody_appears(m: int, n: int) -> None:
    edge = sample(Problem([], [], [], m, n), 5, seed=0)
    assert edge.shape == (5, n) and edge.dtype == np.int64
    assert (edge == -1).all()


def test_no_samples_are_an_empty_array() -> None:
    problem = colony(12, 12, 0.5, seed=0)
    samples = sample(problem, 0, seed=0, report=True)
    assert isinstance(samples, Samples)
    assert samples.edge.shape == (0, problem.n_daughters)
    assert samples.effective_size == 0


@pytest.mark.parametrize(("n", "seed"), [(-1, 0), (2.0, 0), (True, 0), (1, -1), (1, 0.5), (1, None)])
def test_wrong_arguments_are_refused(n: object, seed: object) -> None:
    with pytest.raises(ProblemError, match="expected a whole number"):
        sample(Problem([], [], [], 0, 0), n, seed)  # type: ignore[call-overload]


@some
@given(problems(infinite=False))
def test_the_cost_of_samples_is_that_of_assignments(problem: Problem) -> None:
    every = enumerate_assignments(problem)
    np.testing.assert_allclose(sample_costs(problem, every.edge), every.cost, atol=1e-9)


def test_the_autocorrelation_time_of_a_known_process() -> None:
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(20000, 2))
    series = noise.copy()
    for t in range(1, len(series)):
        series[t, 1] = 0.8 * series[t - 1, 1] + noise[t, 1]
    independent, correlated = autocorrelation_time(series)
    assert independent == pytest.approx(1, abs=0.2)
    assert correlated == pytest.approx((1 + 0.8) / (1 - 0.8), rel=0.2)
