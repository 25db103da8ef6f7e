"""Masks that choose their ways in and out: belief propagation beside sums over everything that can be."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

from dunno.assignment import every_pair
from dunno.assignment.choices import KINDS, STATES, YOUNG, Choices, Kind, propagate, ways
from dunno.errors import ProblemError

OUT_OF_ONE = (Kind.SINGLE, Kind.MERGING, Kind.REJOINED)
OUT_OF_TWO = (Kind.STAYING, Kind.APART)
OUT_OF_NONE = (Kind.FALSE, Kind.ABSORBED)
OUT_OF_YOUNG = (Kind.YOUNG, Kind.GROWN, Kind.MERGING)
INTO = {
    0: (Kind.FALSE, Kind.PIECE),
    1: (Kind.SINGLE, Kind.GROWN, Kind.APART, Kind.WHOLE),
    2: (Kind.STAYING, Kind.MERGING),
    YOUNG: (Kind.DIVIDING, Kind.YOUNG),
}


def world(frames: list[int], rng: np.random.Generator, density: float = 0.8) -> tuple[Choices, Choices, int, int]:
    """A random movie with some masks in each frame: all of its ways, with random weights."""
    frame = np.repeat(np.arange(len(frames)), frames)
    n = len(frame)
    mother, daughter = np.nonzero((frame[None] == frame[:, None] + 1) & (rng.random((n, n)) < density))
    every, edges = np.arange(n), np.arange(len(mother))
    one, other = every_pair(mother)
    pairs = {"first": one, "second": other}
    out = [ways(every, state, rng.normal(size=n)) for state in range(STATES)]
    for state, kinds in ((1, OUT_OF_ONE), (2, OUT_OF_TWO), (0, OUT_OF_NONE), (YOUNG, OUT_OF_YOUNG)):
        out += [ways(mother, state, rng.normal(size=len(edges)), (edges, kind)) for kind in kinds]
    for state, kinds in (
        (1, (Kind.DIVIDING, Kind.DIVIDING)),
        (1, (Kind.WHOLE, Kind.PIECE)),
        (2, (Kind.APART, Kind.APART)),
    ):
        weight = rng.normal(size=len(one))
        out.append(ways(mother[one], state, weight, (pairs["first"], kinds[0]), (pairs["second"], kinds[1])))
    three = np.array(
        [
            (a, b, c)
            for a in edges
            for b, c in combinations(edges, 2)
            if a not in (b, c) and len({*mother[[a, b, c]]}) == 1
        ],
        np.int64,
    ).reshape(-1, 3)
    kinds = (Kind.APART, Kind.DIVIDING, Kind.DIVIDING)
    taken = [(three[:, k], kind) for k, kind in enumerate(kinds)]
    out.append(ways(mother[three[:, 0]], 2, rng.normal(size=len(three)), *taken))
    into = [ways(every, state, rng.normal(size=n)) for state in range(STATES)]
    into += [ways(daughter, state, 0.0, (edges, kind)) for state, kinds in INTO.items() for kind in kinds]
    one, other = every_pair(daughter)
    for state, kinds in ((2, (Kind.MERGING, Kind.MERGING)), (1, (Kind.REJOINED, Kind.ABSORBED))):
        into.append(ways(daughter[one], state, rng.normal(size=len(one)), (one, kinds[0]), (other, kinds[1])))
    return Choices.joined(out), Choices.joined(into), n, len(mother)


def summed(out: Choices, into: Choices, n: int, n_edges: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Probabilities of states and of edges' kinds, and the evidence, by listing everything."""
    state, edge, total = np.zeros((n, STATES)), np.zeros((n_edges, KINDS)), 0.0
    before: dict[tuple, float] = {}
    for chosen in product(*(np.flatnonzero(into.mask == v) for v in range(n))):
        key = _key(into, chosen)
        before[key] = before.get(key, 0.0) + float(np.exp(into.log_weight[list(chosen)].sum()))
    for chosen in product(*(np.flatnonzero(out.mask == v) for v in range(n))):
        kinds, states = _key(out, chosen)
        weight = before.get((kinds, states), 0.0) * float(np.exp(out.log_weight[list(chosen)].sum()))
        total += weight
        state[np.arange(n), list(states)] += weight
        for e, kind in kinds:
            edge[e, kind] += weight
    return state / total, edge / total, float(np.log(total))


def _key(choices: Choices, chosen: tuple[int, ...]) -> tuple[tuple[tuple[int, int], ...], tuple[int, ...]]:
    used = {}
    for c in chosen:
        for name in ("first", "second", "third"):
            e, kind = getattr(choices, name)[c], getattr(choices, f"{name}_kind")[c]
            if e >= 0:
                used[int(e)] = int(kind)
    return tuple(sorted(used.items())), tuple(choices.state[list(chosen)].tolist())


