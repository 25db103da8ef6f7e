"""Divisions into particular pairs of daughters cost something of their own."""

import pickle
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from benchmarks.frames import colony
from dunno.assignment import (
    Marginals,
    Problem,
    Triples,
    decide,
    every_pair,
    k_best,
    marginals,
    sample,
    solve,
    solve_batch,
)
from dunno.assignment.sample import sample_costs
from dunno.errors import ProblemError

from .brute_force import chosen_triples, enumerate_assignments, expected_marginals
from .problems import examples, permuted, problems, problems_with_triples, random_triples, scaled, trees, with_triples
from .test_marginals import FIELDS, assert_consistent, assert_equal, uncertain_error
from .test_sample import assert_assignments, frequencies

many, some = examples(700), examples(200)

# One mother, three daughters, everything else free: its loads weigh 1 (none), 3 (one) and 3 (two).
THREE = Problem([0, 0, 0], [0, 1, 2], np.zeros(3), 1, 3, appear=0.0, disappear=0.0)


def assert_all_equal(found: Marginals, expected: Marginals, tolerance: float) -> None:
    assert_equal(found, expected, tolerance)
    assert found.triple is not None and expected.triple is not None
    np.testing.assert_allclose(found.triple, expected.triple, rtol=0, atol=tolerance, err_msg="triple")


def assert_triples_consistent(problem: Problem, found: Marginals) -> None:
    """All pairs are listed: theirs sum to the mother's probability to divide."""
    assert problem.triples is not None and found.triple is not None
    assert (found.triple >= 0).all() and (found.triple <= 1 + 1e-12).all()
    mother = problem.mother[problem.triples.first_edge]
    listed = np.bincount(mother, found.triple, minlength=problem.n_mothers)
    np.testing.assert_allclose(listed, found.divide, rtol=0, atol=1e-9)


def test_a_triple_changes_the_weight_of_its_division_alone() -> None:
    found = marginals(with_triples(THREE, Triples([0], [2], [-np.log(5)])))  # type: ignore[arg-type]
    total = 1 + 3 + 1 + 1 + 5
    assert found.exact
    assert found.triple == pytest.approx([5 / total])
    assert found.divide == pytest.approx([7 / total])
    assert found.edge == pytest.approx([7 / total, 3 / total, 7 / total])
    assert found.edge_dividing == pytest.approx([6 / total, 2 / total, 6 / total])


def test_a_triple_of_no_cost_still_has_a_probability() -> None:
    found = marginals(with_triples(THREE, Triples([1], [0], [0.0])))  # type: ignore[arg-type]
    assert found.triple == pytest.approx([1 / 7])


def test_without_triples_there_are_no_probabilities_of_them() -> None:
    assert marginals(THREE).triple is None
    assert marginals(with_triples(THREE, Triples([], [], []))).triple.shape == (0,)  # type: ignore[arg-type, union-attr]


@many
@given(problems_with_triples())
def test_exact_equals_the_sum_over_all_assignments(problem: Problem) -> None:
    expected, found = expected_marginals(problem), marginals(problem, "exact")
    assert found.exact
    assert_all_equal(found, expected, 1e-12)
    assert found.log_evidence == pytest.approx(expected.log_evidence, rel=1e-12, abs=1e-12)
    assert_consistent(problem, found)


@many
@given(problems_with_triples(most=3, most_daughters=5, fewest=2, infinite=False))
def test_exact_equals_the_sum_where_mothers_have_many_daughters(problem: Problem) -> None:
    assert_all_equal(marginals(problem, "exact"), expected_marginals(problem), 1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_auto_is_exact_on_small_problems(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(20):
        m, n = rng.integers(1, 5, 2)
        daughter, mother = np.nonzero(rng.random((n, m)) < 0.8)
        events = rng.normal(size=n), rng.normal(size=m), rng.normal(size=m)
        plain = Problem(mother, daughter, rng.normal(size=len(mother)), m, n, *events)
        problem = with_triples(plain, random_triples(plain, rng, impossible=0.1))
        found = marginals(problem)
        assert found.exact
        assert_all_equal(found, expected_marginals(problem), 1e-12)
        assert_triples_consistent(problem, found)


@some
@given(trees(), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.2]))
def test_belief_propagation_is_exact_on_trees(tree: Problem, seed: int, impossible: float) -> None:
    problem = with_triples(tree, random_triples(tree, np.random.default_rng(seed), impossible=impossible))
    expected, found = expected_marginals(problem), marginals(problem, "bp")
    assert_all_equal(found, expected, 1e-9)
    assert found.log_evidence == pytest.approx(expected.log_evidence, abs=1e-9)


