"""The term `masks` and the rates beside it, fitted to what is expected of a stretch's masks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dunno.assignment import Marginals
from dunno.assignment.choices import YOUNG, Kind
from dunno.models.expectation import maximise
from dunno.models.masks import Solution, solve_masks, solved
from dunno.models.model import Model
from dunno.terms.masks import UNIT_BALL, Masks
from dunno.types import Floats
from dunno.types.stretch import Stretch

ROUNDS = 14
FIRST_SWEEPS, SWEEPS_MORE, ROUGHLY = 8, 2, 1e-2
"""Sweeps of the first round and of each further one, which goes on from the messages of the one before, and which beliefs are
settled enough for a fit."""

BEYOND = 1.8
"""How far each round goes beyond the model that explains its expectations best: what is expected follows slowly."""

YOUNG_SPREAD = 0.1
"""Spread of log area by which young cells' growth is averaged: wide, because they grow fast at first and slowly then."""

MATURING = 4.0
"""How many times faster cells become old enough to divide than they divide: within a third of their cycle."""

HELD = frozenset({"motion_scale", "tail"})
"""Motion stays as the pairs alone say: masks change what links are, not how cells move."""


def fit_masks(
    model: Model,
    stretch: Stretch,
    pairwise: Marginals,
    rounds: int = ROUNDS,
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> Solution:
    """Beliefs under the model that explains a stretch's masks best.

    Args:
        model: To begin with; has the term `masks`.
        stretch: The frames, with edges across gaps.
        pairwise: What the same edges are believed to be if every mask held one cell.
        rounds: Of expectation and maximisation.
        tell: Is told how many rounds are done, and of how many.
    """
    return more_rounds(solve_masks(model, stretch, pairwise, sweeps=FIRST_SWEEPS), rounds, tell)


def more_rounds(solution: Solution, rounds: int, tell: Callable[[int, int], None] = lambda done, of: None) -> Solution:
    """The fit so many rounds on."""
    for done in range(rounds):
        tell(done, rounds)
        solution = one_round(solution)
    return solution


def one_round(solution: Solution, counts: Floats | None = None) -> Solution:
    """Beliefs under a model that explains the last ones better; `counts`: (F,) how often each frame counts, once if not given."""
    stretch, before = solution.graph.stretch, solution.graph.model
    weight = None if counts is None else counts[stretch.transitions[:, 0]]
    model = maximise(solution.expected(), weight=weight, held=HELD)
    masks = updated(model.term(Masks.name), solution if counts is None else counted(solution, counts))
    model = replace(model, terms=tuple(masks if term.name == Masks.name else term for term in model.terms))
    model = model.with_free(before.free + BEYOND * (model.free - before.free))
    return solved(model, stretch, sweeps=SWEEPS_MORE, tolerance=ROUGHLY, before=solution)


def counted(solution: Solution, counts: Floats) -> Solution:
    """The solution in which each frame's masks, and the edges that leave them, count so often."""
    graph, beliefs = solution.graph, solution.beliefs
    often = counts[graph.stretch.row_frame]
    return replace(
        solution,
        beliefs=replace(
            beliefs,
            ways_out=beliefs.ways_out * often[graph.out.mask],
            ways_in=beliefs.ways_in * often[graph.into.mask],
            state=beliefs.state * often[:, None],
            edge=beliefs.edge * often[graph.stretch.mother][:, None],
        ),
    )


def updated(masks: Masks, solution: Solution) -> Masks:
    """The term that makes the expectations most likely."""
    return _divisions(_merged(_sizes(_false(masks, solution), solution), solution), solution)


def _false(masks: Masks, solution: Solution) -> Masks:
    stretch, state = solution.graph.stretch, solution.beliefs.state
    came = solution.in_sum("come up")
    anywhere, beside = masks.false_density(solution.graph.model, stretch)
    near = came * beside / np.maximum(anywhere + beside, 1e-300)
    cells = float(stretch.is_daughter.sum())
    size = stretch.column("log_area") - masks.centre
    d = stretch.n_dimensions
    usual = 2 * np.exp((masks.centre - np.log(UNIT_BALL[d])) / d)
    nearest = np.log(np.maximum(stretch.neighbour_distances(3)[:, 0], 1e-300) / usual)
    known = np.isfinite(nearest)
    stayed = float(solution.beliefs.edge[:, Kind.FALSE].sum())
    counts = {
        "p_false": (float((came - near).sum()), cells),
        "p_fragment": (float(near.sum()), cells),
        "p_cut": (float(solution.out_sum("cut").sum()), cells),
        "false_stays": (stayed, float(state[stretch.is_mother, 0].sum())),
        "share_false": (float(state[:, 0].sum()), float(len(state))),
        "share_two": (float(state[:, 2].sum()), float(len(state))),
    }
    return masks.fitted(
        **{name: masks.prior(name).posterior_mean(count, among) for name, (count, among) in counts.items()},
        **masks.student(size, state[:, 0], "false_size", "false_size_spread"),
        **masks.student(nearest[known], near[known], "fragment_distance", "fragment_spread"),
    )


def _sizes(masks: Masks, solution: Solution) -> Masks:
    stretch, kinds = solution.graph.stretch, solution.beliefs.edge
    near = np.flatnonzero(stretch.lags == 1)
    size = stretch.column("log_area")
    change = (size[stretch.daughter] - size[stretch.mother])[near]
    young = kinds[near, Kind.YOUNG] + kinds[near, Kind.GROWN]
    return masks.fitted(
        **masks.student(change, kinds[near, Kind.SINGLE], "", "size_spread"),
        **masks.student(change, young, "young_growth", YOUNG_SPREAD),
    )


def _merged(masks: Masks, solution: Solution) -> Masks:
    graph, state = solution.graph, solution.beliefs.state
    merged, parted = solution.of_pairs("merge"), solution.of_pairs("apart")
    mothers = np.stack([graph.stretch.mother[graph.merges.first], graph.stretch.mother[graph.merges.second]])
    touching = len(np.unique(np.sort(mothers, axis=0), axis=1).T) if mothers.size else 0
    two = float(state[graph.stretch.is_mother, 2].sum())
    went = float(parted.sum() + solution.out_sum("one apart").sum() + solution.out_sum("apart dividing").sum())
    middle = np.concatenate([graph.merges.look.middle, graph.partings.look.middle])
    radius = np.concatenate([graph.merges.look.radius, graph.partings.look.radius])
    weight, d = np.concatenate([merged, parted]), graph.stretch.n_dimensions
    return masks.fitted(
        p_merge=masks.prior("p_merge").posterior_mean(float(merged.sum()), float(touching)),
        p_apart=masks.prior("p_apart").posterior_mean(went, two),
        together_scale=masks.student_scale(middle / radius**2, weight, "together_scale", d),
    )


def _divisions(masks: Masks, solution: Solution) -> Masks:
    graph = solution.graph
    divided, look = solution.of_pairs("divide"), graph.divisions.look
    squared, d = look.middle / look.radius**2, graph.stretch.n_dimensions
    young = float(solution.beliefs.state[:, YOUNG].sum())
    cells = float(solution.beliefs.state[:, 1].sum()) + young
    return masks.fitted(
        p_mature=MATURING * float(divided.sum()) / max(cells, 1.0),
        share_young=masks.prior("share_young").posterior_mean(young, cells),
        division_scale_of_middle=masks.student_scale(squared, divided, "division_scale_of_middle", d),
        **masks.student(np.log(look.distance / look.radii), divided, "division_distance", "division_spread"),
        **masks.student(look.growth, divided, "division_size", "division_size_spread"),
        **masks.student(look.unlike, divided, "", "sister_spread"),
    )
