"""What is known before masks are solved: which states, ways and events are possible, and which sets masks keep.

A person, or the span before, knows something; the messages see nothing else of it than weights of minus infinity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from dunno.errors import ProblemError
from dunno.segments.answer import sets_of_states
from dunno.segments.holdings import Content
from dunno.segments.hypotheses import Weights
from dunno.segments.law_weights import Structure
from dunno.segments.near_pairs import Near, near
from dunno.segments.posterior import mothers_of_ways
from dunno.segments.segments import Segments
from dunno.segments.ways import Divisions, Moves, Splits, compared_split, divisions_of, moves_between
from dunno.types import Bools, Floats, Ints

LEAST_STATE_BELIEF = 1e-9  # probability; judged
"""What is believed less of a state counts for as much."""

Rows = TypeVar("Rows", Near, Moves, Splits, Divisions)


@dataclass(frozen=True, eq=False)
class Clamps:
    """What is possible of a structure.

    Attributes:
        structure: What may be, with the ways that somebody knows of.
        state: (S,) which states are possible.
        way: (W,) which ways are.
        appear: (O,) which objects may have no mother; `disappear`: no daughter.
        sets: (M,) the set of segments that each mask is, -1 where it is to be chosen; `None`: all are.
        kept: (M,) the set that each mask keeps unless another one is more probable than not; `None`: the mask as it is.
        beliefs: (S,) what frames that are not seen here say of states, together with those that are; NaN where nobody knows.
    """

    structure: Structure
    state: Bools
    way: Bools
    appear: Bools
    disappear: Bools
    sets: Ints | None = None
    kept: Ints | None = None
    beliefs: Floats | None = None

    @classmethod
    def none(cls, structure: Structure, sets: Ints | None = None, kept: Ints | None = None) -> Clamps:
        """Everything is possible."""
        hypotheses = structure.hypotheses
        sizes = (hypotheses.n_states, hypotheses.n_ways, hypotheses.n_objects, hypotheses.n_objects)
        state, way, appear, disappear = (np.ones(n, np.bool_) for n in sizes)
        return cls(structure, state, way, appear, disappear, sets, kept)

    def on(self, weights: Weights) -> Weights:
        """The weights of what is possible."""
        names = ("state", "way", "appear", "disappear")
        return Weights(**{name: np.where(getattr(self, name), getattr(weights, name), -np.inf) for name in names})

    def beside(self, weights: Weights, found: Floats) -> Weights:
        """The weights with what frames that are not seen add to them, given what is believed without them."""
        if self.beliefs is None:
            return weights
        with np.errstate(divide="ignore"):
            added = np.log(np.maximum(self.beliefs, LEAST_STATE_BELIEF)) - np.log(np.maximum(found, LEAST_STATE_BELIEF))
        return replace(weights, state=weights.state + np.where(np.isnan(self.beliefs), 0.0, added))


class Known:
    """Writes what is known of segments into clamps; each statement holds beside the others."""

    def __init__(self, clamps: Clamps) -> None:
        self.clamps, self._structure = clamps, clamps.structure
        holdings, hypotheses = self._structure.holdings, self._structure.hypotheses
        self._mother, self._daughter = holdings.segment[hypotheses.mother], holdings.segment[hypotheses.daughter]
        way, dividing = mothers_of_ways(hypotheses)[1].T
        self._dividing, self._divides = way, holdings.segment[dividing]

    def holds(self, mask: int, *contents: Content) -> None:
        """A mask holds one of these."""
        self._only(mask, np.isin(self._structure.holdings.content, contents))

    def is_set(self, masks: Ints, sets: Ints) -> None:
        """Some masks are these sets of segments, numbered as in an answer."""
        structure = self._structure
        given = np.full(structure.segments.n_masks, -1)
        given[masks] = sets
        wanted = given[structure.holdings.mask]
        number = sets_of_states(structure.segments, structure.holdings)
        self.clamps.state[(wanted >= 0) & (number != wanted)] = False

    def is_object(self, segment: int) -> None:
        """A segment is an object."""
        holdings = self._structure.holdings
        own = np.zeros(len(holdings.mask), np.bool_)
        own[holdings.state[holdings.segment == segment]] = True
        own |= (holdings.content == Content.JOINED) & (holdings.source == segment)
        for mask in self._masks(segment):
            self._only(mask, own)

    def no_cell(self, segment: int) -> None:
        """Nothing that shares pixels with a segment is a cell; a part that cannot be debris belongs to the other one."""
        segments, holdings = self._structure.segments, self._structure.holdings
        cells = holdings.is_cell & np.isin(holdings.segment, _sharing(segments, segment))
        for mask in self._masks(segment):
            free = holdings.mask == mask
            free[holdings.state[cells]] = False
            free &= holdings.content != Content.JOINED
            if segment >= segments.n_masks and (holdings.content[free] == Content.NOTHING).all():
                free |= holdings.content == Content.CELL
            self._only(mask, free)

    def linked(self, mother: int, daughter: int) -> None:
        """Both are objects, and the daughter comes from the mother."""
        self.is_object(mother)
        self.is_object(daughter)
        self._no_ways(self._links((self._daughter == daughter) & (self._mother != mother)))
        self.clamps.appear[self._objects(daughter)] = False

    def appears(self, segment: int) -> None:
        """It is an object without a mother."""
        self.is_object(segment)
        self._no_ways(self._links(self._daughter == segment))

    def ends(self, segment: int) -> None:
        """It is an object without a daughter."""
        self.is_object(segment)
        self._no_ways(self._links(self._mother == segment))

    def divides(self, segment: int) -> None:
        """It is an object with two daughters."""
        self.is_object(segment)
        self._no_ways(np.setdiff1d(self._links(self._mother == segment), self._dividing[self._divides == segment]))
        self.clamps.disappear[self._objects(segment)] = False

    def may_divide(self, segment: int) -> bool:
        """Whether any two segments could be its daughters."""
        return bool(self.clamps.way[self._dividing[self._divides == segment]].any())

    def single(self, segment: int) -> None:
        """It has no two daughters."""
        self._no_ways(self._dividing[self._divides == segment])

    def unseen_next(self, segment: int) -> None:
        """It goes on, but not in the next frame."""
        frame = self._structure.segments.frame
        next_ones = frame[self._daughter] == frame[segment] + 1
        self._no_ways(self._links((self._mother == segment) & next_ones))
        self.clamps.disappear[self._objects(segment)] = not self.goes_on(segment)

    def goes_on(self, segment: int) -> bool:
        """Whether any way leads on from it."""
        return bool(self.clamps.way[self._links(self._mother == segment)].any())

    def _links(self, own: Bools) -> Ints:
        """The ways of some links."""
        return self._structure.hypotheses.way[own]

    def _objects(self, segment: int) -> Ints:
        return np.flatnonzero(self._structure.holdings.segment == segment)

    def _masks(self, segment: int) -> list[int]:
        return [mask for mask in self._structure.segments.masks[segment].tolist() if mask >= 0]

    def _only(self, mask: int, states: Bools) -> None:
        """A mask is in one of some states; of the others' ways none is possible."""
        own = self._structure.holdings.mask == mask
        self.clamps.state[own & ~states] = False
        if not self.clamps.state[own].any():
            raise ProblemError("nothing is left that the mask may hold")

    def _no_ways(self, ways: Ints) -> None:
        self.clamps.way[ways] = False


