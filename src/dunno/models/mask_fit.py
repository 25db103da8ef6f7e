"""The term `masks` and the rates beside it, fitted to what is expected of a stretch's masks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dunno.assignment import Marginals
from dunno.assignment.choices import YOUNG, Kind
from dunno.models.expectation import maximise
from dunno.models.free import from_free_values, to_free
from dunno.models.masks import Solution, solve_masks, solved
from dunno.models.model import Model
from dunno.terms.masks import TAIL, UNIT_BALL, Law, Masks, fitted
from dunno.types import Floats
from dunno.types.stretch import Stretch

ROUNDS = 14
FIRST_SWEEPS, SWEEPS_MORE, ROUGHLY = 8, 2, 1e-2
"""Sweeps of the first round and of each further one, which goes on from the messages of the one before, and which beliefs are
settled enough for a fit."""

BEYOND = 1.8
"""How far each round goes beyond the model that explains its expectations best: what is expected follows slowly."""

RARE, RARE_WORTH = 1e-3, 300.0
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
    model = maximise(solution.expected(), np.ones((len(stretch), len(stretch))), weight, held=HELD)
    masks = updated(model.term(Masks.name), solution if counts is None else counted(solution, counts))
    model = replace(model, terms=tuple(masks if term.name == Masks.name else term for term in model.terms))
    here, there = to_free(before), to_free(model)
    model = from_free_values(model, here + BEYOND * (there - here))
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


def _share(count: float, among: float, prior: float = RARE, worth: float = RARE_WORTH) -> float:
    return (count + prior * worth) / (among + worth)


def _false(masks: Masks, solution: Solution) -> Masks:
    stretch, state = solution.graph.stretch, solution.beliefs.state
    came = solution.in_sum("come up")
    anywhere, beside = masks.false_density(solution.graph.model, stretch)
    near = came * beside / np.maximum(anywhere + beside, 1e-300)
    cells = float(stretch.is_daughter.sum())
    size = stretch.column("log_area") - masks.centre
    mean, spread = Law(-0.5, 0.6, 10.0).step(size, state[:, 0], masks.false_size, masks.false_size_spread)
    d = stretch.n_dimensions
    usual = 2 * np.exp((masks.centre - np.log(UNIT_BALL[d])) / d)
    nearest = np.log(np.maximum(stretch.neighbour_distances(3)[:, 0], 1e-300) / usual)
    known = np.isfinite(nearest)
    far, far_spread = Law(float(np.log(0.9)), 0.4, 10.0).step(
        nearest[known], near[known], float(np.log(masks.fragment_distance)), masks.fragment_spread
    )
    stayed = float(solution.beliefs.edge[:, Kind.FALSE].sum())
    return fitted(
        masks,
        p_false=_share(float((came - near).sum()), cells),
        p_fragment=_share(float(near.sum()), cells),
        p_cut=_share(float(solution.out_sum("cut").sum()), cells),
        false_stays=_share(stayed, float(state[stretch.is_mother, 0].sum()), 0.4, 20.0),
        false_size=mean,
        false_size_spread=spread,
        fragment_distance=float(np.exp(far)),
        fragment_spread=far_spread,
        share_false=_share(float(state[:, 0].sum()), float(len(state)), 0.002, 300.0),
        share_two=_share(float(state[:, 2].sum()), float(len(state)), 0.002, 300.0),
    )


def _sizes(masks: Masks, solution: Solution) -> Masks:
    stretch, kinds = solution.graph.stretch, solution.beliefs.edge
    near = np.flatnonzero(stretch.lags == 1)
    size = stretch.column("log_area")
    change = (size[stretch.daughter] - size[stretch.mother])[near]
    young = kinds[near, Kind.YOUNG] + kinds[near, Kind.GROWN]
    _, spread = Law(0.0, 0.1, 20.0).step(change, kinds[near, Kind.SINGLE], 0.0, masks.size_spread, centred=True)
    growth, _ = Law(0.0, 0.1, 20.0).step(change, young, masks.young_growth, YOUNG_SPREAD)
    return fitted(masks, size_spread=spread, young_growth=growth)


def _merged(masks: Masks, solution: Solution) -> Masks:
    graph, state = solution.graph, solution.beliefs.state
    merged, parted = solution.of_pairs("merge"), solution.of_pairs("apart")
    mothers = np.stack([graph.stretch.mother[graph.merges.first], graph.stretch.mother[graph.merges.second]])
    touching = len(np.unique(np.sort(mothers, axis=0), axis=1).T) if mothers.size else 0
    two = float(state[graph.stretch.is_mother, 2].sum())
    went = float(parted.sum() + solution.out_sum("one apart").sum() + solution.out_sum("apart dividing").sum())
    middle = np.concatenate([graph.merges.look.middle, graph.partings.look.middle])
    radius = np.concatenate([graph.merges.look.radius, graph.partings.look.radius])
    return fitted(
        masks,
        p_merge=_share(float(merged.sum()), float(touching)),
        p_apart=_share(went, two, 0.2, 10.0),
        together_scale=_scale(
            middle / radius**2, np.concatenate([merged, parted]), masks.together_scale, graph.stretch
        ),
    )


def _divisions(masks: Masks, solution: Solution) -> Masks:
    graph = solution.graph
    divided, look = solution.of_pairs("divide"), graph.divisions.look
    ratio = np.log(look.distance / look.radii)
    far, spread = Law(0.0, 0.3, 10.0).step(
        ratio, divided, float(np.log(masks.division_distance)), masks.division_spread
    )
    mean, size = Law(0.0, 0.3, 10.0).step(look.growth, divided, masks.division_size, masks.division_size_spread)
    _, alike = Law(0.0, 0.25, 20.0).step(look.unlike, divided, 0.0, masks.sister_spread, centred=True)
    young = float(solution.beliefs.state[:, YOUNG].sum())
    cells = float(solution.beliefs.state[:, 1].sum()) + young
    return fitted(
        masks,
        p_mature=MATURING * float(divided.sum()) / max(cells, 1.0),
        share_young=_share(young, cells, 0.4, 50.0),
        division_distance=float(np.exp(far)),
        division_spread=spread,
        division_size=mean,
        division_size_spread=size,
        sister_spread=alike,
        division_scale_of_middle=_scale(
            look.middle / look.radius**2, divided, masks.division_scale_of_middle, graph.stretch
        ),
    )


def _scale(squared: Floats, weight: Floats, scale: float, stretch: Stretch) -> float:
    """A squared scale per axis, one step on, with a prior of 0.05 worth ten."""
    d = stretch.n_dimensions
    robust = weight * (TAIL + d) / (TAIL + squared / scale)
    return (float((robust * squared).sum()) + 10.0 * d * 0.05) / (d * (float(weight.sum()) + 10.0))
