"""Problems to test with: small ones of every awkward kind, and a frame of cells.

`benchmarks.frames` has more frames.
"""

import os
from copy import copy
from dataclasses import replace

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from benchmarks.frames import nearest_edges
from dunno.assignment import Problem, Triples, every_pair

KINDS = ("zero-one", "tied", "integer", "positive", "real")


def examples(n: int) -> settings:
    """Let hypothesis try n examples, or the share of them that DUNNO_EXAMPLES asks for where every step is checked."""
    share = float(os.environ.get("DUNNO_EXAMPLES", "1"))
    return settings(max_examples=max(1, round(n * share)), deadline=None)


def numbers(rng: np.random.Generator, kind: str, n: int) -> NDArray[np.float64]:
    """(n,) costs of one kind."""
    return {
        "zero-one": rng.integers(0, 2, n).astype(float),
        "tied": rng.integers(-1, 2, n).astype(float),
        "integer": np.round(rng.normal(0, 3, n)),
        "positive": np.abs(rng.normal(0, 3, n)),
        "real": rng.normal(0, 3, n),
        "huge": rng.normal(0, 3, n) + rng.choice([0.0, 0.0, 0.0, 9e11, -9e11, 4e11, -4e11], n),
    }[kind]


@st.composite
def flows(draw: st.DrawFn, n_most: int = 5, kinds: tuple[str, ...] = KINDS) -> Problem:
    """Problems that `solve` takes, of any scale: divide ≥ -disappear, for some mothers with equality."""
    problem = draw(problems(most=4, most_daughters=n_most, kinds=kinds, dividing=False))
    scale = draw(st.sampled_from([1.0, 1.0, 1.0, 1e-9, 1e9]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    above = np.abs(problem.divide) * (rng.random(problem.n_mothers) < 0.6)
    events = problem.appear * scale, problem.disappear * scale, (above - problem.disappear) * scale
    ends = problem.mother, problem.daughter
    return Problem(*ends, problem.cost * scale, problem.n_mothers, problem.n_daughters, *events)


@st.composite
def problems(
    draw: st.DrawFn,
    dividing: bool | None = None,
    most: int = 4,
    most_daughters: int | None = None,
    infinite: bool = True,
    fewest: int = 0,
    kinds: tuple[str, ...] = KINDS,
) -> Problem:
    """Per-cell, negative, integer and tied costs, any divide, absent edges, empty sides and isolated cells.

    The numbers come from a generator with a drawn seed: hypothesis chooses the shape of the problem.
    """
    m, n = draw(st.integers(fewest, most)), draw(st.integers(fewest, most_daughters or most))
    kind, density = draw(st.sampled_from(kinds)), draw(st.sampled_from([0.3, 0.7, 1.0]))
    absent = draw(st.sampled_from([0.0, 0.0, 0.2])) if infinite else 0.0
    has_dividing = draw(st.booleans()) if dividing is None else dividing
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    daughter, mother = np.nonzero(rng.random((n, m)) < density)
    order = rng.permutation(len(mother))

    def edge_costs() -> NDArray[np.float64]:
        return np.where(rng.random(len(mother)) < absent, np.inf, numbers(rng, kind, len(mother)))

    events = numbers(rng, kind, n), numbers(rng, kind, m), numbers(rng, kind, m)
    cost, dividing_cost = edge_costs(), edge_costs() if has_dividing else None
    return Problem(mother[order], daughter[order], cost, m, n, *events, dividing_cost)


@st.composite
def trees(draw: st.DrawFn) -> Problem:
    """Edges without loops: each new cell is joined to one cell of the other side that is there already."""
    n_cells, seed = draw(st.integers(2, 9)), draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    edges, m, n = [(0, 0)], 1, 1
    for _ in range(n_cells - 2):
        if rng.random() < 0.4:
            edges.append((m, int(rng.integers(n))))
            m += 1
        else:
            edges.append((int(rng.integers(m)), n))
            n += 1
    mother, daughter = np.array(edges).T
    dividing_cost = rng.normal(size=len(edges)) if draw(st.booleans()) else None
    cost, appear, events = rng.normal(size=len(edges)), rng.normal(size=n), rng.normal(size=(2, m))
    return Problem(mother, daughter, cost, m, n, appear, events[0], events[1], dividing_cost)


def with_triples(problem: Problem, triples: Triples | None) -> Problem:
    """The same problem with other triples, or none."""
    ends = (problem.mother, problem.daughter, problem.cost, problem.n_mothers, problem.n_daughters)
    return Problem(*ends, problem.appear, problem.disappear, problem.divide, problem.dividing_cost, triples)


def random_triples(
    problem: Problem, rng: np.random.Generator, kind: str = "real", listed: float = 1.0, impossible: float = 0.0
) -> Triples:
    """A share of all pairs that mothers could divide into, in any order, some of them impossible."""
    pairs = np.array(every_pair(problem.mother))
    pairs = rng.permuted(pairs, axis=0)[:, rng.permutation(pairs.shape[1])[: round(listed * pairs.shape[1])]]
    cost = numbers(rng, kind, pairs.shape[1])
    return Triples(*pairs, np.where(rng.random(len(cost)) < impossible, np.inf, cost))


@st.composite
def problems_with_triples(draw: st.DrawFn, kinds: tuple[str, ...] = KINDS, **shape: int | bool) -> Problem:
    """The problems above with costs of divisions: all pairs or some, a few impossible."""
    problem = draw(problems(kinds=kinds, **shape))  # type: ignore[arg-type]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind, listed = draw(st.sampled_from(kinds)), draw(st.sampled_from([0.3, 1.0, 1.0]))
    return with_triples(problem, random_triples(problem, rng, kind, listed, draw(st.sampled_from([0.0, 0.3]))))


def scale_of(problem: Problem) -> float:
    """The largest finite cost: what rounding errors are relative to."""
    costs = np.concatenate([problem.cost, problem.appear, problem.disappear, problem.divide])
    return float(np.abs(costs[np.isfinite(costs)]).max(initial=0.0))


def scaled(problem: Problem, factor: float) -> Problem:
    """The same problem with all costs multiplied."""
    events = problem.appear * factor, problem.disappear * factor, problem.divide * factor
    dividing_cost = None if problem.dividing_cost is None else problem.dividing_cost * factor
    triples = None if problem.triples is None else replace(problem.triples, cost=problem.triples.cost * factor)
    ends, sizes = (problem.mother, problem.daughter), (problem.n_mothers, problem.n_daughters)
    return Problem(*ends, problem.cost * factor, *sizes, *events, dividing_cost, triples)


def with_cost(problem: Problem, cost: NDArray[np.float64]) -> Problem:
    """The same edges and events with other costs of edges."""
    events = problem.appear, problem.disappear, problem.divide
    return Problem(problem.mother, problem.daughter, cost, problem.n_mothers, problem.n_daughters, *events)


def in_long_doubles(problem: Problem) -> Problem:
    """The same with numbers of more digits, where the machine has them."""

    def longer(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return values.astype(np.longdouble)

    events = longer(problem.appear), longer(problem.disappear), longer(problem.divide)
    dividing = None if problem.dividing_cost is None else longer(problem.dividing_cost)
    triples = None if problem.triples is None else copy(problem.triples)
    if triples is not None:
        object.__setattr__(triples, "cost", longer(triples.cost))
    ends = problem.mother, problem.daughter, longer(problem.cost), problem.n_mothers, problem.n_daughters
    return Problem.of_parts(*ends, *events, dividing, triples)


def with_more_for_one(problem: Problem, daughter: int, constant: float) -> Problem:
    """The same problem with a constant on all that one daughter can do."""
    more = np.zeros(problem.n_daughters)
    more[daughter] = constant
    cost, appear = problem.cost + more[problem.daughter], problem.appear + more
    ends, sizes = (problem.mother, problem.daughter), (problem.n_mothers, problem.n_daughters)
    return Problem(*ends, cost, *sizes, appear, problem.disappear, problem.divide)


def permuted(
    problem: Problem, rng: np.random.Generator
) -> tuple[Problem, NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The same problem with its cells and edges in another order, and where its mothers, daughters and edges were."""
    mothers, daughters = rng.permutation(problem.n_mothers), rng.permutation(problem.n_daughters)
    edges = rng.permutation(len(problem.cost))
    ends = np.argsort(mothers)[problem.mother[edges]], np.argsort(daughters)[problem.daughter[edges]]
    events = problem.appear[daughters], problem.disappear[mothers], problem.divide[mothers]
    dividing_cost = None if problem.dividing_cost is None else problem.dividing_cost[edges]
    triples = None if problem.triples is None else problem.triples.renumbered(np.argsort(edges))
    sizes = problem.n_mothers, problem.n_daughters
    return Problem(*ends, problem.cost[edges], *sizes, *events, dividing_cost, triples), mothers, daughters, edges


def frame(n: int, sigma: float, seed: int, n_nearest: int = 12, whole_numbers: bool = False) -> Problem:
    """A frame of n cells, one per unit of area, that move by sigma; their nearest mothers are candidates."""
    rng = np.random.default_rng(seed)
    mothers = rng.uniform(0, np.sqrt(n), (n, 2))
    daughters = mothers[rng.integers(0, n, n)] + rng.normal(0, sigma, (n, 2))
    mother, daughter, cost = nearest_edges(mothers, daughters, sigma, n_nearest)
    if whole_numbers:
        cost = np.round(cost)
    return Problem(mother, daughter, cost, n, n, appear=5.0, disappear=4.0, divide=2.0)