@some
@given(problems_with_triples())
def test_belief_propagation_is_consistent(problem: Problem) -> None:
    assert_consistent(problem, marginals(problem, "bp"))


@some
@given(problems())
def test_triples_of_no_cost_change_nothing_to_the_bit(problem: Problem) -> None:
    first, second = every_pair(problem.mother)
    nothing = with_triples(problem, Triples(first, second, np.zeros(len(first))))
    for method in ("exact", "bp"):
        before, after = marginals(problem, method), marginals(nothing, method)  # type: ignore[arg-type]
        for name in [*FIELDS, "log_evidence"]:
            np.testing.assert_array_equal(getattr(before, name), getattr(after, name), err_msg=name)
    np.testing.assert_array_equal(sample(problem, 20, seed=1), sample(nothing, 20, seed=1))


def test_triples_of_no_cost_change_nothing_to_the_bit_where_clusters_are_summed() -> None:
    problem = colony(12, 12, 0.5, seed=3)
    first, second = every_pair(problem.mother)
    nothing = with_triples(problem, Triples(first, second, np.zeros(len(first))))
    before, after = marginals(problem), marginals(nothing)
    assert not before.exact
    for name in [*FIELDS, "log_evidence"]:
        np.testing.assert_array_equal(getattr(before, name), getattr(after, name), err_msg=name)
    assert_triples_consistent(nothing, after)
    np.testing.assert_array_equal(sample(problem, 5, seed=1), sample(nothing, 5, seed=1))


@some
@given(problems(infinite=False), st.floats(-5, 5), st.integers(0, 2**32 - 1))
def test_a_constant_on_all_pairs_of_a_mother_is_the_same_on_her_divide(
    problem: Problem, constant: float, seed: int
) -> None:
    first, second = every_pair(problem.mother)
    own = np.random.default_rng(seed).random(problem.n_mothers) < 0.5
    listed = own[problem.mother[first]]
    triples = Triples(first[listed], second[listed], np.full(listed.sum(), constant))
    ends = (problem.mother, problem.daughter, problem.cost, problem.n_mothers, problem.n_daughters)
    divide = problem.divide + constant * own
    other = Problem(*ends, problem.appear, problem.disappear, divide, problem.dividing_cost)
    found, expected = marginals(with_triples(problem, triples)), marginals(other)
    assert_equal(found, expected, 1e-12)
    assert found.log_evidence == pytest.approx(expected.log_evidence, abs=1e-10)


@some
@given(problems(infinite=False), st.integers(0, 2**32 - 1))
def test_triples_that_are_sums_over_edges_are_a_dividing_cost(problem: Problem, seed: int) -> None:
    extra = np.random.default_rng(seed).normal(0, 2, len(problem.cost))
    first, second = every_pair(problem.mother)
    dividing = problem.cost if problem.dividing_cost is None else problem.dividing_cost
    ends = (problem.mother, problem.daughter, problem.cost, problem.n_mothers, problem.n_daughters)
    other = Problem(*ends, problem.appear, problem.disappear, problem.divide, dividing + extra)
    found = marginals(with_triples(problem, Triples(first, second, extra[first] + extra[second])))
    assert_equal(found, marginals(other), 1e-12)


@some
@given(problems_with_triples(infinite=False), st.integers(0, 2**32 - 1))
def test_the_order_of_cells_edges_and_triples_does_not_matter(problem: Problem, seed: int) -> None:
    shuffled, mothers, daughters, edges = permuted(problem, np.random.default_rng(seed))
    before, after = marginals(problem), marginals(shuffled)
    np.testing.assert_allclose(after.edge, before.edge[edges], atol=1e-12)
    np.testing.assert_allclose(after.appear, before.appear[daughters], atol=1e-12)
    np.testing.assert_allclose(after.divide, before.divide[mothers], atol=1e-12)
    np.testing.assert_allclose(after.triple, before.triple, atol=1e-12)  # type: ignore[arg-type]
    assert after.log_evidence == pytest.approx(before.log_evidence, abs=1e-10)


@some
@given(problems_with_triples(infinite=False), st.sampled_from([1e-9, 1e-3, 1e3, 1e6, 1e9]))
def test_extreme_costs_give_probabilities(problem: Problem, scale: float) -> None:
    extreme = scaled(problem, scale)
    assert_consistent(extreme, marginals(extreme, "bp"))
    assert_all_equal(marginals(extreme, "exact"), expected_marginals(extreme), max(1e-12, 1e-15 * scale))


