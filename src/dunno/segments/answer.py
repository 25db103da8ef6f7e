"""One answer out of all that may be: a set of segments for every mask, links between them, and what is believed of both.

First which segments masks consist of, by their probability; then how these go on, by messages once more with the choice given.
What a segment is (a cell or debris) stays open: it is said by `p_cell`, and a track goes through whatever it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dunno.assignment import Marginals, Problem
from dunno.assignment.solve import max_expected_accuracy
from dunno.segments.holdings import Content, Holdings
from dunno.segments.hypotheses import Hypotheses, Weights
from dunno.segments.law_weights import Structure
from dunno.segments.posterior import SegmentPosterior, mothers_of_ways, propagate
from dunno.segments.segments import Segments
from dunno.types import Bools, Floats, Ints

NO_SEGMENT, WHOLE_MASK, FIRST_SET = 0, 1, 2  # numbers of sets; exact
"""The sets of segments that every mask has, and the first one that only some have."""

LEAST_OBJECT_EDGE = 1e-4  # probability; display
"""Edges that are less probable are not listed, unless they are links."""

TINY = 1e-12  # probability; exact: near the last digit


@dataclass(frozen=True, eq=False)
class ObjectEdges:
    """E edges between K chosen segments.

    Attributes:
        mother: (E,) of each, a row of the chosen ones.
        daughter: (E,) likewise; sorted by it, then by mother.
        probability: (E,) that the daughter comes from there; given that it is an object, once divided by `p_segment`.
        dividing: (E,) of that, in a division.
    """

    mother: Ints
    daughter: Ints
    probability: Floats
    dividing: Floats

    def __len__(self) -> int:
        return len(self.mother)

    def only(self, kept: Bools) -> ObjectEdges:
        """Some of them."""
        return ObjectEdges(self.mother[kept], self.daughter[kept], self.probability[kept], self.dividing[kept])


@dataclass(frozen=True, eq=False)
class Answer:
    """K chosen segments by frame, what is believed of them, and the edges between them.

    Attributes:
        segment: (K,) rows of `Segments`.
        p_segment: (K,) that the region is one object.
        p_cell: (K,) that the object is a cell, given that it is one.
        appear: (K,) that it has no mother, given the same; `disappear`: that it has no daughter.
        divide: (K,) that it, or what it stands for, divides.
        edges: Between them. What leads from a segment that was not chosen counts for the one that stands for it.
        selected: (E,) which edges are links.
        sets: (M,) the set of segments that was chosen for each mask.
        set_probability: (M,) how probable it is.
    """

    segment: Ints
    p_segment: Floats
    p_cell: Floats
    appear: Floats
    disappear: Floats
    divide: Floats
    edges: ObjectEdges
    selected: Bools
    sets: Ints
    set_probability: Floats


def decide(
    structure: Structure,
    weights: Weights,
    posterior: SegmentPosterior,
    given: Ints | None = None,
    kept: Ints | None = None,
    unknown: Floats | None = None,
) -> Answer:
    """The answer by what is probable.

    Args:
        structure: What may be.
        weights: Its log weights.
        posterior: What is believed of it.
        given: (M,) the set of segments of each mask, -1 where it is to be chosen.
        kept: (M,) the set that each mask keeps unless another one is more probable than not; `None`: the mask as it is.
        unknown: (M,) the share of its parts and unions that are none, whatever the model says; `None`: 0.
    """
    segments, holdings, hypotheses = structure.segments, structure.holdings, structure.hypotheses
    number = sets_of_states(segments, holdings)
    known = 1.0 - (np.zeros(segments.n_masks) if unknown is None else unknown)
    sets, total = chosen_sets(hypotheses, number, posterior.state, known, given, kept)
    there = number == sets[hypotheses.mask]
    segment = np.unique(holdings.segment[there[holdings.state]])
    segment = segment[np.argsort(segments.frame[segment], kind="stable")]
    own = _index(segment, len(segments.frame))
    object_row = own[holdings.segment]
    is_one = _sums(object_row, posterior.state[holdings.state], len(segment))
    is_cell = _sums(object_row, np.where(holdings.is_cell, posterior.state[holdings.state], 0.0), len(segment))
    stands = _stand_ins(segments, segment, own)
    edges = _edges(structure, posterior, stands, own, len(segment))
    edges = replace(
        edges,
        probability=np.minimum(edges.probability / np.maximum(is_one[edges.daughter], TINY), 1.0),
        dividing=np.minimum(edges.dividing / np.maximum(is_one[edges.daughter], TINY), 1.0),
    )
    clamped = replace(weights, state=np.where(there, weights.state, -np.inf))
    selected = _links(structure, propagate(hypotheses, clamped), own, edges, len(segment))
    listed = selected | (edges.probability > LEAST_OBJECT_EDGE)
    is_whole = segment < segments.n_masks
    return Answer(
        segment,
        is_one * np.where(is_whole, 1.0, known[segments.masks[segment, 0]]),
        is_cell / np.maximum(is_one, TINY),
        np.minimum(_sums(object_row, posterior.appear, len(segment)) / np.maximum(is_one, TINY), 1.0),
        np.minimum(_sums(object_row, posterior.disappear, len(segment)) / np.maximum(is_one, TINY), 1.0),
        np.minimum(_sums(stands[holdings.segment], posterior.divide, len(segment)), 1.0),
        edges.only(listed),
        selected[listed],
        sets,
        total,
    )


def sets_of_states(segments: Segments, holdings: Holdings) -> Ints:
    """(S,) which regions each state takes for objects: states that differ only in what the objects are have the same number."""
    content, source, n_cuts = holdings.content, holdings.source, len(segments.cuts)
    union = FIRST_SET + n_cuts + 2 * source + (content == Content.JOINED)
    choices = [content == Content.NOTHING, np.isin(content, (Content.CELL, Content.DEBRIS)), content >= Content.UNION]
    choices[2] &= np.isin(content, (Content.UNION, Content.JOINED))
    return np.select(
        choices, [np.full_like(source, NO_SEGMENT), np.full_like(source, WHOLE_MASK), union], FIRST_SET + source
    )


def chosen_sets(
    hypotheses: Hypotheses,
    number: Ints,
    probability: Floats,
    known: Floats,
    given: Ints | None = None,
    kept: Ints | None = None,
) -> tuple[Ints, Floats]:
    """(M,) of each mask the likeliest set, and how probable it is; what it keeps where no other is more probable than not."""
    span = int(number.max(initial=0)) + 1
    key, row = np.unique(hypotheses.mask * span + number, return_inverse=True)
    total = np.bincount(row, probability, len(key)).astype(np.float64)
    mask, own = np.divmod(key, span)
    total *= np.where(own >= FIRST_SET, known[mask], 1.0)
    usual = WHOLE_MASK if kept is None else kept[mask]
    rank = np.where(total > 0.5, 2.0 + total, np.where((own == usual) & (total > 0), 1.0, total))
    if given is not None:
        rank = np.where(given[mask] >= 0, np.where(own == given[mask], 9.0, -1.0), rank)
    order = np.lexsort((rank, mask))
    last = order[np.searchsorted(mask[order], np.arange(hypotheses.n_masks), side="right") - 1]
    return _with_whole_unions(hypotheses, number, own[last]), total[last]


def _with_whole_unions(hypotheses: Hypotheses, number: Ints, sets: Ints) -> Ints:
    """Where one mask of a union chose it and the other did not, both stay as they are."""
    one, other = hypotheses.unions.T
    chosen = [number[states] == sets[hypotheses.mask[states]] for states in (one, other)]
    torn = chosen[0] != chosen[1]
    sets = sets.copy()
    for states, own in zip((one, other), chosen, strict=True):
        sets[hypotheses.mask[states[torn & own]]] = WHOLE_MASK
    return sets


def _index(segment: Ints, n: int) -> Ints:
    own = np.full(n, -1, np.int64)
    own[segment] = np.arange(len(segment))
    return own


def _sums(row: Ints, value: Floats, n: int) -> Floats:
    """(n,) sums of values by row; those of row -1 are left out."""
    return np.bincount(row[row >= 0], value[row >= 0], n).astype(np.float64)


def _stand_ins(segments: Segments, segment: Ints, own: Ints) -> Ints:
    """(N,) the chosen segment that stands for each: itself, or the nearest one of its mask; -1 where there is none."""
    stands = own.copy()
    one, other = segments.masks[segment].T
    mask = np.concatenate([one, other[other >= 0]])
    row = np.concatenate([np.arange(len(segment)), np.flatnonzero(other >= 0)])
    order = np.argsort(mask, kind="stable")
    mask, row = mask[order], row[order]
    best = np.full(len(stands), np.inf)
    for k in range(3):
        at = np.searchsorted(mask, segments.masks[:, 0]) + k
        able = (at < len(mask)) & (own < 0)
        able[able] = mask[at[able]] == segments.masks[able, 0]
        rows = np.flatnonzero(able)
        candidate = row[at[rows]]
        away = ((segments.place[rows] - segments.place[segment[candidate]]) ** 2).sum(axis=1)
        nearer = away < best[rows]
        stands[rows[nearer]], best[rows[nearer]] = candidate[nearer], away[nearer]
    return stands


def _edges(structure: Structure, posterior: SegmentPosterior, mothers: Ints, daughters: Ints, n: int) -> ObjectEdges:
    """The ways' links, summed between rows of chosen segments."""
    holdings, hypotheses = structure.holdings, structure.hypotheses
    a, b = mothers[holdings.segment[hypotheses.mother]], daughters[holdings.segment[hypotheses.daughter]]
    _, twice = mothers_of_ways(hypotheses)
    dividing = np.isin(
        hypotheses.way * hypotheses.n_objects + hypotheses.mother, twice[:, 0] * hypotheses.n_objects + twice[:, 1]
    )
    own = (a >= 0) & (b >= 0)
    key, row = np.unique(b[own] * n + a[own], return_inverse=True)
    probability = posterior.way[hypotheses.way[own]]
    total, split = (np.bincount(row, each, len(key)) for each in (probability, probability * dividing[own]))
    daughter, mother = np.divmod(key, max(n, 1))
    return ObjectEdges(mother, daughter, total.astype(np.float64), split.astype(np.float64))


