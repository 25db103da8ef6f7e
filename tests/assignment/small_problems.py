"""Random small problems, and strips of cells whose exact sum still fits."""

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from dunno.assignment import Problem

Costs = st.sampled_from(["real", "integer", "tied"])


@st.composite
def problems(
    draw: st.DrawFn,
    dividing: bool | None = None,
    most: int = 4,
    scale: float = 3.0,
    infinite: bool = True,
    fewest: int = 0,
) -> Problem:
    """Per-cell, negative, integer, tied costs, any divide, absent edges, empty sides and isolated cells."""
    m, n = draw(st.integers(fewest, most)), draw(st.integers(fewest, most))
    seed, kind, density = draw(st.integers(0, 2**32 - 1)), draw(Costs), draw(st.floats(0.2, 1.0))
    has_dividing = draw(st.booleans()) if dividing is None else dividing
    rng = np.random.default_rng(seed)

    def costs(size: int) -> NDArray[np.float64]:
        if kind == "tied":
            return rng.integers(-1, 2, size).astype(float)
        values = scale * rng.normal(size=size)
        return np.round(values) if kind == "integer" else values

    mother, daughter = np.nonzero(rng.random((m, n)) < density)
    shuffled = rng.permutation(len(mother))
    cost = costs(len(mother))
    dividing_cost = costs(len(mother)) if has_dividing else None
    if infinite:
        cost[rng.random(len(cost)) < 0.1] = np.inf
        if dividing_cost is not None:
            dividing_cost[rng.random(len(cost)) < 0.1] = np.inf
    return Problem(
        mother[shuffled],
        daughter[shuffled],
        cost,
        m,
        n,
        appear=costs(n),
        disappear=costs(m),
        divide=costs(m),
        dividing_cost=dividing_cost,
    )


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


def colony(
    rows: int,
    columns: int,
    motion: float,
    seed: int,
    divide: float = 0.0,
    candidates: int = 12,
    dividing_cost: bool = False,
) -> Problem:
    """Jittered cells one spacing apart that move, divide, appear, disappear; cost = distance²/(2 motion²)."""
    rng = np.random.default_rng(seed)
    grid = np.stack(np.meshgrid(np.arange(rows), np.arange(columns)), axis=-1).reshape(-1, 2)
    before = grid + rng.uniform(size=grid.shape)
    copies = rng.choice([0, 1, 2], size=len(before), p=[0.05, 0.85, 0.1])
    after = np.repeat(before, copies, axis=0)
    after = after + motion * rng.normal(size=after.shape)
    new = rng.uniform(size=(len(before) // 20, 2)) * [rows, columns]
    after = np.concatenate([after, new])
    distance = np.linalg.norm(after[:, None] - before, axis=-1)
    nearest = np.argsort(distance, axis=1)[:, :candidates]
    daughter = np.repeat(np.arange(len(after)), nearest.shape[1])
    cost = np.take_along_axis(distance, nearest, axis=1).ravel() ** 2 / (2 * motion**2)
    return Problem(
        nearest.ravel(),
        daughter,
        cost,
        len(before),
        len(after),
        appear=7.0,
        disappear=7.0,
        divide=divide,
        dividing_cost=cost / 4 if dividing_cost else None,
    )
