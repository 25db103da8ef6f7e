"""Decisions against brute force: what is left of all assignments when those that disagree are struck out."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dunno.assignment import Marginals, Problem, Triples, marginals
from dunno.errors import DecisionError
from dunno.review.condition import Rules, condition
from dunno.review.constraints import APPEARS, Constraints, constrained, no_constraints
from dunno.review.decisions import Decision
from tests.assignment.brute_force import Enumeration, enumerate_assignments
from tests.assignment.problems import examples, problems, problems_with_triples, scaled
from tests.review.outputs import block_of, sorted_problem


def loads(problem: Problem, edge: np.ndarray) -> np.ndarray:
    return np.bincount(problem.mother[edge[edge >= 0]], minlength=problem.n_mothers)


def agrees(problem: Problem, said: Constraints, edge: np.ndarray) -> bool:
    """Whether an assignment is one that the person has not ruled out."""
    load = loads(problem, edge)
    mother = np.where(edge >= 0, np.append(problem.mother, 0)[edge], APPEARS)
    daughters = bool((~said.settled | (mother == said.mother)).all())
    mothers = (load[said.divides] == 2).all() and (load[said.single] <= 1).all() and (load[said.disappears] == 0).all()
    return daughters and bool(mothers)


def struck(problem: Problem, said: Constraints) -> Enumeration:
    every = enumerate_assignments(problem)
    kept = [k for k, edge in enumerate(every.edge) if agrees(problem, said, edge)]
    return Enumeration(every.cost[kept], every.edge[kept])


def summed(problem: Problem, every: Enumeration) -> Marginals:
    edge, dividing = np.zeros((2, len(problem.cost)))
    disappear, divide = np.zeros((2, problem.n_mothers))
    appear = np.zeros(problem.n_daughters)
    for chosen, p in zip(every.edge, every.probability, strict=True):
        load = loads(problem, chosen)
        links = chosen[chosen >= 0]
        edge[links] += p
        dividing[links[load[problem.mother[links]] == 2]] += p
        disappear[load == 0] += p
        divide[load == 2] += p
        appear[chosen < 0] += p
    return Marginals(edge, dividing, appear, disappear, divide, every.log_evidence, exact=True)


@st.composite
def decided(draw: st.DrawFn) -> tuple[Problem, Constraints]:
    """A small problem, and decisions that at least one of its assignments agrees with."""
    factor = draw(st.sampled_from([1.0, 1.0, 100.0]))
    drawn = draw(st.one_of(problems(fewest=1), problems_with_triples(fewest=1)))
    problem = scaled(sorted_problem(drawn), factor)
    every = enumerate_assignments(problem)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    edge = every.edge[rng.integers(len(every.edge))]
    load, said = loads(problem, edge), no_constraints(problem.n_mothers, problem.n_daughters)
    for j in np.flatnonzero(rng.random(problem.n_daughters) < 0.4):
        said.mother[j] = problem.mother[edge[j]] if edge[j] >= 0 else APPEARS
    for i in np.flatnonzero(rng.random(problem.n_mothers) < 0.4):
        kinds = [said.divides] if load[i] == 2 else [said.single, said.disappears][: 2 - load[i]]
        kinds[rng.integers(len(kinds))][i] = True
    return problem, said


@given(decided())
@examples(300)
def test_constrained_marginals_equal_brute_force(case: tuple[Problem, Constraints]) -> None:
    problem, said = case
    expected, found = summed(problem, struck(problem, said)), marginals(constrained(problem, said))
    for name in ("edge", "edge_dividing", "appear", "disappear", "divide"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-9, err_msg=name)


def as_decisions(said: Constraints) -> list[Decision]:
    told = []
    for j in np.flatnonzero(said.settled).tolist():
        mother = int(said.mother[j])
        told.append(Decision("no mother", 1, j + 1) if mother < 0 else Decision("mother", 1, j + 1, mother + 1))
    for kind, flags in (("divides", said.divides), ("does not divide", said.single), ("disappears", said.disappears)):
        told.extend(Decision(kind, 0, i + 1) for i in np.flatnonzero(flags).tolist())
    return told


@given(decided())
@examples(200)
def test_a_conditioned_pair_is_the_posterior_given_the_decisions_and_reports_links_that_agree(
    case: tuple[Problem, Constraints],
) -> None:
    problem, said = case
    decisions = as_decisions(said)
    assume(decisions)
    pair = condition(block_of(problem), decisions, Rules()).pair(1)
    expected = summed(problem, struck(problem, said))
    np.testing.assert_allclose(pair.probability, expected.edge, atol=1e-9)
    np.testing.assert_allclose(np.exp(pair.log_no_mother), expected.appear, atol=1e-9)
    assert pair.log_divide is not None and pair.log_disappear is not None and pair.reviewed is not None
    np.testing.assert_allclose(np.exp(pair.log_divide), expected.divide, atol=1e-9)
    np.testing.assert_allclose(np.exp(pair.log_disappear), expected.disappear, atol=1e-9)
    assert (pair.reviewed == said.settled).all()
    edge = np.full(problem.n_daughters, -1)
    edge[pair.daughter[pair.selected]] = np.flatnonzero(pair.selected)
    assert agrees(problem, said, edge)
    settled = said.settled[pair.daughter]
    assert set(pair.probability[settled].tolist()) <= {0.0, 1.0}  # to the bit


THREE = Problem([0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 2, 2], [0.0, 1.0, 1.0, 0.0, 2.0, 2.0], 2, 3)


@pytest.mark.parametrize(
    ("decisions", "reason"),
    [
        ([("mother", 1, 1, 1), ("mother", 1, 2, 1), ("mother", 1, 3, 1)], "has two daughters already, 1 and 2"),
        ([("disappears", 0, 1), ("mother", 1, 1, 1)], "was decided to disappear"),
        ([("mother", 1, 1, 1), ("disappears", 0, 1)], "was decided to be the mother of 1, so it does not disappear"),
        ([("mother", 1, 1, 1), ("mother", 1, 2, 1), ("does not divide", 0, 1)], "mother of 1 and 2, so it divides"),
        (
            [("does not divide", 0, 1), ("mother", 1, 1, 1), ("mother", 1, 2, 1)],
            "decided not to divide, and has daughter 1",
        ),
        ([("no mother", 1, 1), ("no mother", 1, 2), ("divides", 0, 1)], "cannot divide"),
        ([("divides", 0, 1), ("divides", 0, 2)], "cannot divide"),
        ([("divides", 0, 1), ("mother", 1, 1, 2), ("mother", 1, 2, 2)], "cannot divide"),
        ([("mother", 1, 4, 1)], "frame 1 has no cell 4"),
        ([("mother", 1, 1, 9)], "frame 0 has no cell 9"),
    ],
)
@pytest.mark.parametrize("with_problem", [True, False])
def test_contradictions_are_refused_with_the_reason(decisions: list[tuple], reason: str, with_problem: bool) -> None:
    from dataclasses import replace

    block = block_of(THREE)
    block = block if with_problem else replace(block, problem=None)
    with pytest.raises(DecisionError, match=reason):
        condition(block, [Decision(*each) for each in decisions], Rules())


def test_an_answer_settles_neighbours_too() -> None:
    swap = Problem([0, 1, 0, 1], [0, 0, 1, 1], [0.0, 0.0, 0.0, 0.0], 2, 2, appear=20.0, disappear=20.0, divide=20.0)
    pair = condition(block_of(swap), [Decision("mother", 1, 1, 2)], Rules()).pair(1)
    np.testing.assert_allclose(pair.probability, [0.0, 1.0, 1.0, 0.0], atol=1e-6)
    assert pair.selected.tolist() == [False, True, True, False]


def test_triples_go_on_to_count_where_a_mother_became_a_candidate() -> None:
    listed = Triples([1, 0], [2, 1], [np.inf, 4.0])  # type: ignore[arg-type]
    edges = Problem([0, 0, 0], [1, 2, 3], [0.0, 0.0, 0.0], 2, 4, divide=1.0, triples=listed)
    pair = condition(block_of(edges), [Decision("mother", 1, 1, 2)], Rules()).pair(1)
    assert pair.mother.tolist() == [1, 0, 0, 0]
    assert pair.problem is not None and pair.problem.triples is not None
    assert pair.problem.triples.first_edge.tolist() == [2, 1]
    assert pair.problem.triples.second_edge.tolist() == [3, 2]
    alone = marginals(Problem([0, 0, 0], [0, 1, 2], np.zeros(3), 1, 3, divide=1.0, triples=listed))
    np.testing.assert_allclose(pair.probability[1:], alone.edge, atol=1e-9)


@pytest.mark.parametrize(
    ("decisions", "expected"),
    [
        ([("mother", 1, 1, 1), ("mother", 1, 2, 1)], [1.0, 1.0, 0.0]),
        ([("mother", 1, 1, 1), ("divides", 0, 1)], [1.0, 0.5, 0.5]),
        ([("divides", 0, 1)], [2 / 3, 2 / 3, 2 / 3]),
    ],
)
def test_an_impossible_division_that_a_person_decided_on_is_possible(
    decisions: list[tuple], expected: list[float]
) -> None:
    never = Triples([0, 0, 1], [1, 2, 2], [np.inf, np.inf, np.inf])  # type: ignore[arg-type]
    problem = Problem([0, 0, 0], [0, 1, 2], np.zeros(3), 1, 3, triples=never)
    pair = condition(block_of(problem), [Decision(*each) for each in decisions], Rules()).pair(1)
    np.testing.assert_allclose(pair.probability, expected, atol=1e-9)


def test_of_the_divisions_left_to_a_person_only_possible_ones_are_believed() -> None:
    some = Triples([0, 0], [1, 2], [np.inf, np.inf])  # type: ignore[arg-type]
    problem = Problem([0, 0, 0], [0, 1, 2], np.zeros(3), 1, 3, triples=some)
    pair = condition(block_of(problem), [Decision("divides", 0, 1)], Rules()).pair(1)
    np.testing.assert_allclose(pair.probability, [0.0, 1.0, 1.0], atol=1e-9)


def test_a_mother_that_was_no_candidate_becomes_one() -> None:
    far = Problem([0], [0], [1.0], 2, 2, divide=1.0)
    pair = condition(block_of(far), [Decision("mother", 1, 2, 1)], Rules()).pair(1)
    assert pair.mother.tolist() == [0, 0]
    assert pair.daughter.tolist() == [0, 1]
    assert pair.probability[1] == 1.0
    assert pair.selected[1]
    # the mother has a daughter for sure: 1 divides or appears at costs 1 (edge) + 1 (divide) or 2 (appear)
    assert pair.probability[0] == pytest.approx(0.5)


def test_an_impossible_edge_that_a_person_chose_is_possible() -> None:
    problem = Problem([0, 1], [0, 0], [np.inf, 0.0], 2, 1)
    pair = condition(block_of(problem), [Decision("mother", 1, 1, 1)], Rules()).pair(1)
    assert pair.probability.tolist() == [1.0, 0.0]


def test_without_a_problem_the_own_distribution_is_conditioned_and_what_cannot_be_is_taken_away() -> None:
    from dataclasses import replace

    block = replace(block_of(THREE), problem=None)
    pair = block.pair(1)
    ratio = pair.probability[5] / np.exp(pair.log_no_mother[2])
    after = condition(block, [Decision("mother", 1, 1, 1), Decision("mother", 1, 2, 1)], Rules()).pair(1)
    assert after.probability[:4].tolist() == [1.0, 0.0, 1.0, 0.0]
    assert after.probability[4] == 0.0  # a mother with two daughters has no third
    assert after.probability[5] / np.exp(after.log_no_mother[2]) == pytest.approx(ratio)
    assert after.probability[5] + np.exp(after.log_no_mother[2]) == pytest.approx(1.0)


def test_links_of_others_stay_where_no_decision_is_against_them() -> None:
    from dataclasses import replace

    block = block_of(THREE)
    theirs = np.array([False, True, True, False, True, False])  # against all probability
    kept = condition(replace(block, selected=theirs), [Decision("mother", 1, 1, 1)], Rules(keep_links=True))
    assert kept.selected.tolist() == [True, False, True, False, False, False] or kept.selected.sum() == 3
    assert kept.selected[0]
    assert kept.selected[[2, 4]].any()


def test_nobody_can_say_changes_nothing() -> None:
    block = block_of(THREE)
    assert condition(block, [Decision("skip", 1, 2)], Rules()) is block
    with pytest.raises(DecisionError, match="frame 1 has no cell 9"):
        condition(block, [Decision("skip", 1, 9)], Rules())


def test_where_having_no_mother_was_left_out_it_takes_part_only_if_decided_or_if_nothing_else_is_left() -> None:
    from dataclasses import replace

    mothers_only = replace(block_of(THREE), log_no_mother=np.full(5, -np.inf))
    after = condition(mothers_only, [Decision("no mother", 1, 1)], Rules(no_mother=False))
    assert np.exp(after.pair(1).log_no_mother).tolist() == [1.0, 0.0, 0.0]
    lonely = condition(
        mothers_only, [Decision("disappears", 0, 1), Decision("disappears", 0, 2)], Rules(no_mother=False)
    )
    assert np.exp(lonely.pair(1).log_no_mother).tolist() == [1.0, 1.0, 1.0]
