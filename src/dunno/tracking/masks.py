"""Masks that may hold no cell, one, or two: their posterior as a block like any other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dunno.assignment import Marginals, Problem, Triples, every_pair, marginals
from dunno.assignment.choices import Kind
from dunno.assignment.decide import max_expected_accuracy
from dunno.models.masks import Solution
from dunno.models.model import Model
from dunno.tracking.gaps import posterior_with_gaps
from dunno.tracking.solved import solved_block
from dunno.types import Block, Bools, Floats, Ints
from dunno.types.stretch import Stretch

LEAST = 1e-6
"""Probabilities are matched down to this."""

ALIKE = [Kind.SINGLE, Kind.YOUNG, Kind.GROWN, Kind.STAYING, Kind.WHOLE, Kind.REJOINED]
"""Kinds of edges along which one mask goes on as one."""

ODD = [Kind.APART, Kind.MERGING, Kind.STAYING, Kind.WHOLE, Kind.REJOINED]
PERHAPS = 0.02
"""Kinds of edges of merged and cut masks, and how likely they must be for the mask's edges to be taken as propagation has them."""

SCALINGS, MOST_CHANGE = 8, 3.0
"""How often the weights of a problem are scaled, and by how much at most, in nats."""


def with_gap_edges(model: Model, stretch: Stretch, gate: float) -> tuple[Stretch, Marginals]:
    """The stretch with edges across gaps, and what its edges are believed to be if every mask held one cell."""
    stretch, _, found = posterior_with_gaps(model, stretch, gate)
    return stretch, found


def block_of_masks(solution: Solution, own: range) -> Block:
    """A solution as other tracking is told: a problem with these beliefs, links, and edges' probabilities."""
    stretch, state = solution.graph.stretch, solution.beliefs.state
    problem, found = problem_of_masks(solution)
    link = links_of(solution, found)
    return solved_block(stretch, problem, found, link, own, p_false=state[:, 0], p_two=state[:, 2])


def problem_of_masks(solution: Solution) -> tuple[Problem, Marginals]:
    """A problem with a solution's beliefs, and its marginals.

    Propagation says what masks hold and what becomes of them. Who is who in a crowd is summed by the core, given that: there
    propagation is too sure of itself.
    """
    stretch, kinds = solution.graph.stretch, solution.beliefs.edge
    problem, summed = as_problem(solution)
    edge = np.minimum(summed.edge + 0.5 * (kinds[:, Kind.APART] + kinds[:, Kind.MERGING]), 1.0)
    three = (solution.out_sum("apart dividing")[stretch.mother] > PERHAPS) & (solution.edge > PERHAPS)
    born = np.isin(
        stretch.daughter, stretch.daughter[three]
    )  # out of two cells of which one divides: no assignment has that
    edge = np.where(born, np.minimum(solution.edge, 1.0), edge)
    into = np.bincount(stretch.daughter, edge, minlength=stretch.n_rows)
    return problem, replace(
        summed,
        edge=edge,
        edge_dividing=np.where(born, np.minimum(kinds[:, Kind.DIVIDING], edge), summed.edge_dividing),
        appear=np.clip(1 - into, 0.0, 1.0),
        disappear=np.clip(solution.out_sum("lost") + solution.out_sum("both lost"), 0.0, 1.0),
        divide=solution.divide,
    )


def links_of(solution: Solution, found: Marginals) -> Bools:
    """(E,) the links with the most expected correct decisions, and whatever else is more likely than not.

    Masks that hold two cells have two links in, or out; two links out of a mask that holds one are a division, and are kept where
    that is more likely than not.
    """
    stretch = solution.graph.stretch
    ends = Problem(stretch.mother, stretch.daughter, found.edge, stretch.n_rows, stretch.n_rows)
    chosen = max_expected_accuracy(ends, found)
    link = np.zeros(len(found.edge), np.bool_)
    link[chosen[chosen >= 0]] = True
    link |= found.edge > 0.5
    twice = found.divide + solution.out_sum("apart") > 0.5
    first, second = every_pair(stretch.mother[link])
    edges = np.flatnonzero(link)
    first, second = edges[first], edges[second]
    weaker = np.where(found.edge[first] < found.edge[second], first, second)
    link[weaker[~twice[stretch.mother[weaker]]]] = False
    return _at_most(link, found.edge, stretch.mother, np.where(solution.out_sum("apart dividing") > 0.5, 3, 2))


