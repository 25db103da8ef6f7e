"""Whole assignments drawn from the posterior."""

from dataclasses import dataclass
from typing import Literal, overload

import numpy as np
from numpy.typing import NDArray

from dunno import _core
from dunno.assignment.effective_size import effective_size
from dunno.assignment.marginals import marginals
from dunno.assignment.problem import Problem
from dunno.errors import ProblemError

CROWDED = 30  # edges per daughter; judged
"""From here on a look at which edges can be drawn at all costs less than it saves."""

NEVER_DRAWN = 1e-12  # probability; judged
"""Edges below this are left out where there are many: no number of samples that fits in memory would show them."""


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples of the posterior, with what they are worth.

    Attributes:
        edge: (n, n_daughters) index of each daughter's edge, or -1 where it appears.
        effective_size: How many independent samples are worth as much for what mixes slowest; n if `exact`.
        exact: Whether the samples are independent draws; otherwise they come from a Markov chain.
    """

    edge: NDArray[np.int64]
    effective_size: float
    exact: bool


@overload
def sample(problem: Problem, n: int, seed: int, report: Literal[False] = False) -> NDArray[np.int64]: ...


@overload
def sample(problem: Problem, n: int, seed: int, report: Literal[True]) -> Samples: ...


def sample(problem: Problem, n: int, seed: int, report: bool = False) -> NDArray[np.int64] | Samples:
    r"""Draw assignments from the posterior $P(A) \propto \exp(-cost(A))$.

    Connected components whose exact sum is small are drawn independently. Elsewhere a Markov chain draws
    whole clusters of cells from their exact conditional distribution, starting from the cheapest assignment;
    consecutive samples are then correlated, and `report=True` says how much that costs.

    Args:
        problem: The problem; a `dividing_cost`, `triples` and a divide < −disappear are welcome here.
        n: Number of samples.
        seed: The same seed gives the same samples on every machine with the same costs.
        report: Return `Samples` with the effective sample size instead of the bare array.

    Returns:
        (n, n_daughters) index of each daughter's edge, or -1 where it appears; or `Samples`.

    Example:
        >>> from dunno.assignment import Problem, sample
        >>> problem = Problem([0], [0], [-50.0], n_mothers=1, n_daughters=1)
        >>> sample(problem, 2, seed=0)
        array([[0],
               [0]])
    """
    count = _whole_number(n, "n")
    kept = _worth_drawing(problem)
    if kept is not None:
        problem = problem.among(kept)
    sequence = np.random.SeedSequence(_whole_number(seed, "seed"))
    state = sequence.generate_state(4, np.uint64).astype(np.uint64, copy=False)
    flat, exact = _core.sample(problem.core, count, state)
    edge = np.asarray(flat, np.int64).reshape(count, problem.n_daughters)
    size = (float(count) if exact else effective_size(problem, edge)) if report else 0.0
    if kept is not None:
        edge = np.where(edge >= 0, np.flatnonzero(kept)[edge] if kept.any() else -1, -1)
    return Samples(edge, size, exact) if report else edge


def _worth_drawing(problem: Problem) -> NDArray[np.bool_] | None:
    """(E,) the edges that may be drawn; `None` for all. Where every mother is a candidate, a chain would look at all of them."""
    if len(problem.mother) < CROWDED * problem.n_daughters:
        return None
    return marginals(problem, "rough").edge > NEVER_DRAWN


def _whole_number(value: object, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        raise ProblemError(f"{name} is {value!r}; expected a whole number, zero or more")
    return int(value)
