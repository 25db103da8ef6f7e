"""Problems to test with: small ones of every awkward kind, and large ones that look like a frame of cells."""

import numpy as np
from hypothesis import strategies as st
from scipy.spatial import cKDTree

from dunno.assignment import Problem

KINDS = ("tied", "integer", "positive", "real")


@st.composite
def problems(draw: st.DrawFn, n_most: int = 5, kinds: tuple[str, ...] = KINDS) -> Problem:
    """Small problems with ties, negative, infinite and per-cell costs of any scale, empty sides, isolated cells.

    Some mothers have divide = -disappear, the limit of convexity. The numbers come from a generator with a drawn
    seed: hypothesis chooses the shape of the problem.
    """
    n_mothers, n_daughters = draw(st.integers(0, 4)), draw(st.integers(0, n_most))
    kind, scale = draw(st.sampled_from(kinds)), draw(st.sampled_from([1.0, 1.0, 1.0, 1e-9, 1e9]))
    density, missing = draw(st.sampled_from([0.3, 0.7, 1.0])), draw(st.sampled_from([0.0, 0.0, 0.2]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))

    def numbers(n: int) -> np.ndarray:
        return {
            "tied": rng.integers(0, 2, n).astype(float),
            "integer": rng.integers(-3, 4, n).astype(float),
            "positive": np.abs(rng.normal(0, 3, n)),
            "real": rng.normal(0, 3, n),
        }[kind]

    daughter, mother = np.nonzero(rng.random((n_daughters, n_mothers)) < density)
    order = rng.permutation(len(mother))
    cost = numbers(len(mother))
    cost[rng.random(len(mother)) < missing] = np.inf
    disappear = numbers(n_mothers)
    divide = -disappear + np.abs(numbers(n_mothers)) * (rng.random(n_mothers) < 0.6)
    events = numbers(n_daughters) * scale, disappear * scale, divide * scale
    return Problem(mother[order], daughter[order], cost[order] * scale, n_mothers, n_daughters, *events)


def scale_of(problem: Problem) -> float:
    """The largest finite cost: what rounding errors are relative to."""
    numbers = np.concatenate([problem.cost, problem.appear, problem.disappear, problem.divide])
    return float(np.abs(numbers[np.isfinite(numbers)]).max(initial=0.0))


def with_cost(problem: Problem, cost: np.ndarray) -> Problem:
    """The same edges and events with other costs of edges."""
    events = problem.appear, problem.disappear, problem.divide
    return Problem(problem.mother, problem.daughter, cost, problem.n_mothers, problem.n_daughters, *events)


def frame(n: int, sigma: float, seed: int, n_nearest: int = 12, whole_numbers: bool = False) -> Problem:
    """A frame of n cells, one per unit of area, that move by sigma; their nearest mothers are candidates."""
    rng = np.random.default_rng(seed)
    mothers = rng.uniform(0, np.sqrt(n), (n, 2))
    daughters = mothers[rng.integers(0, n, n)] + rng.normal(0, sigma, (n, 2))
    _, nearest = cKDTree(mothers).query(daughters, k=min(n_nearest, n))
    mother, daughter = nearest.ravel(), np.repeat(np.arange(n), nearest.shape[1])
    cost = ((mothers[mother] - daughters[daughter]) ** 2).sum(axis=1) / (2 * sigma**2)
    if whole_numbers:
        cost = np.round(cost)
    return Problem(mother, daughter, cost, n, n, appear=5.0, disappear=4.0, divide=2.0)
