"""A stretch that was solved, as a block of results."""

from __future__ import annotations

from typing import Any

import numpy as np

from dunno.assignment import Marginals, Problem, Triples
from dunno.assignment.distributions import normalise
from dunno.types import Block, Bools, Cells, Floats, Ints
from dunno.types.stretch import Stretch

LEAST_EDGE = 1e-15  # probability; exact: near the last digit of a double
"""Probability of what cannot be."""


def solved_block(
    stretch: Stretch, problem: Problem, found: Marginals, link: Bools, own: range, **columns: Floats
) -> Block:
    """What is believed of some frames of a stretch of neighbouring frames."""
    far = stretch.lags > 1
    frame, within = stretch.row_frame[stretch.daughter], (stretch.mother, stretch.daughter)
    edges = np.lexsort((*(np.where(far, 0, each) for each in within), 2 * frame + far))
    spread, log_probability = _distributions(stretch, found, edges)
    with np.errstate(divide="ignore"):
        known: dict[str, Any] = {"log_disappear": np.log(found.disappear), "log_divide": np.log(found.divide)}
    return Block.of(
        Cells.of([each.without_pixels() for each in stretch.cells]),
        mother=stretch.mother[edges],
        daughter=stretch.daughter[edges],
        gap=stretch.lags[edges] - 1,
        cost=problem.cost[edges],
        log_probability=log_probability,
        selected=link[edges],
        log_no_mother=spread.log_no_mother,
        entropy=spread.entropy,
        **known | _less_alone(stretch, found, far) | columns,
        problem=_in_order(problem, edges, frame),
        has_events=True,
    ).part(own.start, own.stop)


def _distributions(stretch: Stretch, found: Marginals, edges: Ints) -> tuple[Any, Floats]:
    """Each daughter's distribution over neighbours and ⊥, and (E,) logarithms of the probabilities of edges in order."""
    far = stretch.lags[edges] > 1
    probability, daughter = found.edge[edges], stretch.daughter[edges]
    earlier = np.bincount(daughter[far], probability[far], minlength=stretch.n_rows)
    with np.errstate(divide="ignore"):
        logs = np.log(probability)
        spread = normalise(logs[~far], np.log(np.clip(found.appear + earlier, 0.0, 1.0)), daughter[~far])
    logs[~far] = spread.log_probability
    return spread, logs


def _less_alone(stretch: Stretch, found: Marginals, far: Bools) -> dict[str, Floats]:
    """(N,) by how much appearing and disappearing cost less in a pair of frames, where they stand for what gaps explain."""
    n, share = stretch.n_rows, found.edge[far]
    into = np.bincount(stretch.daughter[far], share, minlength=n)
    out = np.bincount(
        stretch.mother[far], share - 0.5 * found.edge_dividing[far], minlength=n
    )  # two lead to one division
    return {
        "appears_less": np.log1p(into / np.maximum(found.appear, LEAST_EDGE)),
        "disappears_less": np.log1p(out / np.maximum(found.disappear, LEAST_EDGE)),
    }


def _in_order(problem: Problem, edges: Ints, frame: Ints) -> Problem:
    """The problem with edges in order, and divisions in that of the frames in which their later daughters are."""
    number = np.empty(len(edges), np.int64)
    number[edges] = np.arange(len(edges))
    triples = None if problem.triples is None else problem.triples.renumbered(number)
    if triples is not None:
        order = np.argsort(frame[edges[np.maximum(triples.first_edge, triples.second_edge)]], kind="stable")
        triples = Triples(triples.first_edge[order], triples.second_edge[order], triples.cost[order])
    dividing = None if problem.dividing_cost is None else problem.dividing_cost[edges]
    ends = (problem.mother[edges], problem.daughter[edges], problem.cost[edges], problem.n_mothers, problem.n_daughters)
    return Problem.of_parts(*ends, problem.appear, problem.disappear, problem.divide, dividing, triples)
