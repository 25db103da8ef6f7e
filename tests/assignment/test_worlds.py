"""Thousands of tiny random worlds of masks: belief propagation beside sums over everything that can be."""

from collections.abc import Iterator
from itertools import islice

import numpy as np
import pytest

from benchmarks.small_worlds import SORTS, Sort, Sums, World, exact, random_world, random_worlds
from dunno.assignment.choices import KINDS, propagate

from .test_choices import summed

WORLDS = 600
"""Of each sort."""


@pytest.fixture(scope="module", params=SORTS)
def sort(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def worlds(sort: str) -> list[tuple[World, Sums]]:
    rng = np.random.default_rng([18, [*SORTS].index(sort)])
    return [(world, exact(world)) for world in islice(random_worlds(SORTS[sort], rng), WORLDS)]


def errors(world: World, sums: Sums) -> Iterator[float]:
    """The largest ones of states, kinds of edges, and divisions, as tracking propagates."""
    found = propagate(world.out, world.into, world.n_masks, world.n_edges)
    yield float(np.abs(found.state - sums.state).max())
    yield float(np.abs(found.edge - sums.edge).max())
    yield float(np.abs(world.divide(found.ways_out) - world.divide(sums.ways_out)).max())


@pytest.mark.parametrize("frames", [(2, 2), (1, 2, 1), (1, 1, 1)])
@pytest.mark.parametrize("seed", range(4))
def test_the_sums_are_those_of_a_list_of_everything(frames: tuple[int, ...], seed: int) -> None:
    world = random_world(frames, np.random.default_rng(seed), 0.8, Sort(across=0.5), kept=0.8)
    state, edge, evidence = summed(world.out, world.into, world.n_masks, world.n_edges)
    sums = exact(world)
    np.testing.assert_allclose(sums.state, state, atol=1e-12)
    np.testing.assert_allclose(sums.edge, edge, atol=1e-12)
    assert sums.log_evidence == pytest.approx(evidence, abs=1e-10)


def test_worlds_without_a_loop_are_exact(worlds: list[tuple[World, Sums]]) -> None:
    trees = [(world, sums) for world, sums in worlds if world.is_tree]
    assert len(trees) > 100
    for world, sums in trees:
        found = propagate(world.out, world.into, world.n_masks, world.n_edges, tolerance=1e-12)
        for name in ("state", "edge", "ways_out", "ways_in"):
            np.testing.assert_allclose(getattr(found, name), getattr(sums, name), atol=1e-9)
        assert found.log_evidence == pytest.approx(sums.log_evidence, abs=1e-9)


def test_propagation_does_not_stop_before_states_are_settled(worlds: list[tuple[World, Sums]]) -> None:
    assert max(max(errors(world, sums)) for world, sums in worlds if world.is_tree) < 1e-3


def test_loops_cost_little(worlds: list[tuple[World, Sums]]) -> None:
    """Measured by `python -m benchmarks.worlds` on 1,000 worlds of each sort: a mean of .012 at the most."""
    found = np.array([[*errors(world, sums)] for world, sums in worlds if not world.is_tree])
    assert len(found) > 100
    assert (found.mean(axis=0) < 0.02).all()
    assert (np.quantile(found, 0.95, axis=0) < 0.1).all()


def test_what_the_worlds_are_for_happens(sort: str, worlds: list[tuple[World, Sums]]) -> None:
    happened = sum(sums.edge.sum(axis=0) for _, sums in worlds)
    assert (happened[[*SORTS[sort].favoured]] > 20).all()
    if not SORTS[sort].favoured:
        assert (happened > 3).all()
    assert len(happened) == KINDS