def _links(structure: Structure, clamped: SegmentPosterior, own: Ints, edges: ObjectEdges, n: int) -> Bools:
    """(E,) the links with the most expected right decisions, given what masks consist of."""
    given = _edges(structure, clamped, own, own, n)
    into = np.bincount(given.daughter, given.probability, n).astype(np.float64)  # of nothing it counts in whole numbers
    none = np.zeros(n)
    found = Marginals(given.probability, given.dividing, np.clip(1 - into, 0, 1), none, none, 0.0, exact=False)
    problem = Problem(given.mother, given.daughter, np.zeros(len(given)), n, n, appear=0.0, disappear=0.0, divide=0.0)
    chosen = max_expected_accuracy(problem, found)
    link = np.zeros(len(given), np.bool_)
    link[chosen[chosen >= 0]] = True
    link &= given.probability > TINY
    _drop_weaker(link, given, clamped, structure, own, n)
    key = given.daughter * n + given.mother
    return np.isin(edges.daughter * n + edges.mother, key[link])


def _drop_weaker(
    link: Bools, given: ObjectEdges, clamped: SegmentPosterior, structure: Structure, own: Ints, n: int
) -> None:
    """Of two links of a mother that divides less probably than not, the less probable one is none."""
    divide = _sums(own[structure.holdings.segment], clamped.divide, n)
    rows = np.flatnonzero(link)
    order = rows[np.lexsort((-given.probability[rows], given.mother[rows]))]
    second = order[1:][given.mother[order[1:]] == given.mother[order[:-1]]]
    link[second[divide[given.mother[second]] <= 0.5]] = False
