"""Tiny random worlds of masks and edges, and sums over everything that can be in them.

Enumeration goes through all choices of the edges' ways, one edge after the other, and then through the states of masks that no way
has decided. It shares no code with the core.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations, product

import numpy as np

from dunno.segments.hypotheses import Hypotheses, Weights
from dunno.types import Floats


@dataclass
class World:
    """States by mask, as lists of objects; ways by edge, as lists of links."""

    frame: list[int]
    mask: list[int] = field(default_factory=list)
    state: list[int] = field(default_factory=list)
    ways: list[list[tuple[int, int]]] = field(default_factory=list)
    unions: list[tuple[int, int]] = field(default_factory=list)

    def states_of(self, mask: int) -> list[int]:
        return [s for s, m in enumerate(self.mask) if m == mask]

    def objects_of(self, state: int) -> list[int]:
        return [o for o, s in enumerate(self.state) if s == state]

    def masks_of(self, way: int) -> tuple[int, ...]:
        ends = [(self.mask[self.state[a]], self.mask[self.state[b]]) for a, b in self.ways[way]]
        return (ends[0][0], *sorted({later for _, later in ends}))

    @property
    def edges(self) -> dict[tuple[int, ...], list[int]]:
        """Ways by the masks that they join."""
        found: dict[tuple[int, ...], list[int]] = {}
        for way in range(len(self.ways)):
            found.setdefault(self.masks_of(way), []).append(way)
        return found

    @property
    def hypotheses(self) -> Hypotheses:
        links = [(way, *link) for way, links in enumerate(self.ways) for link in links]
        way, mother, daughter = np.array(links, np.int64).reshape(-1, 3).T.copy()
        columns = (np.array(self.frame), np.array(self.mask), np.array(self.state, np.int64), len(self.ways))
        return Hypotheses(*columns, way, mother, daughter, np.array(self.unions, np.int64).reshape(-1, 2))

    @property
    def is_tree(self) -> bool:
        """Whether no loop leads through masks, edges and unions."""
        ties = [*self.edges, *((self.mask[a], self.mask[b]) for a, b in self.unions)]
        group = list(range(len(self.frame)))
        for masks in ties:
            seen = [group[m] for m in masks]
            if len(set(seen)) < len(seen):
                return False
            group = [seen[0] if g in seen else g for g in group]
        return True


@dataclass
class Sums:
    """What propagation approximates."""

    state: Floats
    way: Floats
    log_evidence: float


def enumerated(world: World, weights: Weights) -> Sums:
    """Sums over everything that can be."""
    total, state, way = 0.0, np.zeros(len(world.mask)), np.zeros(len(world.ways))
    for states, ways in answers(world):
        weight = np.exp(value(world, weights, states, ways))
        total += weight
        state[states] += weight
        way[ways] += weight
    if total == 0.0:
        return Sums(state, way, -np.inf)
    return Sums(state / total, way / total, float(np.log(total)))


def value(world: World, weights: Weights, states: list[int], ways: list[int]) -> float:
    """The log weight of an answer."""
    there = [o for o, s in enumerate(world.state) if s in states]
    links = [link for w in ways for link in world.ways[w]]
    lone = set(there) - {b for _, b in links}
    last = set(there) - {a for a, _ in links}
    return float(
        weights.state[states].sum()
        + weights.way[ways].sum()
        + weights.appear[[*lone]].sum()
        + weights.disappear[[*last]].sum()
    )


def answers(world: World) -> Iterator[tuple[list[int], list[int]]]:
    for ways in product(*([-1, *own] for own in world.edges.values())):
        taken = [w for w in ways if w >= 0]
        decided = _decided(world, taken)
        if decided is None:
            continue
        free = [[decided[m]] if m in decided else world.states_of(m) for m in range(len(world.frame))]
        for states in product(*free):
            if all((a in states) == (b in states) for a, b in world.unions):
                yield list(states), taken


def _decided(world: World, ways: list[int]) -> dict[int, int] | None:
    """The states of masks that these ways need, None if they contradict each other."""
    state: dict[int, int] = {}
    used: set[tuple[str, int]] = set()
    for way in ways:
        mothers, daughters = ({*side} for side in zip(*world.ways[way], strict=True))
        own = {*(("out", a) for a in mothers), *(("in", b) for b in daughters)}
        if used & own:
            return None
        used |= own
        for o in mothers | daughters:
            if state.setdefault(world.mask[world.state[o]], world.state[o]) != world.state[o]:
                return None
    return state


def random_world(rng: np.random.Generator) -> World:
    """Up to four frames of one or two masks, with all kinds of ways between them."""
    frames = rng.integers(1, 3, rng.integers(2, 5))
    world = World(np.repeat(np.arange(len(frames)), frames).tolist())
    for mask in range(len(world.frame)):
        for n_objects in (0, 1, *rng.choice([1, 2, 3], rng.integers(0, 3), p=[0.3, 0.5, 0.2])):
            world.state += [len(world.mask)] * int(n_objects)
            world.mask.append(mask)
    _add_ways(world, rng)
    _add_unions(world, rng)
    return world


def _add_ways(world: World, rng: np.random.Generator) -> None:
    pairs = list(combinations(range(len(world.frame)), 2))
    lags = {pair: world.frame[pair[1]] - world.frame[pair[0]] for pair in pairs}
    for pair, lag in lags.items():
        if lag > 0 and rng.random() < (0.6 if lag == 1 else 0.15):
            world.ways += [_random_way(world, pair[0], pair[1:], rng) for _ in range(rng.integers(1, 4))]
    for a, b, c in combinations(range(len(world.frame)), 3):
        if world.frame[b] == world.frame[c] == world.frame[a] + 1 and rng.random() < 0.3:
            world.ways += [_random_way(world, a, (b, c), rng) for _ in range(rng.integers(1, 3))]
    world.ways = [list(way) for way in {tuple(way) for way in world.ways if way}]
    world.ways.sort(key=lambda way: (world.mask[world.state[way[0][0]]], way))


def _random_way(
    world: World, mother: int, daughters: tuple[int, ...], rng: np.random.Generator
) -> list[tuple[int, int]]:
    """One link, two, or a division; into both masks where there are two."""

    def pick(mask: int) -> list[int]:
        states = [objects for s in world.states_of(mask) if (objects := world.objects_of(s))]
        return rng.permutation(states[rng.integers(len(states))]).tolist()

    first, later = pick(mother), [pick(mask) for mask in daughters]
    ends = [own[0] for own in later] if len(later) == 2 else later[0][: rng.integers(1, 3)]
    mothers = first if len(first) >= len(ends) and rng.random() < 0.6 else first[:1] * len(ends)
    return list(zip(mothers, ends, strict=False))


def _add_unions(world: World, rng: np.random.Generator) -> None:
    taken: set[int] = set()
    for a, b in combinations(range(len(world.frame)), 2):
        if world.frame[a] != world.frame[b] or rng.random() > 0.3:
            continue
        for states in product(world.states_of(a)[1:], world.states_of(b)[:1]):
            if not taken & {*states}:
                world.unions.append(states)
                taken |= {*states}
                break


def random_weights(world: World, rng: np.random.Generator, spread: float) -> Weights:
    sizes = len(world.mask), len(world.state), len(world.state), len(world.ways)
    state, appear, disappear, way = (spread * rng.normal(size=n) for n in sizes)
    return Weights(state, appear - 1.0, disappear - 1.0, way + 1.0)


def with_impossible(weights: Weights, rng: np.random.Generator) -> Weights:
    """Some states and ways cannot be, and some objects cannot appear or disappear: their masks need a way."""

    def never(values: Floats, share: float) -> Floats:
        return np.where(rng.random(len(values)) < share, -np.inf, values)

    return Weights(
        never(weights.state, 0.3), never(weights.appear, 0.3), never(weights.disappear, 0.3), never(weights.way, 0.1)
    )


def random_worlds(n: int, seed: int, most: int = 60_000) -> Iterator[tuple[World, Weights]]:
    """Worlds with an edge, and not too many answers."""
    rng = np.random.default_rng(seed)
    while n > 0:
        world = random_world(rng)
        answers = np.prod([1 + len(ways) for ways in world.edges.values()] or [0])
        if 1 < answers < most and len(world.edges) <= 7:
            n -= 1
            yield world, random_weights(world, rng, float(rng.choice([0.5, 1.5, 3.0])))
