"""Whole lineage forests drawn from the posterior: pair by pair where pairs are independent, together where gaps tie them."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from statistics import NormalDist

import numpy as np

from dunno.assignment import Problem, sample
from dunno.lineage.resting import rest_of, rested
from dunno.types import Block, Bools, Floats, Ints

NEGLIGIBLE_DRAW = 1e-6  # probability; judged: one edge in a million is never missed in 200 draws
"""Edges across gaps that are less probable than this are never drawn."""

STRATA, FAR_SEED = 8, 1_000_003  # draws, seeds; judged
"""How many odds of division stand for all, and how far apart their seeds are."""


SUREST_IN_DOUBT = 0.95  # probability; judged: where the odds of divisions are in doubt, none is surer


def draw_forests(
    block: Block, problem: Problem, n: int, seed: int, doubt: float = 0.0, p_event: Floats | None = None
) -> list[Block]:
    """Draw the links of all pairs n times. Cells rest between divisions.

    Args:
        block: All frames.
        problem: Theirs, of which is drawn.
        n: How many.
        seed: Of the draws.
        doubt: The standard deviation of the common logarithm of the odds of divisions: each forest has odds of its own.
        p_event: (N,) how probable the division is that is believed of each cell, where there is doubt: no division is surer
            than that doubt allows.
    """
    parts = min(STRATA, n) if doubt > 0 else 1
    shifts = spread_evenly(parts)
    drawn = [
        draw_links(
            replace(block, problem=replace(problem, divide=problem.divide - doubt * shift)) if shift else block,
            len(range(part, n, parts)),
            seed + part * FAR_SEED,
        )
        for part, shift in enumerate(shifts)
    ]
    rest = rest_of(block)
    lineage = replace(block, two=np.zeros(len(block.cells), np.bool_))  # two links out of one mask are a division here
    forests = [rested(replace(lineage, selected=drawn[k % parts][k // parts]), rest) for k in range(n)]
    if doubt == 0 or p_event is None:
        return forests
    sure = np.maximum(p_event, SUREST_IN_DOUBT)
    keeps = [shifted_odds(SUREST_IN_DOUBT, doubt * shift) / shifted_odds(sure, doubt * shift) for shift in shifts]
    return [
        without_some(forest, keeps[k % parts], np.random.default_rng([seed, k])) for k, forest in enumerate(forests)
    ]


def shifted_odds(p: Floats | float, by: float) -> Floats:
    """Probabilities whose log odds are shifted."""
    odds = np.exp(by)
    return np.asarray(p * odds / (1 - p + p * odds))


def without_some(forest: Block, keep: Floats, rng: np.random.Generator) -> Block:
    """The forest with its divisions kept by these (N,) probabilities; of one that is not, the likelier daughter goes on."""
    links = forest.links[forest.gap[forest.links] == 0]
    order = links[np.lexsort((-forest.log_probability[links], forest.mother[links]))]
    second = order[1:][forest.mother[order[1:]] == forest.mother[order[:-1]]]
    selected = forest.selected.copy()
    selected[second[rng.random(len(second)) >= keep[forest.mother[second]]]] = False
    return replace(forest, selected=selected)


def spread_evenly(parts: int) -> list[float]:
    """So many numbers that lie as those of a normal law do, with a mean of 0 and a deviation of 1."""
    places = np.array([NormalDist().inv_cdf((part + 0.5) / parts) for part in range(parts)])
    return [0.0] if parts == 1 else (places / places.std()).tolist()


def draw_links(block: Block, n: int, seed: int) -> Bools:
    """(n, E) drawn links of the posterior as it is, in which nothing keeps a cell from dividing twice in a row."""
    selected = np.zeros((n, len(block.mother)), np.bool_)
    for run in tied(block):
        frames = block.frames[[run.start - 1, run.stop - 1]].tolist()
        own = int(np.random.SeedSequence([seed, *frames]).generate_state(1, np.uint32)[0])
        drawn = _drawn(block, run, n, own)
        forest, daughter = np.nonzero(drawn >= 0)
        selected[forest, drawn[forest, daughter]] = True
    return selected


def tied(block: Block) -> list[range]:
    """The frames whose cells are daughters, in runs that no edge across a gap leads out of."""
    begin = list(block.own)
    for k, t in enumerate(block.own):
        far = block.far(t)
        likely = block.mother[far][block.log_probability[far] > np.log(NEGLIGIBLE_DRAW)]
        if len(likely):
            begin[k] = min(t, int(block.frame_of[likely].min()) + 1)
    starts, earliest = [], list(accumulate(reversed(begin), min))[::-1]  # where edges from here on reach back to
    for t, first in zip(block.own, earliest, strict=True):
        if t <= first:
            starts.append(t)
    return [range(a, b) for a, b in zip(starts, [*starts[1:], block.own.stop], strict=True)]


def _drawn(block: Block, run: range, n: int, seed: int) -> Ints:
    """(n, M) edges of the block that are drawn as links of some daughters, -1 for those that appear."""
    if len(run) == 1:
        pair = block.pair(run.start)
        assert pair.problem is not None
        drawn = sample(pair.problem, n, seed)
        return np.where(drawn >= 0, drawn + pair.near.start, -1)
    part = block.part(run.start - block.own.start, run.stop - block.own.start)
    assert part.problem is not None
    kept = (part.gap == 0) | (part.probability > NEGLIGIBLE_DRAW)
    edges = block.into(run.start).start + np.flatnonzero(kept)
    drawn = sample(part.problem.among(kept), n, seed)
    return np.where(drawn >= 0, edges[drawn], -1)
