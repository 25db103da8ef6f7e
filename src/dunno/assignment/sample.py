"""Whole assignments drawn from the posterior."""

from dataclasses import dataclass
from typing import Literal, overload

import numpy as np
from numpy.typing import NDArray

from dunno import _core
from dunno.assignment.marginals import marginals
from dunno.assignment.problem import Problem, Triples
from dunno.errors import ProblemError

CROWDED = 30  # edges per daughter; judged
"""From here on a look at which edges can be drawn at all costs less than it saves."""

NEVER_DRAWN = 1e-12  # probability; judged
"""Edges below this are left out where there are many: no number of samples that fits in memory would show them."""


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples of the posterior, with what they are worth."""

    edge: NDArray[np.int64]  # (n, n_daughters) index of each daughter's edge, or -1 where it appears
    effective_size: float  # How many independent samples are worth as much for what mixes slowest; n if `exact`
    exact: bool  # Whether the samples are independent draws; otherwise they come from a Markov chain


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


_COLUMNS_AT_ONCE = 256  # columns; speed, benchmarks.marginals; whose autocorrelation is computed together
_RARE = 0.02  # share; judged; options that fewer samples have are left out


def effective_size(problem: Problem, edge: NDArray[np.int64]) -> float:
    r"""Estimate how many independent samples are worth as much as the given ones.

    $$n_{eff} = \min_x n / \tau_x, \qquad \tau_x = 1 + 2 \sum_{t \ge 1} \rho_x(t)$$

    over the cost x of the samples and, for every daughter, whether it has its most frequent option. Daughters who nearly always
    have it are left out: a handful of events says nothing about correlation. The estimate cannot fall much below 10: a result
    of a few tens only says that the chain was too short. Samples are (n, n_daughters), in the order of the chain.
    """
    n = len(edge)
    if n < 4:
        return float(n)
    longest = autocorrelation_time(sample_costs(problem, edge)[:, None]).max(initial=1.0)
    for first in range(0, problem.n_daughters, _COLUMNS_AT_ONCE):
        is_usual = usual_option(edge[:, first : first + _COLUMNS_AT_ONCE])
        share = is_usual.mean(axis=0)
        uncertain = is_usual[:, (share > _RARE) & (share < 1 - _RARE)]
        longest = max(longest, autocorrelation_time(uncertain).max(initial=1.0))
    return float(n / longest)


def sample_costs(problem: Problem, edge: NDArray[np.int64]) -> NDArray[np.float64]:
    """(n,) cost of each sample."""
    sample, daughter = np.nonzero(edge >= 0)
    link = edge[sample, daughter]
    load = np.zeros((len(edge), problem.n_mothers), dtype=np.int8)
    np.add.at(load, (sample, problem.mother[link]), 1)
    price = problem.cost[link]
    if problem.dividing_cost is not None:
        price = np.where(load[sample, problem.mother[link]] == 2, problem.dividing_cost[link], price)
    events = (edge < 0) @ problem.appear + (load == 0) @ problem.disappear + (load == 2) @ problem.divide
    total = events + np.bincount(sample, price, minlength=len(edge))
    if problem.triples is not None:
        total += _triple_costs(problem, problem.triples, sample, link, len(edge))
    return np.asarray(total)


def _triple_costs(
    problem: Problem, triples: Triples, sample: NDArray[np.int64], link: NDArray[np.int64], n: int
) -> NDArray[np.float64]:
    """(n,) what the divisions of each sample cost extra, where it has the links (L,)."""
    group = sample * problem.n_mothers + problem.mother[link]
    order = np.lexsort((link, group))
    first, second = order[:-1], order[1:]
    divides = group[first] == group[second]
    low, high = np.sort([triples.first_edge, triples.second_edge], axis=0)
    code, wanted = low * len(problem.cost) + high, link[first] * len(problem.cost) + link[second]
    by_code = np.argsort(code)
    place = np.minimum(np.searchsorted(code, wanted, sorter=by_code), len(code) - 1)
    listed = np.flatnonzero(divides & (code[by_code[place]] == wanted)) if len(code) else np.empty(0, np.int64)
    extra = np.zeros(n)
    np.add.at(extra, sample[first[listed]], triples.cost[by_code[place[listed]]])
    return extra


def usual_option(edge: NDArray[np.int64]) -> NDArray[np.float64]:
    """(n, d) whether each daughter has the option that it has most often."""
    ordered = np.sort(edge, axis=0)
    n = len(edge)
    starts = np.concatenate([np.ones((1, edge.shape[1]), dtype=bool), ordered[1:] != ordered[:-1]])
    position = np.where(starts, np.arange(n)[:, None], 0)
    run = np.arange(n)[:, None] - np.maximum.accumulate(position, axis=0)
    usual = ordered[run.argmax(axis=0), np.arange(edge.shape[1])]
    return np.asarray(edge == usual, dtype=np.float64)


def autocorrelation_time(series: NDArray[np.float64]) -> NDArray[np.float64]:
    r"""(d,) integrated autocorrelation time $\tau = 1 + 2 \sum_t \rho(t)$ of each column, at least 1.

    The sum ends at the first window that is five times as long as the $\tau$ found within it (Sokal).
    """
    n, d = series.shape
    centred = series - series.mean(axis=0)
    varies = centred.any(axis=0)
    spectrum = np.fft.rfft(centred[:, varies], 2 * n, axis=0)
    covariance = np.fft.irfft(np.abs(spectrum) ** 2, 2 * n, axis=0)[:n]
    time = 2.0 * np.cumsum(covariance / covariance[0], axis=0) - 1.0
    long_enough = np.arange(n)[:, None] >= 5.0 * time
    window = np.where(long_enough.any(axis=0), long_enough.argmax(axis=0), n - 1)
    result = np.ones(d)
    result[varies] = np.maximum(1.0, time[window, np.arange(time.shape[1])])
    return result