@pytest.mark.parametrize("frames", [[1], [1, 1], [1, 2], [2, 1], [1, 1, 1], [1, 3]])
@pytest.mark.parametrize("seed", range(6))
def test_sums_are_exact_where_there_is_no_loop(frames: list[int], seed: int) -> None:
    out, into, n, n_edges = world(frames, np.random.default_rng(seed))
    state, edge, evidence = summed(out, into, n, n_edges)
    found = propagate(out, into, n, n_edges, tolerance=1e-12)
    np.testing.assert_allclose(found.state, state, atol=1e-9)
    np.testing.assert_allclose(found.edge, edge, atol=1e-9)
    assert found.log_evidence == pytest.approx(evidence, abs=1e-9)


@pytest.mark.parametrize("frames", [[2, 2], [1, 2, 1]])
def test_loops_cost_little(frames: list[int]) -> None:
    errors = []
    for seed in range(12):
        out, into, n, n_edges = world(frames, np.random.default_rng(seed))
        if n_edges:
            state, edge, _ = summed(out, into, n, n_edges)
            found = propagate(out, into, n, n_edges, tolerance=1e-4)
            assert found.change < 1e-4
            errors += [np.abs(found.state - state).max(), np.abs(found.edge - edge).max()]
    assert np.mean(errors) < 0.02
    assert np.max(errors) < 0.15


def test_messages_of_nearly_the_same_problem_lead_to_the_same_beliefs() -> None:
    out, into, n, n_edges = world([3, 4, 3], np.random.default_rng(3))
    nearly = replace(out, log_weight=out.log_weight + 0.1 * np.sin(np.arange(len(out.mask))))
    before = propagate(nearly, into, n, n_edges).messages
    found = propagate(out, into, n, n_edges, sweeps=200, tolerance=1e-10, before=before)
    anew = propagate(out, into, n, n_edges, sweeps=200, tolerance=1e-10)
    np.testing.assert_allclose(found.edge, anew.edge, atol=1e-7)
    np.testing.assert_allclose(found.state, anew.state, atol=1e-7)
    with pytest.raises(ProblemError, match="another problem"):
        propagate(out, into, n, n_edges + 1, before=before)


def test_beliefs_agree_with_each_other() -> None:
    out, into, n, n_edges = world([3, 4, 3], np.random.default_rng(7))
    found = propagate(out, into, n, n_edges, sweeps=200, tolerance=1e-10)
    np.testing.assert_allclose(found.state.sum(axis=1), 1.0)
    for choices, belief in ((out, found.ways_out), (into, found.ways_in)):
        np.testing.assert_allclose(np.bincount(choices.mask, belief), 1.0)
        for state in range(STATES):
            own = choices.state == state
            told = np.bincount(choices.mask[own], belief[own], minlength=n)
            np.testing.assert_allclose(told, found.state[:, state], atol=1e-6)


def test_a_very_sure_edge_is_not_lost_in_rounding() -> None:
    one = np.array([0])
    out = Choices.joined([ways(np.array([0, 1]), 1, np.array([-40.0, 0.0])), ways(one, 1, 0.0, (one, Kind.SINGLE))])
    into = Choices.joined(
        [ways(np.array([0, 1]), 1, np.array([0.0, -40.0])), ways(one + 1, 1, 0.0, (one, Kind.SINGLE))]
    )
    found = propagate(out, into, 2, 1)
    assert 1 - found.edge[0, Kind.SINGLE] == pytest.approx(np.exp(-80.0), abs=1e-15)


def test_an_edge_that_both_ends_must_take_is_certain() -> None:
    one = np.array([0])
    out = Choices.joined([ways(one, 1, 0.5, (one, Kind.SINGLE)), ways(one + 1, 1, 0.0)])
    into = Choices.joined([ways(one, 1, 0.0), ways(one + 1, 1, -2.0, (one, Kind.SINGLE))])
    found = propagate(out, into, 2, 1)
    assert found.edge[0].tolist() == [1.0, *[0.0] * (KINDS - 1)]
    assert found.log_evidence == pytest.approx(-1.5)


def test_a_mask_without_a_way_is_refused() -> None:
    only = ways(np.array([0]), 1, 0.0)
    with pytest.raises(ProblemError, match="no choice"):
        propagate(only, only, 2, 0)
    with pytest.raises(ProblemError, match="not there"):
        propagate(ways(np.array([0]), 1, 0.0, (np.array([3]), Kind.SINGLE)), only, 1, 1)