def _sharing(segments: Segments, segment: int) -> Ints:
    """Segments that share pixels with one: whole masks and unions with all that is in them, parts with those of other cuts."""
    own = [mask for mask in segments.masks[segment].tolist() if mask >= 0]
    near_by: Bools = np.asarray(np.isin(segments.masks, own).any(axis=1))
    if segment >= segments.n_masks and segments.masks[segment, 1] < 0:
        beside = segments.cuts[(segments.cuts == segment).any(axis=1)].ravel()
        near_by[beside[(beside >= 0) & (beside != segment)].tolist()] = False
    return np.flatnonzero(near_by)


def with_links(structure: Structure, links: Sequence[tuple[int, int]]) -> Structure:
    """The same where some segments may go on as some others, however improbable that seemed."""
    segments, holdings = structure.segments, structure.holdings
    known = set(
        zip(
            *(holdings.segment[each] for each in (structure.ways.moves.mother, structure.ways.moves.daughter)),
            strict=True,
        )
    )
    wanted = [pair for pair in dict.fromkeys(links) if pair not in known]
    if not wanted:
        return structure
    listed = [pair for link in wanted for pair in _with_members(segments, *link)]
    mothers, daughters = np.array(listed, np.int64).T
    more = near(segments, mothers, daughters, segments.frame[daughters] - segments.frame[mothers] - 1)
    pairs = _after(structure.pairs, more)
    moves = moves_between(more, holdings, segments)
    moves = moves[np.isin(moves.pair, np.flatnonzero([pair in wanted for pair in listed]))]
    first = len(structure.pairs)
    members = np.where(moves.members >= 0, moves.members + first, -1)
    moves = _after(structure.ways.moves, replace(moves, pair=moves.pair + first, members=members))
    ways = replace(structure.ways, moves=moves)
    return replace(structure, pairs=pairs, ways=ways, hypotheses=ways.hypotheses(segments, holdings))


def _with_members(segments: Segments, mother: int, daughter: int) -> list[tuple[int, int]]:
    """A link, and those of the masks of two unions."""
    one, other = segments.masks[mother].tolist(), segments.masks[daughter].tolist()
    more = [(a, b) for a in one for b in other] if min(one[1], other[1]) >= 0 else []
    return [(mother, daughter), *more]


def with_division(structure: Structure, mother: int, first: int, second: int) -> Structure:
    """The same where a segment may divide into two others."""
    segments, holdings, splits = structure.segments, structure.holdings, structure.splits
    both = {first, second}
    known = zip(splits.mother.tolist(), splits.first.tolist(), splits.second.tolist(), strict=True)
    listed = [k for k, (i, a, b) in enumerate(known) if i == mother and {a, b} == both]
    if np.isin(structure.ways.divisions.split, listed).any():
        return structure
    one, other, third = (np.array([each]) for each in (mother, first, second))
    cut = (segments.cuts == first).any(axis=1) & (segments.cuts == second).any(axis=1)
    more = compared_split(segments, one, other, third, np.array([cut.any()]))
    divisions = divisions_of(more, holdings, segments)
    divisions = _after(structure.ways.divisions, replace(divisions, split=divisions.split + len(splits)))
    ways = replace(structure.ways, divisions=divisions)
    hypotheses = ways.hypotheses(segments, holdings)
    return replace(structure, splits=_after(splits, more), ways=ways, hypotheses=hypotheses)


def _after(some: Rows, more: Rows) -> Rows:
    """Rows, and more of them."""
    names = some.__dataclass_fields__
    return type(some)(*(np.concatenate([getattr(some, name), getattr(more, name)]) for name in names))