def _at_most(link: Bools, probability: Floats, mother: Ints, most: Ints) -> Bools:
    """(E,) the links without the least probable ones of mothers that have more than they may."""
    edges = np.flatnonzero(link)
    edges = edges[np.lexsort((-probability[edges], mother[edges]))]
    own = mother[edges]
    place = np.arange(len(edges)) - np.searchsorted(own, own)
    kept = link.copy()
    kept[edges[place >= most[own]]] = False
    return kept


def as_problem(solution: Solution) -> tuple[Problem, Marginals]:
    """An assignment problem whose events are as likely as is believed, and its marginals.

    Whatever leaves a mask without a link counts as being lost or as appearing, and links of merged and of cut masks count as single
    ones. Weights begin as those of one cell per mask. Those of events, and of the edges of masks that are merged or cut, are scaled
    until the marginals are the beliefs.
    """
    graph, kinds = solution.graph, solution.beliefs.edge
    stretch, n = graph.stretch, graph.stretch.n_rows
    plain = graph.model.problem(stretch)
    alike = kinds[:, ALIKE].sum(axis=1) + 0.5 * (kinds[:, Kind.APART] + kinds[:, Kind.MERGING])
    odd = kinds[:, ODD].sum(axis=1)
    odd_out, odd_in = (np.bincount(ends, odd, minlength=n) > PERHAPS for ends in (stretch.mother, stretch.daughter))
    scaled = odd_out[stretch.mother] | odd_in[stretch.daughter]
    divide = solution.divide
    into = np.bincount(stretch.daughter, alike + kinds[:, Kind.DIVIDING], minlength=n).astype(np.float64)
    out = np.bincount(stretch.mother, alike, minlength=n) + divide
    own = graph.weights_of(Kind.SINGLE, len(stretch.mother))
    problem = Problem(
        stretch.mother,
        stretch.daughter,
        np.where(np.isfinite(own), -own, plain.cost),
        n,
        n,
        appear=plain.appear,
        disappear=plain.disappear,
        divide=np.zeros(n),
        dividing_cost=np.zeros(len(own)),
        triples=_divisions(solution),
    )
    alone, gone = np.clip(1.0 - into, 0.0, 1.0), np.clip(1.0 - out, 0.0, 1.0)
    found = marginals(problem)
    for _ in range(SCALINGS):
        problem = replace(
            problem,
            cost=problem.cost - np.where(scaled, _more(alike, found.edge - found.edge_dividing), 0.0),
            appear=np.where(stretch.is_daughter, problem.appear - _more(alone, found.appear), 0.0),
            disappear=np.where(stretch.is_mother, problem.disappear - _more(gone, found.disappear), 0.0),
            divide=np.where(stretch.is_mother, problem.divide - _more(divide, found.divide), 0.0),
        )
        found = marginals(problem)
    return problem, found


def _more(wanted: Floats, found: Floats) -> Floats:
    """By how much a weight grows in one scaling."""
    change = np.log(np.maximum(wanted, LEAST)) - np.log(np.maximum(found, LEAST))
    return np.asarray(np.clip(0.7 * change, -MOST_CHANGE, MOST_CHANGE))


def _divisions(solution: Solution) -> Triples:
    """Every pair of a mother's edges as a division: what it weighs, or that it cannot be."""
    stretch = solution.graph.stretch
    first, second = every_pair(stretch.mother)
    cost = np.full(len(first), np.inf)
    key = np.minimum(first, second) * len(stretch.mother) + np.maximum(first, second)
    order = np.argsort(key)
    weight, one, other = solution.graph.division_weights()
    listed = np.minimum(one, other) * len(stretch.mother) + np.maximum(one, other)
    cost[order[np.searchsorted(key[order], listed)]] = -weight
    return Triples(first, second, cost)
