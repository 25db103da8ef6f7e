"""The expected gain against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dunno.assignment import Problem, Triples, solve
from dunno.review import gain
from dunno.review.constraints import APPEARS, no_constraints
from tests.assignment.problems import examples, problems, random_triples, with_triples
from tests.review.outputs import block_of, pair_of, sorted_problem
from tests.review.test_constraints import struck, summed


def least_error(problem: Problem, answer: tuple[int, int] | None) -> tuple[float, float]:
    """Expected wrong decisions given one answer (daughter, mother or -1), and the answer's probability; by enumeration."""
    said = no_constraints(problem.n_mothers, problem.n_daughters)
    if answer is not None:
        said.mother[answer[0]] = answer[1]
    every = struck(problem, said)
    if not len(every.cost):
        return 0.0, 0.0
    found = summed(problem, every)
    cost = np.where(found.edge > 0, -found.edge, np.inf)
    ends = (problem.mother, problem.daughter, cost, problem.n_mothers, problem.n_daughters)
    right = -solve(Problem(*ends, appear=-found.appear, disappear=0.0, divide=0.0)).cost
    weight = 1.0 if answer is None else np.exp(every.log_evidence - least_evidence(problem))
    return problem.n_daughters - right, float(weight)


def least_evidence(problem: Problem) -> float:
    return struck(problem, no_constraints(problem.n_mothers, problem.n_daughters)).log_evidence


@given(problems(fewest=1, kinds=("real", "positive")), st.booleans())
@examples(100)
def test_the_gain_is_the_expected_fall_of_the_expected_error(drawn: Problem, has_triples: bool) -> None:
    if has_triples:
        drawn = with_triples(drawn, random_triples(drawn, np.random.default_rng(0), impossible=0.2))
    problem = sorted_problem(drawn)
    pair = pair_of(problem)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gain, "LEAST_GAIN", 1e-12)  # leave nothing out
        for daughter in range(problem.n_daughters):
            mothers = [*problem.mother[problem.daughter == daughter].tolist(), APPEARS]
            after = [least_error(problem, (daughter, mother)) for mother in mothers]
            expected = least_error(problem, None)[0] - sum(error * weight for error, weight in after)
            assert gain.gain(pair, daughter) == pytest.approx(expected, abs=1e-8)
            assert -1e-8 <= gain.gain(pair, daughter) <= gain.errors(pair).sum() + 1e-8


def test_of_two_that_swap_one_answer_settles_both() -> None:
    swap = Problem([0, 1, 0, 1], [0, 0, 1, 1], np.zeros(4), 2, 2, appear=20.0, disappear=20.0, divide=20.0)
    pair = pair_of(swap)
    assert gain.errors(pair) == pytest.approx([0.5, 0.5], abs=1e-6)
    assert gain.gain(pair, 0) == pytest.approx(1.0, abs=1e-6)


def test_without_a_problem_the_gain_is_the_own_error() -> None:
    from dataclasses import replace

    pair = replace(block_of(Problem([0, 1], [0, 0], [0.0, 1.0], 2, 1)), problem=None).pair(1)
    assert gain.gain(pair, 0) == gain.errors(pair)[0] > 0


def test_the_promise_is_the_sum_of_the_lesser_errors_of_a_group() -> None:
    rng = np.random.default_rng(0)
    error, group = rng.random(30), rng.integers(0, 5, 30)
    expected = [np.minimum(error[group == group[j]], error[j]).sum() for j in range(30)]
    np.testing.assert_allclose(gain.promise(error, group), expected)
    assert len(gain.promise(np.empty(0), np.empty(0, np.int64))) == 0


def test_another_cost_of_a_division_changes_the_signature_of_its_own_group_only() -> None:
    two = Problem([0, 1, 0, 1, 2, 3, 2, 3], [0, 0, 1, 1, 2, 2, 3, 3], np.tile([0.0, 0.3], 4), 4, 4, divide=1.0)
    pairs = [pair_of(with_triples(two, Triples([0], [2], [cost]))) for cost in (0.1, 0.2)]  # type: ignore[arg-type]
    old, new = (gain.signatures(pair, gain.groups(pair)) for pair in pairs)
    assert (old[2:] == new[2:]).all()
    assert (old[:2] != new[:2]).all()


def test_an_answer_changes_the_signature_of_its_own_group_only() -> None:
    from dunno.review.condition import Rules, condition
    from dunno.review.decisions import Decision

    two = Problem([0, 1, 0, 1, 2, 3, 2, 3], [0, 0, 1, 1, 2, 2, 3, 3], np.tile([0.0, 0.3], 4), 4, 4, divide=5.0)
    before = pair_of(two)
    after = condition(before.block, [Decision("mother", 1, 1, 2)], Rules()).pair(1)
    old, new = (gain.signatures(pair, gain.groups(pair)) for pair in (before, after))
    assert (old[2:] == new[2:]).all()
    assert (old[:2] != new[:2]).all()
    for daughter in (2, 3):
        assert gain.gain(before, daughter) == gain.gain(after, daughter)  # to the bit
