"""One answer out of all that may be: a state for every mask, and links between the objects that are then there.

First what masks hold, by their probability; then how that goes on, by messages once more with these states given. No state is
chosen that leads away from the given mask unless what it holds is more probable than not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dunno.segments.holdings import Content, Holdings
from dunno.segments.hypotheses import Hypotheses, Weights
from dunno.segments.posterior import SegmentPosterior, propagate
from dunno.types import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Answer:
    """What is there, and how it goes on.

    Attributes:
        state: (M,) the state of each mask.
        mother: (K,) the earlier object of each link.
        daughter: (K,) the later one.
        given: (K,) probability of each link, given these states.
    """

    state: Ints
    mother: Ints
    daughter: Ints
    given: Floats


def decide(hypotheses: Hypotheses, holdings: Holdings, weights: Weights, posterior: SegmentPosterior) -> Answer:
    """An answer by what is probable."""
    state = chosen_states(hypotheses, holdings, posterior.state)
    return linked(hypotheses, weights, state)


def linked(hypotheses: Hypotheses, weights: Weights, state: Ints) -> Answer:
    """The likeliest links between the objects of these states."""
    there = np.zeros(hypotheses.n_states, bool)
    there[state] = True
    given = replace(weights, state=np.where(there, weights.state, -np.inf))
    posterior = propagate(hypotheses, given)
    links = _chosen_ways(hypotheses, posterior)[hypotheses.way]
    mother, daughter, way = (column[links] for column in (hypotheses.mother, hypotheses.daughter, hypotheses.way))
    return Answer(state, mother, daughter, posterior.way[way])


def chosen_states(hypotheses: Hypotheses, holdings: Holdings, probability: Floats) -> Ints:
    """(M,) of each mask, the likeliest state of the likeliest content; unions only as both of their masks agree."""
    content = holdings.content
    kind = hypotheses.mask * len(Content) + content
    total = np.bincount(kind, probability, hypotheses.n_masks * len(Content))[kind]
    changed = ~np.isin(content, (Content.CELL, Content.DEBRIS, Content.NOTHING))
    able = ~changed | (total > 0.5)
    order = np.lexsort((probability, total, able, hypotheses.mask))
    last = np.searchsorted(hypotheses.mask, np.arange(hypotheses.n_masks), side="right") - 1
    state = order[last]
    return _with_agreeing_unions(hypotheses, holdings, probability, state)


def _with_agreeing_unions(hypotheses: Hypotheses, holdings: Holdings, probability: Floats, state: Ints) -> Ints:
    """Where only one mask of a union chose it, that one takes its likeliest other state."""
    chosen = np.isin(np.arange(hypotheses.n_states), state)
    torn = hypotheses.unions[chosen[hypotheses.unions].sum(axis=1) == 1]
    state = state.copy()
    for own in torn[chosen[torn]].tolist():
        mask = hypotheses.mask[own]
        first, end = np.searchsorted(hypotheses.mask, [mask, mask + 1])
        rows = np.arange(first, end)
        rows = rows[~np.isin(holdings.content[rows], (Content.UNION, Content.JOINED))]
        state[mask] = rows[np.argmax(probability[rows])]
    return state


def _chosen_ways(hypotheses: Hypotheses, posterior: SegmentPosterior) -> Bools:
    """(W,) ways from the most probable on, as long as their objects are free and one of them would more probably not be alone."""
    links = np.argsort(hypotheses.way, kind="stable")
    begin = np.searchsorted(hypotheses.way[links], np.arange(hypotheses.n_ways + 1))
    led_to, led_on = np.zeros(hypotheses.n_objects, bool), np.zeros(hypotheses.n_objects, bool)
    chosen = np.zeros(hypotheses.n_ways, bool)
    order = np.argsort(-posterior.way, kind="stable")
    for way in order[posterior.way[order] > 1e-3].tolist():
        rows = links[begin[way] : begin[way + 1]]
        mother, daughter = hypotheses.mother[rows], hypotheses.daughter[rows]
        if led_to[daughter].any() or led_on[mother].any():
            continue
        alone = min(posterior.appear[daughter].min(), posterior.disappear[mother].min())
        if posterior.way[way] < alone:
            continue
        chosen[way] = led_to[daughter] = led_on[mother] = True
    return chosen
