"""Propagation beside sums over everything that can be, in thousands of tiny worlds."""

import numpy as np
import pytest

from dunno.errors import ProblemError
from dunno.segments.hypotheses import Hypotheses, Weights
from dunno.segments.posterior import propagate

from .worlds import Sums, World, enumerated, random_worlds, with_impossible

WORLDS = 800


@pytest.fixture(scope="module")
def worlds() -> list[tuple[World, Weights, Sums]]:
    return [(world, weights, enumerated(world, weights)) for world, weights in random_worlds(WORLDS, seed=34)]


def test_worlds_without_a_loop_are_exact(worlds: list[tuple[World, Weights, Sums]]) -> None:
    trees = [each for each in worlds if each[0].is_tree]
    assert len(trees) > 200
    for world, weights, sums in trees:
        found = propagate(world.hypotheses, weights, tolerance=1e-12)
        assert found.converged
        np.testing.assert_allclose(found.state, sums.state, atol=1e-9)
        np.testing.assert_allclose(found.way, sums.way, atol=1e-9)
        assert found.log_evidence == pytest.approx(sums.log_evidence, abs=1e-9)


def test_the_worlds_have_everything(worlds: list[tuple[World, Weights, Sums]]) -> None:
    trees = [world for world, _, _ in worlds if world.is_tree]
    assert sum(bool(world.unions) for world in trees) > 20
    assert sum(len(world.masks_of(w)) == 3 for world in trees for w in range(len(world.ways))) > 15
    links = [way for world in trees for way in world.ways]
    assert sum(len(way) == 2 and way[0][0] != way[1][0] for way in links) > 15
    assert sum(len(way) == 2 and way[0][0] == way[1][0] for way in links) > 15


def test_loops_cost_little(worlds: list[tuple[World, Weights, Sums]]) -> None:
    loops = [each for each in worlds if not each[0].is_tree]
    assert len(loops) > 200
    found = [(propagate(world.hypotheses, weights), sums) for world, weights, sums in loops]
    assert np.mean([post.converged for post, _ in found]) > 0.995
    errors = [max(np.abs(post.state - sums.state).max(), np.abs(post.way - sums.way).max()) for post, sums in found]
    assert np.mean(errors) < 0.05
    assert np.quantile(errors, 0.95) < 0.25


def test_what_is_given_is_as_if_nothing_else_could_be(worlds: list[tuple[World, Weights, Sums]]) -> None:
    rng, judged = np.random.default_rng(8), 0
    for world, weights, sums in [each for each in worlds if each[0].is_tree and len(each[0].ways)][:150]:
        state, way, appear = int(rng.integers(len(sums.state))), int(rng.integers(len(sums.way))), rng.random() < 0.5
        given = Weights(weights.state.copy(), weights.appear.copy(), weights.disappear.copy(), weights.way.copy())
        given.state[state], given.way[way] = -np.inf, -np.inf
        if appear and len(given.appear):
            given.appear[0] = -np.inf
        with np.errstate(invalid="ignore", divide="ignore"):
            known = enumerated(world, given)
        if not np.isfinite(known.log_evidence):
            continue
        found = propagate(world.hypotheses, given, tolerance=1e-12)
        np.testing.assert_allclose(found.state, known.state, atol=1e-9)
        np.testing.assert_allclose(found.way, known.way, atol=1e-9)
        judged += 1
    assert judged > 100


def small() -> tuple[Hypotheses, Weights]:
    """Two masks that hold nothing or one object, and a way between them."""
    frame, none = np.arange(2), np.zeros((0, 2), np.int64)
    links = np.zeros(1, np.int64), np.zeros(1, np.int64), np.ones(1, np.int64)
    hypotheses = Hypotheses(frame, np.array([0, 0, 1, 1]), np.array([1, 3]), 1, *links, none)
    return hypotheses, Weights(np.zeros(4), np.array([-1.0, -3.0]), np.array([-2.0, 0.0]), np.array([1.0]))


