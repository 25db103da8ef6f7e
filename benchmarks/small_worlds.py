"""Tiny worlds of masks that hold no cell, one, or two, and sums over everything that can be in them.

A world is a few frames of one to three masks, edges between neighbouring frames and across gaps, and for every mask the ways in and
out of `models/mask_ways.py` with random weights. `exact` goes through the masks' ways in and out, frame by frame, and carries the
weight of everything that may have happened so far, grouped by what is still open: edges whose later end has not chosen its way in,
and states of masks that have not chosen their way out. It shares no code with `dunno.assignment.choices.propagate`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from dunno.assignment import every_pair
from dunno.assignment.choices import KINDS, STATES, YOUNG, Choices, Kind, ways
from dunno.types import Floats, Ints

FAR = frozenset({Kind.SINGLE, Kind.YOUNG, Kind.GROWN, Kind.DIVIDING, Kind.STAYING})
"""Kinds of edges that may skip a frame."""

FAVOUR = 2.0
"""How much more favoured ways weigh, in nats."""

Table = dict[int, tuple[tuple[Kind, ...], ...]]
OUT: Table = {
    0: ((Kind.FALSE,), (Kind.ABSORBED,)),
    1: ((Kind.SINGLE,), (Kind.MERGING,), (Kind.REJOINED,), (Kind.DIVIDING, Kind.DIVIDING), (Kind.WHOLE, Kind.PIECE)),
    2: (
        (Kind.STAYING,),
        (Kind.APART,),
        (Kind.APART, Kind.APART),
        (Kind.APART, Kind.DIVIDING, Kind.DIVIDING),
    ),
    YOUNG: ((Kind.YOUNG,), (Kind.GROWN,), (Kind.MERGING,), (Kind.REJOINED,), (Kind.WHOLE, Kind.PIECE)),
}
INTO: Table = {
    0: ((Kind.FALSE,), (Kind.PIECE,)),
    1: ((Kind.SINGLE,), (Kind.GROWN,), (Kind.APART,), (Kind.WHOLE,), (Kind.REJOINED, Kind.ABSORBED)),
    2: ((Kind.STAYING,), (Kind.MERGING,), (Kind.MERGING, Kind.MERGING)),
    YOUNG: ((Kind.DIVIDING,), (Kind.YOUNG,)),
}
"""By state, the kinds of the edges that a way takes, beside taking none."""


@dataclass(frozen=True, eq=False)
class World:
    """Masks in the order of their frames, and all their ways."""

    out: Choices
    into: Choices
    frame: Ints
    n_edges: int

    @property
    def n_masks(self) -> int:
        """N."""
        return len(self.frame)

    @property
    def is_tree(self) -> bool:
        """Whether no loop leads through masks (their ways in and out agree on a state) and edges (their ends agree on a kind)."""
        ends = [{*_ends(self.out, e)} | {self.n_masks + v for v in _ends(self.into, e)} for e in range(self.n_edges)]
        group = list(range(2 * self.n_masks))
        for one, other in [(v, self.n_masks + v) for v in range(self.n_masks)] + [(*e,) for e in ends if len(e) == 2]:
            if group[one] == group[other]:
                return False
            group = [group[one] if each == group[other] else each for each in group]
        return True

    def divide(self, ways_out: Floats) -> Floats:
        """(N,) probability of each mask to divide."""
        own = np.any([(edge >= 0) & (kind == Kind.DIVIDING) for edge, kind in _columns(self.out)], axis=0)
        return np.bincount(self.out.mask[own], ways_out[own], minlength=self.n_masks).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Sums:
    """What `Beliefs` approximates."""

    ways_out: Floats
    ways_in: Floats
    state: Floats
    edge: Floats
    log_evidence: float


def _columns(choices: Choices) -> list[tuple[Ints, Ints]]:
    """(C,) the edges of each way, one after the other, and their kinds."""
    return [(getattr(choices, name), getattr(choices, f"{name}_kind")) for name in ("first", "second", "third")]


def _ends(choices: Choices, edge: int) -> Ints:
    return np.unique(choices.mask[np.any([taken == edge for taken, _ in _columns(choices)], axis=0)])


@dataclass(frozen=True)
class Sort:
    """What a sort of random world is like.

    Attributes:
        across: Share of the edges that skip a frame which are there.
        favoured: Kinds of edges whose ways weigh e² times more.
        frames: How many masks each frame has; empty for two to four frames of one to three.
    """

    across: float = 0.0
    favoured: tuple[Kind, ...] = ()
    frames: tuple[int, ...] = ()


SORTS = {
    "neighbours": Sort(),
    "gaps": Sort(across=0.5),
    "false and cut": Sort(0.1, (Kind.FALSE, Kind.PIECE, Kind.ABSORBED, Kind.WHOLE, Kind.REJOINED)),
    "merging": Sort(0.1, (Kind.MERGING, Kind.STAYING, Kind.APART)),
    "dividing together": Sort(0.1, (Kind.DIVIDING,), (2, 3)),
}
DENSITIES, SPREADS, KEPT, MOST_EDGES = (0.4, 0.8), (1.0, 3.0), 0.6, 8
"""Of random worlds: shares of the edges between neighbours, spreads of the log weights, share of the ways, and most edges."""


def random_worlds(sort: Sort, rng: np.random.Generator) -> Iterator[World]:
    """Endless worlds that have an edge, and not too many."""
    while True:
        frames = sort.frames or tuple(rng.integers(1, 4, rng.integers(2, 5)).tolist())
        world = random_world(frames, rng, float(rng.choice(DENSITIES)), sort, float(rng.choice(SPREADS)))
        if 0 < world.n_edges <= MOST_EDGES:
            yield world


def random_world(
    frames: Sequence[int], rng: np.random.Generator, density: float, sort: Sort, spread: float = 1.0, kept: float = KEPT
) -> World:
    """A random movie.

    Args:
        frames: How many masks each frame has.
        rng: Where randomness comes from.
        density: Which share of the edges between neighbouring frames is there.
        sort: What it is like.
        spread: Of the ways' log weights.
        kept: Which share of the ways that take edges is there.
    """
    frame = np.repeat(np.arange(len(frames)), frames)
    lag = frame[None] - frame[:, None]
    share = np.select([lag == 1, lag == 2], [density, sort.across], 0.0)
    mother, daughter = np.nonzero(rng.random(lag.shape) < share)
    far = lag[mother, daughter] > 1

    def side(ends: Ints, table: Table) -> Choices:
        n = len(frame)
        parts = [ways(np.arange(n), state, spread * rng.normal(size=n)) for state in range(STATES)]
        for state, kinds in ((state, kinds) for state, taken in table.items() for kinds in taken):
            edges = _taken(ends, kinds, rng)
            usual = np.all([~far[edge] | (kind in FAR) for edge, kind in zip(edges, kinds, strict=True)], axis=0)
            own = np.flatnonzero(usual & (rng.random(len(usual)) < kept))
            weight = spread * rng.normal(size=len(own)) + FAVOUR * (kinds[0] in sort.favoured)
            named = [(edge[own], kind) for edge, kind in zip(edges, kinds, strict=True)]
            parts.append(ways(ends[edges[0][own]], state, weight, *named))
        return Choices.joined(parts)

    return World(side(mother, OUT), side(daughter, INTO), frame, len(mother))


def _taken(ends: Ints, kinds: tuple[Kind, ...], rng: np.random.Generator) -> tuple[Ints, ...]:
    """(K,) the edges of each way that one end may take: single ones, pairs, of which either may be of the first kind, or three."""
    if len(kinds) == 1:
        return (np.arange(len(ends)),)
    if len(kinds) == 3:
        found = [(a, *b) for a in range(len(ends)) for b in combinations(range(len(ends)), 2) if a not in b]
        three = np.array([each for each in found if len({*ends[list(each)].tolist()}) == 1], np.int64).reshape(-1, 3)
        return tuple(three.T)
    one, other = every_pair(ends)
    swap = rng.random(len(one)) < 0.5
    return np.where(swap, other, one), np.where(swap, one, other)


def exact(world: World, most: int = 10_000_000) -> Sums:
    """Probabilities of all ways, states and kinds of edges, and the evidence, by a sum over everything that can be.

    Args:
        world: A small one.
        most: Raises `TooLargeError` where more groups than this are to be carried.
    """
    steps = [_Step(world, v, out=bool(out)) for _, out, v in _order(world)]
    forward = [{0: 1.0}]
    for step in steps:
        forward.append(step.carried(forward[-1], most))
    total = forward[-1].get(0, 0.0)
    told = np.zeros(len(world.into.mask)), np.zeros(len(world.out.mask))
    after = {0: 1.0 / total}  # by open promises, what all that follows weighs
    for step, before in zip(reversed(steps), reversed(forward[:-1]), strict=True):
        after = step.taken_back(before, after, told[step.out])
    state, edge = _told(world, *told)
    return Sums(told[1], told[0], state, edge, float(np.log(total)) + sum(step.log_scale for step in steps))


class TooLargeError(Exception):
    """A world that would take too long."""


def _order(world: World) -> list[tuple[int, bool, int]]:
    """Frame by frame, first all ways in, then all ways out: little is open between them."""
    return sorted((frame, out, v) for v, frame in enumerate(world.frame.tolist()) for out in (False, True))


class _Step:
    """The ways of one mask on one side, each with the promises that it keeps and those that it makes.

    A promise is what two steps must agree on: the kind of an edge, or the state of a mask. All that are open are one number, four
    bits each: 0 for an edge that is not used, else its kind and one, or the state and one.
    """

    def __init__(self, world: World, v: int, *, out: bool) -> None:
        choices = world.out if out else world.into
        self.out = out
        rows = np.flatnonzero(choices.mask == v)
        self.log_scale = float(choices.log_weight[rows].max())
        self.looked_at = 0
        self.ways: dict[int, list[tuple[int, float, int]]] = {}
        columns = _columns(choices)
        for c in rows.tolist():
            state, edges, own = _bits(world.n_edges + v, int(choices.state[c])), 0, 15 << 4 * (world.n_edges + v)
            for edge, kind in ((taken[c], kinds[c]) for taken, kinds in columns):
                if edge >= 0:
                    edges |= _bits(int(edge), int(kind))
                    self.looked_at |= 0 if out else 15 << 4 * int(edge)
            self.looked_at |= own if out else 0
            keeps, makes = (state, edges) if out else (edges, state)
            weight = float(np.exp(choices.log_weight[c] - self.log_scale))
            self.ways.setdefault(keeps, []).append((makes, weight, c))

    def carried(self, before: dict[int, float], most: int) -> dict[int, float]:
        """By open promises, what all weighs that may have happened until after this step."""
        found: dict[int, float] = {}
        for promised, weight in before.items():
            rest = promised & ~self.looked_at
            for makes, own, _ in self.ways.get(promised & self.looked_at, ()):
                found[rest | makes] = found.get(rest | makes, 0.0) + weight * own
            if len(found) > most:
                raise TooLargeError(f"more than {most} groups")
        return found

    def taken_back(self, before: dict[int, float], after: dict[int, float], told: Floats) -> dict[int, float]:
        """By the promises that were open before this step, what all that follows weighs; adds to the ways' probabilities."""
        found = {}
        for promised, weight in before.items():
            rest = promised & ~self.looked_at
            found[promised] = 0.0
            for makes, own, c in self.ways.get(promised & self.looked_at, ()):
                if later := own * after.get(rest | makes, 0.0):
                    told[c] += weight * later
                    found[promised] += later
        return found


def _bits(place: int, value: int) -> int:
    return (value + 1) << 4 * place


def _told(world: World, ways_in: Floats, ways_out: Floats) -> tuple[Floats, Floats]:
    """(N, 4) and (E, 12) probabilities of states and of kinds."""
    state, edge = np.zeros((world.n_masks, STATES)), np.zeros((world.n_edges, KINDS))
    np.add.at(state, (world.into.mask, world.into.state), ways_in)
    out = world.out
    for taken, kind in _columns(out):
        own = taken >= 0
        np.add.at(edge, (taken[own], kind[own]), ways_out[own])
    return state, edge