@some
@given(problems(infinite=False), st.sampled_from([250.0, 1e3, 1e6, 1e9]), st.integers(0, 2**32 - 1))
def test_extreme_triples_among_ordinary_costs_are_weighed(problem: Problem, scale: float, seed: int) -> None:
    """Some divisions are beyond all doubt, others beyond the range of doubles; ratios among equals stay what they are."""
    rng = np.random.default_rng(seed)
    triples = random_triples(problem, rng, "real")
    steps = rng.integers(-1, 2, len(triples)) * scale
    extreme = with_triples(problem, Triples(triples.first_edge, triples.second_edge, triples.cost + steps))
    assert_all_equal(marginals(extreme, "exact"), expected_marginals(extreme), max(1e-12, 1e-14 * scale))
    assert_consistent(extreme, marginals(extreme, "bp"))


def test_divisions_that_all_cost_thousands_are_weighed_beyond_the_range_of_doubles() -> None:
    # It cannot but divide: its daughters cannot appear at less than 1e4. Two of the three pairs cost 3000 and 3001.
    triples = Triples([0, 0, 1], [1, 2, 2], [3000.0, 3001.0, 9000.0])  # type: ignore[arg-type]
    events = {"appear": [1e4, 2.0, 2.0], "disappear": 0.0, "divide": 0.0}
    single = [np.inf, np.inf, np.inf]
    problem = Problem([0, 0, 0], [0, 1, 2], single, 1, 3, **events, dividing_cost=np.zeros(3), triples=triples)
    expected = expected_marginals(problem)
    assert expected.triple is not None and expected.triple[0] == pytest.approx(1 / (1 + np.exp(-1)), abs=1e-6)
    for method in ("exact", "bp", "auto"):
        assert_all_equal(marginals(problem, method), expected, 1e-10)  # type: ignore[arg-type]
    edge = sample(problem, 4000, seed=0)
    assert np.mean(edge[:, 1] == 1) == pytest.approx(expected.edge[1], abs=0.05)


def test_divisions_whose_ratio_only_wide_numbers_know_are_weighed() -> None:
    # Daughter 0 needs mother 0, who can only divide. Its best partner is daughter 1, but mother 1 can only divide too, into
    # daughters 1 and 4, which would be lost with it. Against that best division those with daughters 2 and 3 weigh
    # exp(-300) and exp(-301): both below the floor of doubles, and all that is left.
    triples = Triples([0, 0, 0], [1, 2, 3], [-300.0, 0.0, 1.0])  # type: ignore[arg-type]
    mother, daughter = [0, 0, 0, 0, 1, 1], [0, 1, 2, 3, 1, 4]
    events = {"appear": [9000.0, 0.0, 0.0, 0.0, 200.0], "disappear": [0.0, 200.0], "divide": 0.0}
    nobody = np.full(6, np.inf)
    problem = Problem(mother, daughter, nobody, 2, 5, **events, dividing_cost=np.zeros(6), triples=triples)
    expected = expected_marginals(problem)
    assert expected.triple == pytest.approx([0.0, 1 / (1 + np.exp(-1)), 1 / (1 + np.exp(1))])
    for method in ("exact", "bp", "auto"):
        assert_all_equal(marginals(problem, method), expected, 1e-10)  # type: ignore[arg-type]


def test_a_very_favourable_division_happens() -> None:
    problem = with_triples(colony(3, 14, 0.5, seed=0, candidates=9), None)
    mothers = np.flatnonzero(problem.mother == 20)[:2]
    found = marginals(with_triples(problem, Triples(mothers[:1], mothers[1:], np.array([-1e9]))))
    assert found.triple == pytest.approx([1.0])
    assert_consistent(problem, found)


def test_an_impossible_division_never_happens() -> None:
    problem = with_triples(THREE, Triples([0, 0, 1], [1, 2, 2], [np.inf, np.inf, np.inf]))  # type: ignore[arg-type]
    for method in ("exact", "bp", "auto"):
        found = marginals(problem, method)  # type: ignore[arg-type]
        assert (found.divide == 0).all() and (found.edge_dividing == 0).all() and (found.triple == 0).all()
        assert found.edge == pytest.approx([0.25, 0.25, 0.25])
    edge = sample(problem, 500, seed=0)
    assert ((edge >= 0).sum(axis=1) <= 1).all()


def test_a_triple_of_an_infinite_edge_is_left_out() -> None:
    cost = np.array([0.0, np.inf, 0.0])
    problem = Problem([0, 0, 0], [0, 1, 2], cost, 1, 3, 0.0, 0.0, 0.0, triples=([0, 0], [1, 2], [-50.0, 1.0]))
    found = marginals(problem)
    assert found.triple is not None and found.triple[0] == 0
    assert_all_equal(found, expected_marginals(problem), 1e-12)


