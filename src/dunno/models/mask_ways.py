r"""The ways of masks that hold no cell, one, or two, in and out, and what they weigh.

Every mask chooses a way in and a way out that agree on its state; an edge has one of the kinds of `Kind`:

| state | ways in | ways out |
|---|---|---|
| 0 | comes up, was false before, or is a piece | ends, stays false, or joins the rest again |
| 1 | appears, single, grown, coming apart, cut, rejoined | lost, single, merging, two dividing, cut, rejoined |
| young | appears, dividing, young | lost, young, grown, merging, cut, rejoined |
| 2 | appears, staying, two merging, one merging | both lost, staying, two or one coming apart, three where one divides |

Links, events and gaps weigh what the model says; the term `masks` says the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from dunno.assignment import Problem
from dunno.assignment.choices import STATES, YOUNG, Choices, Kind, ways
from dunno.models.mask_pairs import Pairs, Threes, division_pairs, threes_of, touching_pairs
from dunno.models.model import Model
from dunno.terms import Sisters
from dunno.terms.masks import Masks
from dunno.types import Floats, Ints
from dunno.types.density import log_student
from dunno.types.stretch import Stretch

ONE = (1, YOUNG)
"""The states of a mask that holds one cell."""

FAR_BELOW = 15.0
"""Pairs of edges that weigh so many nats less than the best one of the same mask and sort are left out."""

ODD_DIVISION = 0.05
"""Share of divisions whose daughters do not know each other."""

ONE_OF_TWO = 0.01
"""How often the second cell of a mask is lost when it comes apart, or was not seen before it merges."""

ABSORBED = 0.3
"""How often a false mask ends by becoming part of the one beside it."""

WIDE = 4.0
"""False masks and cells of merged masks move so many times farther, squared."""

OUT = (
    *("last", "end", "false", "absorbed", "lost", "single", "merging", "divide", "cut", "rejoined"),
    *("both lost", "staying", "apart", "one apart", "apart dividing"),
)
IN = ("first", "come up", "false", "appear", "mother", "rejoin", "two appear", "staying", "merge", "one merging")


@dataclass(frozen=True, eq=False)
class Graph:
    """The choices of a stretch's masks.

    Attributes:
        stretch: With the edges that are looked at.
        model: The model.
        out: Ways out.
        into: Ways in.
        out_sort: (C,) of which sort each way out is, by its place in `OUT`.
        in_sort: (C,) likewise, by its place in `IN`.
        out_order: (C,) where each way out stands among all that were thought of.
        in_order: (C,) likewise.
        divisions: Pairs of edges that may be a division's.
        partings: Those of masks that may come apart.
        merges: Those of masks that may merge.
        threes: Edges of masks that may come apart while one of their cells divides.
    """

    stretch: Stretch
    model: Model
    out: Choices
    into: Choices
    out_sort: Ints
    in_sort: Ints
    out_order: Ints
    in_order: Ints
    divisions: Pairs
    partings: Pairs
    merges: Pairs
    threes: Threes

    def weights_of(self, kind: Kind, n_edges: int) -> Floats:
        """(E,) log weight of each edge as the only one of its mother and of its daughter, of a kind; -inf where it is none."""
        return _by_edge(self.out, kind, n_edges) + _by_edge(self.into, kind, n_edges)

    def division_weights(self) -> tuple[Floats, Ints, Ints]:
        """(K,) log weight of each division that is looked at, and its two edges."""
        own = self.out_sort == OUT.index("divide")
        first, second = self.out.first[own], self.out.second[own]
        taken = _by_edge(self.into, Kind.DIVIDING, len(self.stretch.mother))
        return self.out.log_weight[own] + taken[first] + taken[second], first, second


Clamp = Callable[[Graph], Graph]


def _by_edge(side: Choices, kind: Kind, n_edges: int) -> Floats:
    """(E,) log weight of the way that takes an edge alone."""
    own = (side.first_kind == kind) & (side.first >= 0) & (side.second < 0)
    weight = np.full(n_edges, -np.inf)
    weight[side.first[own]] = side.log_weight[own]
    return weight


def graph_of(model: Model, stretch: Stretch, tempering: float = 1.0, before: Graph | None = None) -> Graph:
    """All choices of a stretch's masks, with their weights.

    Args:
        model: With the term `masks`.
        stretch: With the edges that are looked at.
        tempering: τ.
        before: The choices of the same stretch under nearly the same model: the same ones are looked at.
    """
    problem = model.problem(stretch)
    masks: Masks = model.term(Masks.name)
    size = stretch.column("log_area")
    change = size[stretch.daughter] - size[stretch.mother]
    said = {young: masks.log_size(change, stretch.daughter, stretch, young=young) for young in (False, True)}
    if before is None:
        divisions = division_pairs(model, masks, stretch)
        partings, merges = touching_pairs(masks, stretch, out=True), touching_pairs(masks, stretch, out=False)
        threes = threes_of(masks, stretch, divisions, partings)
    else:
        divisions, partings, merges, threes = before.divisions, before.partings, before.merges, before.threes
    out = _ways_out(model, masks, stretch, problem, said, divisions, partings)
    out["apart dividing"] = [_ways_of_three(masks, stretch, problem, threes)]
    into = _ways_in(model, masks, stretch, problem, merges)
    if before is not None:
        later = replace(before.out, log_weight=_weights(out, before.out_order, tempering))
        earlier = replace(before.into, log_weight=_weights(into, before.in_order, tempering))
        return replace(before, model=model, out=later, into=earlier)
    choices_out, out_sort, out_order = _joined(out, OUT, tempering)
    choices_in, in_sort, in_order = _joined(into, IN, tempering)
    orders = (out_sort, in_sort, out_order, in_order)
    return Graph(stretch, model, choices_out, choices_in, *orders, divisions, partings, merges, threes)


def _weights(parts: dict[str, list[Choices]], order: Ints, tempering: float) -> Floats:
    return tempering * np.concatenate([part.log_weight for own in parts.values() for part in own])[order]


def _joined(parts: dict[str, list[Choices]], names: tuple[str, ...], tempering: float) -> tuple[Choices, Ints, Ints]:
    """All ways with their sorts and places, without those of pairs that are far below the best one of the same mask."""
    flat = [(names.index(name), part) for name, own in parts.items() for part in own]
    whole = Choices(
        **{name: np.concatenate([getattr(part, name) for _, part in flat]) for name in Choices.__dataclass_fields__}
    )
    sort = np.concatenate([np.full(len(part.mask), k) for k, part in flat])
    key = whole.mask * len(names) + sort
    best = np.full(int(key.max(initial=-1)) + 1, -np.inf)
    np.maximum.at(best, key, whole.log_weight)
    kept = (whole.second < 0) | (whole.log_weight > best[key] - FAR_BELOW)
    kept &= whole.log_weight > -np.inf
    order = np.flatnonzero(kept)[np.argsort(whole.mask[kept], kind="stable")]
    columns = {name: np.ascontiguousarray(getattr(whole, name)[order]) for name in Choices.__dataclass_fields__}
    return Choices(**{**columns, "log_weight": tempering * columns["log_weight"]}), sort[order], order


def _wide(model: Model, masks: Masks, stretch: Stretch) -> Floats:
    """(E,) log density of false masks and of single cells out of merged ones: they jump about."""
    scale = WIDE * np.asarray(stretch.by_edge(model.value("motion_scale")))
    radius = masks.radius(stretch)[stretch.mother]
    return log_student(stretch.squared, np.maximum(scale, 0.1 * radius**2), 4.0, stretch.n_dimensions)


def _ways_out(
    model: Model,
    masks: Masks,
    stretch: Stretch,
    problem: Problem,
    said: dict[bool, Floats],
    divisions: Pairs,
    partings: Pairs,
) -> dict[str, list[Choices]]:
    mothers = np.flatnonzero(stretch.is_mother)
    last = np.flatnonzero(~stretch.is_mother)
    edges = np.arange(len(stretch.mother))
    single, single_young = said[False] - problem.cost, said[True] - problem.cost
    near = np.flatnonzero(stretch.lags == 1)
    wide = _wide(model, masks, stretch)[near]
    size = stretch.column("log_area")
    halved = size[stretch.daughter[near]] - size[stretch.mother[near]] + np.log(2)
    half = log_student(halved**2, 0.5**2, 4.0, 1) - masks.log_population(stretch)[stretch.daughter[near]]
    lost, parting = -problem.disappear, np.log(masks.p_apart)
    apart = parting + np.log(2) + masks.apart_law(partings.look, stretch)
    ends = (stretch.mother[divisions.first], stretch.mother[partings.first])
    cut = np.log(masks.p_cut) + np.log(2) + masks.cut_law(partings.look, stretch)
    larger, smaller = _by_size(stretch.daughter, partings, size)
    young = stretch.lags * np.log1p(-masks.p_mature)
    return {
        "last": [ways(last, state, 0.0) for state in range(STATES)],
        "end": [ways(mothers, 0, np.log1p(-masks.false_stays))],
        "false": [ways(stretch.mother[near], 0, np.log(masks.false_stays) + single[near], (near, Kind.FALSE))],
        "absorbed": [ways(stretch.mother[near], 0, np.log(ABSORBED), (near, Kind.ABSORBED))],
        "cut": [ways(ends[1], state, cut, (larger, Kind.WHOLE), (smaller, Kind.PIECE)) for state in ONE],
        "rejoined": [ways(stretch.mother[near], state, 0.0, (near, Kind.REJOINED)) for state in ONE],
        "lost": [ways(mothers, state, lost[mothers]) for state in ONE],
        "single": [
            ways(stretch.mother, 1, single, (edges, Kind.SINGLE)),
            ways(stretch.mother, YOUNG, single_young + young, (edges, Kind.YOUNG)),
            ways(stretch.mother, YOUNG, single_young + np.log(-np.expm1(young)), (edges, Kind.GROWN)),
        ],
        "merging": [ways(stretch.mother[near], state, 0.0, (near, Kind.MERGING)) for state in ONE],
        "divide": [
            ways(
                ends[0],
                1,
                _division_weight(model, masks, stretch, problem, divisions) - np.log1p(-masks.share_young),
                (divisions.first, Kind.DIVIDING),
                (divisions.second, Kind.DIVIDING),
            )
        ],
        "both lost": [ways(mothers, 2, lost[mothers] - 1.0)],
        "staying": [ways(stretch.mother, 2, np.log1p(-masks.p_apart) + single, (edges, Kind.STAYING))],
        "apart": [ways(ends[1], 2, apart, (partings.first, Kind.APART), (partings.second, Kind.APART))],
        "one apart": [ways(stretch.mother[near], 2, parting + np.log(ONE_OF_TWO) + wide + half, (near, Kind.APART))],
    }


def _ways_in(model: Model, masks: Masks, stretch: Stretch, problem: Problem, merges: Pairs) -> dict[str, list[Choices]]:
    daughters = np.flatnonzero(stretch.is_daughter)
    first = np.flatnonzero(~stretch.is_daughter)
    edges = np.arange(len(stretch.mother))
    anywhere, beside = masks.false_density(model, stretch)
    two = masks.two_ratio(stretch) + np.log(masks.share_two)
    small = np.log(masks.share_false) + np.log(np.maximum(_relative(masks, stretch), 1e-3))
    near = np.flatnonzero(stretch.lags == 1)
    size = stretch.column("log_area")
    doubled = size[stretch.daughter[near]] - size[stretch.mother[near]] - np.log(2)
    grown = log_student(doubled**2, 0.3**2, 4.0, 1) - masks.log_population(stretch)[stretch.daughter[near]]
    one = np.log(masks.p_merge * ONE_OF_TWO * 1e-2) + _wide(model, masks, stretch)[near] + grown
    larger, smaller = _by_size(stretch.mother, merges, size)
    merging = np.log(masks.p_merge) + masks.merge_law(merges.look, stretch)
    return {
        "first": [
            ways(first, 0, small[first]),
            ways(first, 2, two[first]),
            *_of_any_age(masks, first, np.zeros(len(first))),
        ],
        "come up": [ways(daughters, 0, np.log(np.maximum(anywhere + beside, 1e-300))[daughters])],
        "false": [ways(stretch.daughter[near], 0, 0.0, (near, kind)) for kind in (Kind.FALSE, Kind.PIECE)],
        "rejoin": [
            ways(
                stretch.daughter[merges.first],
                1,
                masks.merge_law(merges.look, stretch),
                (larger, Kind.REJOINED),
                (smaller, Kind.ABSORBED),
            )
        ],
        "appear": _of_any_age(masks, daughters, -problem.appear[daughters]),
        "mother": [
            *(
                ways(stretch.daughter, 1, 0.0, (edges, kind))
                for kind in (Kind.SINGLE, Kind.GROWN, Kind.APART, Kind.WHOLE)
            ),
            *(ways(stretch.daughter, YOUNG, 0.0, (edges, kind)) for kind in (Kind.DIVIDING, Kind.YOUNG)),
        ],
        "two appear": [ways(daughters, 2, (two - problem.appear)[daughters])],
        "staying": [ways(stretch.daughter, 2, 0.0, (edges, Kind.STAYING))],
        "merge": [
            ways(
                stretch.daughter[merges.first], 2, merging, (merges.first, Kind.MERGING), (merges.second, Kind.MERGING)
            )
        ],
        "one merging": [ways(stretch.daughter[near], 2, one, (near, Kind.MERGING))],
    }


def _of_any_age(masks: Masks, rows: Ints, log_weight: Floats) -> list[Choices]:
    """Ways in of single cells whose birth was not seen."""
    old, young = np.log1p(-masks.share_young), np.log(masks.share_young)
    return [ways(rows, 1, log_weight + old), ways(rows, YOUNG, log_weight + young)]


def _by_size(far: Ints, pairs: Pairs, size: Floats) -> tuple[Ints, Ints]:
    """(K,) of each pair of edges the one whose far end is larger, and the other."""
    first_larger = size[far[pairs.first]] >= size[far[pairs.second]]
    return np.where(first_larger, pairs.first, pairs.second), np.where(first_larger, pairs.second, pairs.first)


def _relative(masks: Masks, stretch: Stretch) -> Floats:
    """(N,) how much more usual each size is among false masks."""
    size = stretch.column("log_area") - masks.centre
    own = log_student((size - masks.false_size) ** 2, masks.false_size_spread**2, 4.0, 1)
    return np.exp(np.minimum(own - masks.log_population(stretch), 3.0))


def _division_weight(model: Model, masks: Masks, stretch: Stretch, problem: Problem, pairs: Pairs) -> Floats:
    """(K,) of each pair of edges as a division's."""
    cost = problem.cost if problem.dividing_cost is None else problem.dividing_cost
    alone = -cost[pairs.first] - cost[pairs.second]
    known = masks.division_law(pairs.look, stretch)
    if model.has("missed"):
        missed = model.term("missed")
        seen = missed.log_dividing(stretch)
        shared = missed.log_triple(stretch, Sisters(pairs.first, pairs.second))
        known = known + seen[pairs.first] + seen[pairs.second] + shared
        alone = alone + shared
    law = np.logaddexp(np.log1p(-ODD_DIVISION) + known, np.log(ODD_DIVISION) + alone)
    return np.asarray(law - problem.divide[stretch.mother[pairs.first]])


def _ways_of_three(masks: Masks, stretch: Stretch, problem: Problem, threes: Threes) -> Choices:
    mother = stretch.mother[threes.other]
    law = masks.apart_dividing_law(threes.beside, threes.sisters)
    weight = np.log(masks.p_apart) + np.log(4) - problem.divide[mother] + law
    edges = ((threes.other, Kind.APART), (threes.first, Kind.DIVIDING), (threes.second, Kind.DIVIDING))
    return ways(mother, 2, weight, *edges)
