"""The one call that solves frames with a fitted model, for tracking as for a review."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dunno.assignment import Marginals, Problem, Rounds
from dunno.assignment.decide import max_expected_accuracy
from dunno.calibration.kinds.model import ModelCalibration, transition_of
from dunno.tracking.bounding import bounded
from dunno.tracking.candidates import candidates_of
from dunno.tracking.gaps import posterior_with_gaps
from dunno.tracking.link_dependence import log_together
from dunno.tracking.plan import Plan
from dunno.tracking.solved import solved_block
from dunno.tracking.spans import Span
from dunno.types import Block, Bools, Ints
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
