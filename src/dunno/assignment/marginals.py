"""How probable each edge and each event is among all assignments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from dunno import _core
from dunno.assignment.problem import Problem, Triples
from dunno.errors import ProblemError

Method = Literal["auto", "exact", "bp", "rough"]


@dataclass(frozen=True, eq=False)
class Marginals:
    r"""Marginals of the posterior $P(A) \propto \exp(-cost(A))$ over all assignments.

    A daughter's edges and its appearing sum to one, and so do a mother's loads none, one and two.

    Attributes:
        edge: (E,) probability that the edge is chosen; 0 for infinite edges.
        edge_dividing: (E,) probability that the edge is chosen and its mother divides.
        appear: (n_daughters,) probability that the daughter has no mother.
        disappear: (n_mothers,) probability that the mother has no daughter.
        divide: (n_mothers,) probability that the mother has two daughters.
        log_evidence: $\log \sum_A \exp(-cost(A))$, the Bethe approximation of it unless `exact`.
        exact: Whether everything here is exact up to rounding, or approximate in part.
        triple: (K,) probability that the mother divides into exactly these two, for each of the problem's triples; `None`
            without triples. Where all pairs of a mother are listed, theirs sum to `divide`.
    """

    edge: NDArray[np.float64]
    edge_dividing: NDArray[np.float64]
    appear: NDArray[np.float64]
    disappear: NDArray[np.float64]
    divide: NDArray[np.float64]
    log_evidence: float
    exact: bool
    triple: NDArray[np.float64] | None = None


def marginals(problem: Problem, method: Method = "auto") -> Marginals:
    r"""Find the posterior's marginals, and the evidence.

    $$P(A) = \exp(-cost(A)) / \sum_{A'} \exp(-cost(A'))$$

    Args:
        problem: The problem; a `dividing_cost`, `triples` and a divide < −disappear are welcome here.
        method: `exact` sums over all assignments of each connected component (a frontier DP) and refuses a
            problem where that does not fit. `bp` is belief propagation, exact where the edges form trees and
            overconfident where they form short loops; `rough` ends it once probabilities change by less than a
            thousandth, which is enough while a model is fitted. `auto` is exact where that is quick; elsewhere belief
            propagation passes messages between clusters of cells, and each cluster is summed over exactly.

    Example:
        >>> from dunno.assignment import Problem, marginals
        >>> problem = Problem([0, 1], [0, 0], [0.0, 0.0], 2, 1, appear=0.0, disappear=0.0)
        >>> marginals(problem).edge.round(3)
        array([0.333, 0.333])
    """
    return find_marginals(_core.marginals, problem, method)


def find_marginals(
    core: Callable[[_core.Problem, str], tuple[Any, ...]], problem: Problem, method: Method
) -> Marginals:
    """Call one of the core's doors to marginals."""
    if method not in get_args(Method):
        raise ProblemError(f"method is {method!r}; expected one of {', '.join(map(repr, get_args(Method)))}")
    try:
        return Marginals(*core(problem.core, method))
    except ValueError as error:
        raise ProblemError(str(error)) from None


class Rounds:
    """Finds marginals of problems whose edges stay while their costs change: the rounds of a fit.

    Connected components, clusters, orders of elimination and prices are kept for the last eight sets of edges, and messages
    begin with the last ones. So the first call for some edges is `marginals` to the bit; later ones are nearer to where
    messages settle, take less time, and depend on the calls before. Clusters are chosen anew where probabilities have moved
    by more than a tenth per daughter, so that `auto` stays as close to exact sums as single calls.

    Edges are the same where `mother`, `daughter`, the infinite costs and the pairs of edges in `triples` are. One problem may
    hold many frame pairs: cells of different pairs share no edges.

    Example:
        >>> from dunno.assignment import Problem, Rounds
        >>> rounds = Rounds()
        >>> for cost in (0.0, 0.5):
        ...     problem = Problem([0, 1], [0, 0], [0.0, cost], 2, 1, appear=0.0, disappear=0.0)
        ...     rounds.marginals(problem).edge.round(3)
        array([0.333, 0.333])
        array([0.384, 0.233])
    """

    def __init__(self) -> None:
        self._core = _core.Rounds()

    def marginals(self, problem: Problem, method: Method = "auto") -> Marginals:
        """The same as the function `marginals`, beginning from what is kept."""
        return find_marginals(self._core.marginals, problem, method)


LIKELY_FROM = 1e-7  # probability; speed, benchmarks.marginals
"""Edges below this are left out. Propagation may take an edge for a thousand times less probable than it is, no more was seen; on
HeLa 02 and PSC 01 all of them together hold a thirty-millionth of the links, and no other edge changes by more than .0006.
Components fall apart without them, so that more of them are summed exactly."""


def marginals_of_likely(problem: Problem, rough: Marginals, least: float = LIKELY_FROM) -> Marginals:
    """Find the marginals without the edges that are next to impossible by rough ones; those are as probable as they say."""
    likely = rough.edge > least
    return filled(marginals(problem.among(likely)), likely, rough.edge, problem.triples)


def filled(
    found: Marginals, likely: NDArray[np.bool_], edge: NDArray[np.float64], triples: Triples | None = None
) -> Marginals:
    """Marginals of a problem without some edges, as those of all; what was left out is as probable as given, and no division.

    `likely` (E,) says which edges the problem had; `edge` (E,) is believed of the others; `triples` are those of all edges.
    """
    whole, dividing = edge.copy(), np.zeros(len(edge))
    whole[likely], dividing[likely] = found.edge, found.edge_dividing
    triple = None
    if triples is not None and found.triple is not None:
        triple = np.zeros(len(triples))
        triple[likely[triples.first_edge] & likely[triples.second_edge]] = found.triple
    return replace(found, edge=whole, edge_dividing=dividing, exact=False, triple=triple)