@pytest.mark.parametrize("divide", [0.0, 3.0])
@pytest.mark.parametrize("motion", [0.2, 0.5, 1.0])
def test_auto_is_as_close_to_exact_on_strips_as_without_triples(motion: float, divide: float) -> None:
    with_them, without, plain, pairs = [], [], [], []
    for seed in range(2):
        problem = colony(3, 14, motion, seed, divide, candidates=9, triples=True)
        exact, found = marginals(problem, "exact"), marginals(problem)
        assert exact.exact and not found.exact
        assert_consistent(problem, found)
        assert_triples_consistent(problem, found)
        with_them.append(uncertain_error(found, exact))
        plain.append(uncertain_error(marginals(problem, "bp"), exact))
        assert found.triple is not None and exact.triple is not None
        pairs.append(np.abs(found.triple - exact.triple)[exact.triple > 0.02].mean())
        bare = with_triples(problem, None)
        without.append(uncertain_error(marginals(bare), marginals(bare, "exact")))
    assert np.mean(with_them) <= max(1.5 * np.mean(without), 0.002)
    assert np.mean(with_them) < np.mean(plain)
    assert np.mean(pairs) <= 0.02


@pytest.mark.parametrize("impossible", [0.0, 0.5])
@pytest.mark.parametrize("motion", [0.2, 0.5, 1.0])
def test_auto_is_consistent_where_it_is_approximate(motion: float, impossible: float) -> None:
    bare = colony(12, 12, motion, seed=3, dividing_cost=True)
    problem = with_triples(bare, random_triples(bare, np.random.default_rng(0), impossible=impossible))
    found = marginals(problem)
    assert not found.exact
    assert_consistent(problem, found)
    assert_triples_consistent(problem, found)
    assert found.triple is not None and problem.triples is not None
    assert (found.triple[np.isinf(problem.triples.cost)] == 0).all()


@examples(100)
@given(problems_with_triples(), st.integers(0, 2**40))
def test_small_problems_are_sampled_exactly(problem: Problem, seed: int) -> None:
    samples = sample(problem, 2000, seed, report=True)
    assert samples.exact
    every = enumerate_assignments(problem)
    counts = {tuple(chosen): 0 for chosen in every.edge}
    for chosen in samples.edge:
        counts[tuple(chosen)] += 1  # a KeyError would be an assignment that cannot be
    found = np.array(list(counts.values())) / 2000
    deviation = np.sqrt(every.probability * (1 - every.probability) / 2000)
    assert (np.abs(found - every.probability) <= 6 * deviation + 3 / 2000).all()


@pytest.mark.parametrize("impossible", [0.0, 0.3])
@pytest.mark.parametrize("motion", [0.2, 0.5, 1.0])
def test_the_chain_agrees_with_the_exact_marginals(motion: float, impossible: float) -> None:
    bare = colony(3, 14, motion, seed=5, candidates=9)
    triples = random_triples(bare, np.random.default_rng(1), "real", impossible=impossible)
    problem = with_triples(bare, Triples(triples.first_edge, triples.second_edge, triples.cost - 1.0))
    exact = marginals(problem, "exact")
    samples = sample(problem, 4000, seed=1, report=True)
    assert not samples.exact
    assert_assignments(problem, samples.edge[::100])
    deviation = np.sqrt(exact.edge * (1 - exact.edge) / samples.effective_size)
    assert (np.abs(frequencies(problem, samples.edge) - exact.edge) <= 5 * deviation + 0.005).all()
    assert exact.triple is not None
    drawn = chosen_triples(problem, samples.edge).mean(axis=0)
    deviation = np.sqrt(exact.triple * (1 - exact.triple) / samples.effective_size)
    assert (np.abs(drawn - exact.triple) <= 5 * deviation + 0.005).all()
    assert (drawn[np.isinf(triples.cost)] == 0).all()


def test_the_chain_does_not_start_from_an_impossible_division() -> None:
    """Every mother can only divide, and not into its nearest daughter, whom the cheapest flow gives it."""
    bare = colony(8, 8, 0.5, seed=0)
    ends = (bare.mother, bare.daughter, np.full(len(bare.cost), np.inf), bare.n_mothers, bare.n_daughters)
    first, second = every_pair(bare.mother)
    least = np.full(bare.n_mothers, np.inf)
    np.minimum.at(least, bare.mother, bare.cost)
    is_nearest = bare.cost == least[bare.mother]
    triples = Triples(first, second, np.where(is_nearest[first] | is_nearest[second], np.inf, 0.5))
    problem = Problem(*ends, bare.appear, bare.disappear, -8.0, bare.cost, triples)
    samples = sample(problem, 20, seed=0, report=True)
    assert not samples.exact
    load = np.array([np.bincount(problem.mother[s[s >= 0]], minlength=problem.n_mothers) for s in samples.edge])
    assert set(np.unique(load)) == {0, 2}
    assert not is_nearest[samples.edge[samples.edge >= 0]].any()


