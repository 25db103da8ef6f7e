"""The one call that solves frames with a fitted model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dunno.assignment import Marginals, Problem, Rounds, Triples, marginals
from dunno.assignment.distributions import normalise
from dunno.assignment.solve import max_expected_accuracy
from dunno.calibration import Calibration
from dunno.calibration.kinds.model import ModelCalibration, transition_of
from dunno.models.expectation import without_drift
from dunno.models.model import SMALLEST, Model
from dunno.tracking.gaps import posterior_with_gaps
from dunno.tracking.gate import MOST_MOTHERS
from dunno.tracking.link_dependence import log_together
from dunno.tracking.plan import Plan, Span, candidates_of
from dunno.types import Block, Bools, Cells, Floats, Ints, PairPosterior
from dunno.types.links import Links
from dunno.types.neighbours import within
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


ALONE_FROM = 1e-3  # probability; benchmarks.bounds
"""A mother that is lost with less than this, or a daughter that appears with less, needs no far edges."""

MOST_FAR = 6  # daughters; benchmarks.bounds
"""Far edges of a mother lead to the nearest so many daughters that are left alone."""

CROWDED_FROM = 12.0  # candidates per daughter; judged
"""Below this nothing is left out: there is little to save."""

MATTERS_FROM = 3e-8  # probability; benchmarks.bounds
"""Edges below this are left out. Places alone say so; drift, features and what sisters say (a few nats each) speak later."""


def bounded(model: Model, stretch: Stretch, gate: float, tempering: float) -> Stretch:
    """The stretch with far edges between cells that are left alone, and without edges that hold next to nothing.

    Of each daughter only the nearest mothers are looked at (`gate.MOST_MOTHERS`). A rough look at these tells which cells are left
    alone; there are few, so that among them all edges within the gate can be looked at.
    """
    count = np.bincount(stretch.daughter, minlength=stretch.n_rows)
    is_cut, is_crowded = (count >= MOST_MOTHERS).any(), count.sum() > CROWDED_FROM * stretch.is_daughter.sum()
    if not (is_cut or is_crowded) or stretch.score is not None:
        return stretch
    places = places_of(model)
    rough = marginals(places.problem(places.measured(stretch)).tempered(tempering), "rough")
    far = _far_edges(stretch, rough, gate) if is_cut else None
    if is_crowded:
        stretch = stretch.among(rough.edge > MATTERS_FROM)
    return stretch if far is None else stretch.with_edges(*far)


def places_of(model: Model) -> Model:
    """The model with what it knows of places alone, and nobody carried along."""
    drift = model.drift
    if drift is not None:
        model = without_drift(model).with_values(drift.finder)
    return model.where(lambda term: term.is_place or term.is_unit)


def _far_edges(stretch: Stretch, rough: Marginals, gate: float) -> tuple[Ints, Ints]:
    """(K,) mothers and daughters of edges within the gate between cells that are left alone."""
    lost = stretch.is_mother & (rough.disappear > ALONE_FROM)
    begun = stretch.is_daughter & (rough.appear > ALONE_FROM)
    mothers, daughters = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for r in range(len(stretch)):
        early, late = np.flatnonzero(lost & (stretch.leads == r)), np.flatnonzero(begun & (stretch.follows == r))
        if len(early) and len(late):
            i, j = within(stretch.place_after[early], stretch.place[late], gate, MOST_FAR)
            mothers.append(early[i])
            daughters.append(late[j])
    return np.concatenate(mothers), np.concatenate(daughters)


LEAST_LINKS_OF_A_BORDER = 8  # links; judged
"""From so many on, links say where a frame's cells go."""


def with_border_shares(calibration: Calibration | None, block: Block) -> Block:
    """The block with the share of being lost that is leaving the field; as it is where no model knows.

    It looks at places, at the movie's usual motion and at where most cells of the frame go (the stage may have jumped), not at how
    neighbours move or how active a cell is.
    """
    if not isinstance(calibration, ModelCalibration):
        return block
    border = next((term.name for term in calibration.model.terms if term.lost_as == "left"), None)
    if border is None:
        return block
    stretch = _side_by_side(list(block.pairs()))
    model = without_drift(calibration.at(stretch))
    stretch = model.measured(stretch)
    ways = {term.name: way for term in model.terms if (way := term.lost(model, stretch)) is not None}
    total = np.maximum(np.sum([*ways.values()], axis=0), SMALLEST)
    share = np.full(len(block.cells), np.nan)
    share[block.begin[block.first] : block.begin[-2]] = (ways[border] / total)[stretch.is_mother]
    return replace(block, border_share=share)


def _side_by_side(pairs: Sequence[PairPosterior]) -> Stretch:
    """Pairs without edges as a stretch in which each has its own two frames, so that it knows of no others."""
    cells = tuple(each for pair in pairs for each in (pair.mothers, pair.daughters))
    row_frame = np.repeat(np.arange(len(cells)), [len(each) for each in cells])
    none, transition = np.empty(0, np.int64), row_frame // 2
    times = [each.time for each in cells if each.time is not None]
    stages = [_common_step(pair) for pair in pairs]
    still = np.zeros(cells[0].centroid.shape[1])
    return Stretch(
        frames=np.array([each.frame for each in cells], np.int64),
        transitions=np.arange(len(cells)).reshape(-1, 2),
        cells=cells,
        row_frame=row_frame,
        place=np.concatenate([each.centroid for each in cells]),
        mother=none,
        daughter=none,
        spread=np.ones(len(row_frame)),
        leads=np.where(row_frame % 2 == 0, transition, -1),
        follows=np.where(row_frame % 2 == 1, transition, -1),
        clock=np.array(times) if len(times) == len(cells) else None,
        stage=None
        if all(each is None for each in stages)
        else np.stack([still if each is None else each for each in stages]),
    )


def _common_step(pair: PairPosterior) -> Floats | None:
    """(d,) the median displacement of the pair's links; `None` where there are few."""
    if np.count_nonzero(pair.selected) < LEAST_LINKS_OF_A_BORDER:
        return None
    mother, daughter = pair.mother[pair.selected], pair.daughter[pair.selected]
    return np.asarray(np.median(pair.daughters.centroid[daughter] - pair.mothers.centroid[mother], axis=0))
