"""Marginals where most edges are next to impossible, which a rough look tells."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dunno.assignment.marginals import Marginals, marginals
from dunno.assignment.problem import Problem
from dunno.assignment.triples import Triples

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