@some
@given(problems_with_triples(infinite=False))
def test_the_cost_of_samples_is_that_of_assignments(problem: Problem) -> None:
    every = enumerate_assignments(problem)
    np.testing.assert_allclose(sample_costs(problem, every.edge), every.cost, atol=1e-9)


def test_a_decision_knows_of_triples() -> None:
    costs = {"appear": 3.0, "disappear": 3.0, "divide": 1.0}
    bare = Problem([0, 0, 0], [0, 1, 2], [0.0, 0.5, 1.0], 1, 3, **costs)
    assert decide(bare).edge.tolist() == [0, 1, -1]
    assert decide(with_triples(bare, Triples([0], [1], [5.0]))).edge.tolist() == [0, -1, 2]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "door", [solve, lambda problem: solve_batch(problem, [[0.0, 0.0, 0.0]]), lambda problem: k_best(problem, 2)]
)
def test_the_doors_to_the_flow_refuse_triples(door: Callable[[Problem], object]) -> None:
    with pytest.raises(ProblemError, match="cannot take triples, which are no linear assignment"):
        door(with_triples(THREE, Triples([0], [1], [1.0])))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("triples", "reason"),
    [
        (([0], [3], [1.0]), r"triple 0 \(edges 0 and 3\): edge 3 is out of range, there are 3"),
        (([0, -1], [1, 1], [1.0, 1.0]), r"triple 1 \(edges -1 and 1\): edge -1 is out of range"),
        (([1], [1], [1.0]), r"triple 0 \(edges 1 and 1\) has the same edge twice; give two different edges"),
        (([0], [2], [1.0]), r"triple 0 \(edges 0 and 2\) has two mothers, 0 and 1; give two edges of one mother"),
        (([0, 1], [1, 0], [1.0, 2.0]), r"triple 1 \(edges 1 and 0\) is given twice"),
        (([0], [1], [np.nan]), r"its cost is NaN; give a number, or inf for a division that cannot be"),
        (([0], [1], [-np.inf]), "its cost is -inf"),
        (([0], [1, 2], [1.0]), "1 first edges but 2 second ones"),
        (([0], [1], [1.0, 2.0]), r"cost has shape \(2,\); expected \(1,\)"),
        (([0.5], [1], [1.0]), "first_edge is an array of float64 .* expected a flat list of whole numbers"),
        (([0], [1], ["one"]), "expected numbers"),
        (([0], [1]), r"triples is tuple; expected Triples or \(first_edge, second_edge, cost\)"),
        ("all", "triples is str"),
    ],
)
def test_wrong_triples_are_refused_with_the_reason(triples: object, reason: str) -> None:
    with pytest.raises(ProblemError, match=reason):
        Problem([0, 0, 1], [0, 1, 1], np.zeros(3), 2, 2, triples=triples)  # type: ignore[arg-type]


def test_a_triple_of_an_infinite_edge_is_checked_all_the_same() -> None:
    with pytest.raises(ProblemError, match="is given twice"):
        Problem([0, 0], [0, 1], [np.inf, 0.0], 1, 2, triples=([0, 1], [1, 0], [1.0, 1.0]))


def test_a_problem_with_triples_pickles() -> None:
    problem = with_triples(THREE, Triples([0, 2], [1, 1], [0.5, np.inf]))  # type: ignore[arg-type]
    again = pickle.loads(pickle.dumps(problem))
    np.testing.assert_array_equal(again.triples.first_edge, [0, 2])
    np.testing.assert_array_equal(again.triples.cost, [0.5, np.inf])
    np.testing.assert_array_equal(marginals(again).edge, marginals(problem).edge)


@pytest.mark.parametrize("seed", range(5))
def test_every_pair_of_a_mothers_edges_is_listed_once(seed: int) -> None:
    mother: NDArray[np.int64] = np.random.default_rng(seed).integers(0, 6, seed * 7)
    expected = {(e, f) for f in range(len(mother)) for e in range(f) if mother[e] == mother[f]}
    first, second = every_pair(mother)
    found = list(zip(first.tolist(), second.tolist(), strict=True))
    assert len(found) == len(expected) and set(found) == expected