def test_events_are_what_links_leave() -> None:
    hypotheses, weights = small()
    found = propagate(hypotheses, weights)
    nothing, first, second, both, linked = 1.0, np.exp(-3), np.exp(-3), np.exp(-6), np.exp(0)
    total = nothing + first + second + both + linked
    assert found.way[0] == pytest.approx(linked / total)
    np.testing.assert_allclose(found.appear, np.array([first + both + linked, second + both]) / total)
    np.testing.assert_allclose(found.disappear, np.array([first + both, second + both + linked]) / total)


def test_what_cannot_be_is_never() -> None:
    hypotheses, weights = small()
    never = Weights(np.array([0.0, -np.inf, 0.0, 0.0]), weights.appear, weights.disappear, weights.way)
    found = propagate(hypotheses, never)
    assert found.state[1] == found.way[0] == 0.0
    assert found.state[3] == pytest.approx(np.exp(-3) / (1 + np.exp(-3)))


def test_masks_that_need_a_way_keep_what_ways_weigh_and_nothing_possible_is_refused() -> None:
    rng, checked = np.random.default_rng(3), {True: 0, False: 0}
    for world, weights in random_worlds(WORLDS // 2, seed=12):
        weights = with_impossible(weights, rng)
        sums = enumerated(world, weights)
        possible = bool(np.isfinite(sums.log_evidence))
        checked[possible] += world.is_tree
        if world.is_tree and not possible:
            with pytest.raises(ProblemError, match="a mask has no state that is possible"):
                propagate(world.hypotheses, weights)
        elif world.is_tree:
            found = propagate(world.hypotheses, weights, tolerance=1e-12)
            np.testing.assert_allclose(found.state, sums.state, atol=1e-9)
            np.testing.assert_allclose(found.way, sums.way, atol=1e-9)
            assert found.log_evidence == pytest.approx(sums.log_evidence, abs=1e-9)
    assert checked[True] > 80 and checked[False] > 80


@pytest.mark.parametrize("apart", [0.5, 3.0, 40.0])
def test_a_mask_that_needs_a_way_leaves_the_ways_their_weights(apart: float) -> None:
    """The later mask's object does not appear, so one of the two ways is taken for certain; which one, their weights say."""
    world = World(frame=[0, 1], mask=[0, 0, 1], state=[0, 1, 2], ways=[[(0, 2)], [(1, 2)]])
    weights = Weights(np.zeros(3), np.array([0.0, 0.0, -np.inf]), np.zeros(3), np.array([apart, 0.0]))
    found = propagate(world.hypotheses, weights)
    first = 1 / (1 + np.exp(-apart))
    np.testing.assert_allclose(found.way, [first, 1 - first], atol=1e-12)
    np.testing.assert_allclose(found.state, [first, 1 - first, 1.0], atol=1e-12)
    assert found.log_evidence == pytest.approx(np.logaddexp(apart, 0.0))


def test_messages_of_the_last_time_save_sweeps() -> None:
    world, weights = max(random_worlds(200, seed=3), key=lambda each: len(each[0].edges))
    found = propagate(world.hypotheses, weights, tolerance=1e-9)
    again = propagate(world.hypotheses, weights, tolerance=1e-9, messages=found.messages)
    assert again.sweeps < found.sweeps
    np.testing.assert_allclose(again.state, found.state, atol=1e-8)


def test_it_says_when_it_did_not_converge() -> None:
    world, weights = max(random_worlds(200, seed=3), key=lambda each: len(each[0].edges))
    found = propagate(world.hypotheses, weights, sweeps=1, tolerance=1e-9)
    assert not found.converged and found.change > 1e-9


@pytest.mark.parametrize("wrong", ["mask", "state", "frame", "mother"])
def test_what_is_malformed_is_refused(wrong: str) -> None:
    hypotheses, weights = small()
    columns = {name: getattr(hypotheses, name) for name in Hypotheses.__dataclass_fields__}
    columns[wrong] = {
        "mask": np.array([0, 1, 0, 1]),
        "state": np.array([3, 1]),
        "frame": np.array([1, 1]),
        "mother": np.array([7]),
    }[wrong]
    with pytest.raises(ProblemError):
        propagate(Hypotheses(**columns), weights)
    with pytest.raises(ProblemError):
        propagate(hypotheses, Weights(weights.state[:3], weights.appear, weights.disappear, weights.way))
