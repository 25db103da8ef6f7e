"""The one call that solves frames with a fitted model, for tracking as for a review."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dunno.assignment import Marginals, Problem, Rounds, Triples
from dunno.assignment.decide import max_expected_accuracy
from dunno.assignment.distributions import normalise
from dunno.calibration.kinds.model import ModelCalibration, transition_of
from dunno.tracking.bounding import bounded
from dunno.tracking.candidates import candidates_of
from dunno.tracking.gaps import posterior_with_gaps
from dunno.tracking.link_dependence import log_together
from dunno.tracking.plan import Plan
from dunno.tracking.spans import Span
from dunno.types import Block, Bools, Cells, Floats, Ints
from dunno.types.links import Links
from dunno.types.stretch import Stretch


def track_span(plan: Plan, span: Span) -> Block:
    """A span's pairs, solved together, with edges across gaps where masks are missing.

    With gaps, the frames on either side of the span's own take part: what is farther away hardly matters, so that spans are
    independent of each other.
    """
    pairs = replace(span, first=0, n_pairs=len(span.movie) - 1).pairs(plan.window, plan.max_distance)
    parts = [transition_of(pair, candidates_of(plan, pair), plan.cost) for pair in pairs]
    return solve(plan, Stretch.of(parts), range(span.first, span.first + span.n_pairs))


def solve(plan: Plan, stretch: Stretch, own: range) -> Block:
    """Solve a stretch of neighbouring frames, and tell of some of its transitions."""
    calibration = plan.calibration
    assert isinstance(calibration, ModelCalibration)
    rounds, tempering = Rounds(), calibration.softening.tempering
    if plan.bounds_candidates:
        stretch = bounded(calibration.at(stretch), stretch, plan.gate, tempering)
    model, stretch = calibration.posed(stretch, rounds)
    given = None if plan.links is None else _across_gaps(plan.links, stretch)
    block = decided(*posterior_with_gaps(model, stretch, plan.gate, tempering, given, rounds), own, plan.seed)
    return calibration.apply(block)


def _across_gaps(links: Links, stretch: Stretch) -> tuple[Ints, Ints, Ints]:
    """(G,) mothers, daughters and lags of somebody's links that skip frames."""
    label = np.concatenate([each.label for each in stretch.cells])
    mother, daughter, gap = links.rows(stretch.frames, stretch.row_frame, label)
    far = gap > 0
    return mother[far], daughter[far], gap[far] + 1


def decided(stretch: Stretch, problem: Problem, found: Marginals, own: range, seed: int) -> Block:
    """The block with the links that are most often right."""
    chosen = max_expected_accuracy(problem, found)
    link = np.zeros(len(problem.cost), np.bool_)
    link[chosen[chosen >= 0]] = True
    if stretch.lag is None:
        return solved_block(stretch, problem, found, link, own)
    return solved_block(
        stretch, problem, found, link, own, log_together=_together(stretch, problem, found, link, own, seed)
    )


def _together(stretch: Stretch, problem: Problem, found: Marginals, link: Bools, own: range, seed: int) -> np.ndarray:
    first, end = stretch.frames[[own.start, own.stop]].tolist()
    draws = int(np.random.SeedSequence([seed, first, end]).generate_state(1, np.uint32)[0])
    return log_together(problem, found, link, draws)


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
