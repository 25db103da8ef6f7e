"""How objects may go on from frame to frame: the links that are worth looking at."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np

from dunno.segments.holdings import Content, Holdings
from dunno.segments.hypotheses import Hypotheses
from dunno.segments.near_pairs import Near
from dunno.segments.segments import Segments
from dunno.types import Bools, Floats, Ints

STAYING = (Content.PAIR, Content.COUPLE, Content.FRAGMENT, Content.TRIO)
"""What may go on together, as one mask."""

TWO = (Content.PAIR, Content.COUPLE)
"""Two cells."""

DIVIDING = (Content.CELL, Content.UNION, *TWO)
"""Whose cells may divide."""


@dataclass(frozen=True, eq=False)
class Moves:
    """One object goes on as another of its kind.

    Attributes:
        mother: (n,) the earlier object.
        daughter: (n,) the later one.
        pair: (n,) the row of their segments in `Near`.
        members: (n, 2) where both are unions, the rows of their masks' own links; else -1.
    """

    mother: Ints
    daughter: Ints
    pair: Ints
    members: Ints

    def __len__(self) -> int:
        return len(self.mother)

    def __getitem__(self, rows: Ints | Bools) -> Moves:
        return Moves(self.mother[rows], self.daughter[rows], self.pair[rows], self.members[rows])

    @property
    def of_unions(self) -> Bools:
        """(n,) which lead from a union to a union."""
        return np.asarray(self.members[:, 0] >= 0)


@dataclass(frozen=True, eq=False)
class Stays:
    """All objects of a mask go on together: the mask earns what it would earn with one object.

    Attributes:
        mother: (n,) the earlier state.
        daughter: (n,) the later one, with the same content.
        pair: (n,) the row of their masks in `Near`.
        turned: (n,) whether the masks' halves change places.
        order: (n, 3) as which of the later objects each of the earlier ones goes on.
    """

    mother: Ints
    daughter: Ints
    pair: Ints
    turned: Bools
    order: Ints

    def __len__(self) -> int:
        return len(self.mother)

    def __getitem__(self, rows: Ints | Bools) -> Stays:
        return Stays(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))


@dataclass(frozen=True, eq=False)
class Splits:
    """Three segments: a mother and two daughters.

    Attributes:
        mother: (n,) rows of segments.
        first: (n,) of the daughters.
        second: (n,) of the others.
        squared: (n,) squared distance from the mother's centre to the middle of the daughters'.
        separation: (n,) log distance of the daughters over the root of the mother's area.
        growth: (n,) log of both areas together over the mother's.
        imbalance: (n,) log ratio of the daughters' areas.
        late: (n,) whether the daughters are parts of one mask.
    """

    mother: Ints
    first: Ints
    second: Ints
    squared: Floats
    separation: Floats
    growth: Floats
    imbalance: Floats
    late: Bools

    def __len__(self) -> int:
        return len(self.mother)

    def __getitem__(self, rows: Ints | Bools) -> Splits:
        return Splits(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))


@dataclass(frozen=True, eq=False)
class Divisions:
    """One object goes on as two.

    Attributes:
        mother: (n,) objects.
        first: (n,) one daughter of each.
        second: (n,) the other.
        split: (n,) the row of their segments in `Splits`.
    """

    mother: Ints
    first: Ints
    second: Ints
    split: Ints

    def __len__(self) -> int:
        return len(self.mother)

    def __getitem__(self, rows: Ints | Bools) -> Divisions:
        return Divisions(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))


@dataclass(frozen=True, eq=False)
class Ways:
    """All of them, in this order; `both` has pairs of moves between the same two states.

    Attributes:
        moves: One object each.
        stays: All objects of a mask.
        divisions: One object becomes two.
        both: (n, 2) rows of moves that are made at once.
        inside: (n, 2) rows of divisions and of moves that are made at once, in a mask that goes on with one cell more.
    """

    moves: Moves
    stays: Stays
    divisions: Divisions
    both: Ints
    inside: Ints

    @property
    def first(self) -> tuple[int, ...]:
        """Where moves, stays, divisions, pairs of moves, and divisions inside begin, and where all end."""
        sizes = (0, len(self.moves), len(self.stays), len(self.divisions), len(self.both), len(self.inside))
        return tuple(np.cumsum(sizes).tolist())

    def hypotheses(self, segments: Segments, holdings: Holdings) -> Hypotheses:
        """The factor graph of masks and edges."""
        _, stay, divide, both, inside, n_ways = self.first
        way = [np.arange(stay)]
        mother, daughter = [self.moves.mother], [self.moves.daughter]
        for k in range(3):
            own = self.stays.order[:, k] >= 0
            way.append(stay + np.flatnonzero(own))
            mother.append(holdings.objects(self.stays.mother[own], k))
            daughter.append(holdings.objects(self.stays.daughter[own], 0) + self.stays.order[own, k])
        for ends in (self.divisions.first, self.divisions.second):
            way.append(divide + np.arange(len(ends)))
            mother.append(self.divisions.mother)
            daughter.append(ends)
        for k in range(2):
            way.append(both + np.arange(len(self.both)))
            mother.append(self.moves.mother[self.both[:, k]])
            daughter.append(self.moves.daughter[self.both[:, k]])
        rows = inside + np.arange(len(self.inside))
        division, move = self.inside.T
        for ends in (self.divisions.first, self.divisions.second):
            way.append(rows)
            mother.append(self.divisions.mother[division])
            daughter.append(ends[division])
        way.append(rows)
        mother.append(self.moves.mother[move])
        daughter.append(self.moves.daughter[move])
        ways, mothers, daughters = (np.ascontiguousarray(np.concatenate(column)) for column in (way, mother, daughter))
        frame = segments.frame[: segments.n_masks]
        return Hypotheses(frame, holdings.mask, holdings.state, n_ways, ways, mothers, daughters, holdings.unions)


def _objects_by_segment(holdings: Holdings, n: int) -> tuple[Ints, Ints]:
    """(n + 1) where the objects of each segment begin among (O,) objects sorted by segment."""
    order = np.argsort(holdings.segment, kind="stable")
    return np.searchsorted(holdings.segment[order], np.arange(n + 1)), order


def _every(n_first: Ints, n_second: Ints) -> tuple[Ints, Ints, Ints]:
    """Rows, and which of each row's first and second choices: all combinations."""
    n = n_first * n_second
    row = np.repeat(np.arange(len(n)), n)
    k = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
    return row, k // np.maximum(n_second[row], 1), k % np.maximum(n_second[row], 1)


def moves_between(pairs: Near, holdings: Holdings, segments: Segments) -> Moves:
    """All objects of these segments that are of a kind; unions go on as unions where both of their masks may."""
    begin, order = _objects_by_segment(holdings, len(segments.frame))
    count = np.diff(begin)
    row, a, b = _every(count[pairs.mother], count[pairs.daughter])
    mother, daughter = order[begin[pairs.mother[row]] + a], order[begin[pairs.daughter[row]] + b]
    alike = holdings.is_cell[mother] == holdings.is_cell[daughter]
    mother, daughter, row = mother[alike], daughter[alike], row[alike]
    members, possible = _members(pairs, row, segments)
    return Moves(mother, daughter, row, members)[possible]


def _members(pairs: Near, row: Ints, segments: Segments) -> tuple[Ints, Bools]:
    """(n, 2) the links of the masks of two unions, the nearer way round, and whether there are any where they are needed."""
    n = len(segments.frame)
    key = (pairs.gap * n + pairs.mother) * n + pairs.daughter
    order = np.argsort(key)
    members = np.full((len(row), 2), -1, np.int64)
    mother, daughter = pairs.mother[row], pairs.daughter[row]
    own = np.flatnonzero((segments.masks[mother, 1] >= 0) & (segments.masks[daughter, 1] >= 0))
    best = np.full(len(own), np.inf)
    for one, other in ((0, 1), (1, 0)):
        ends = [segments.masks[daughter[own], k] for k in (one, other)]
        wanted = [(pairs.gap[row[own]] * n + segments.masks[mother[own], k]) * n + ends[k] for k in (0, 1)]
        places = [np.minimum(np.searchsorted(key, each, sorter=order), len(key) - 1) for each in wanted]
        rows = np.stack([order[place] for place in places], axis=1)
        there = (key[rows] == np.stack(wanted, axis=1)).all(axis=1)
        far = np.where(there, pairs.squared[rows].sum(axis=1), np.inf)
        nearer = far < best
        members[own[nearer]], best[nearer] = rows[nearer], far[nearer]
    possible = np.ones(len(row), np.bool_)
    possible[own] = np.isfinite(best)
    return members, possible


def stays_between(pairs: Near, rows: Ints, holdings: Holdings, segments: Segments) -> Stays:
    """All states with the same parts of these pairs of whole masks."""
    own = np.isin(holdings.content, [int(c) for c in STAYING])
    states = np.flatnonzero(own)
    begin = np.searchsorted(holdings.mask[states], np.arange(segments.n_masks + 1))
    count = np.diff(begin)
    row, a, b = _every(count[pairs.mother[rows]], count[pairs.daughter[rows]])
    mother, daughter = states[begin[pairs.mother[rows[row]]] + a], states[begin[pairs.daughter[rows[row]]] + b]
    alike = holdings.content[mother] == holdings.content[daughter]
    mother, daughter, pair = mother[alike], daughter[alike], rows[row[alike]]
    found = [_ordered(mother, daughter, pair, content, holdings, segments) for content in STAYING]
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(each, name) for each in found]) for name in Stays.__dataclass_fields__
    }
    return Stays(**columns)


def _ordered(
    mother: Ints, daughter: Ints, pair: Ints, content: Content, holdings: Holdings, segments: Segments
) -> Stays:
    """Two cells may change places; of three, the likeliest order is taken; a fragment stays one."""
    own = holdings.content[mother] == content
    mother, daughter, pair = mother[own], daughter[own], pair[own]
    if content is Content.TRIO:
        order = _nearest_order(mother, daughter, holdings, segments)
        return Stays(mother, daughter, pair, np.zeros(len(mother), bool), order)
    same = _side(mother, holdings, segments) == _side(daughter, holdings, segments)
    straight = np.broadcast_to(np.array([0, 1, -1]), (len(mother), 3))
    if content is Content.FRAGMENT:
        return Stays(mother, daughter, pair, ~same, straight)
    order = np.concatenate([straight, straight[:, [1, 0, 2]]])
    twice = np.tile(mother, 2), np.tile(daughter, 2), np.tile(pair, 2)
    return Stays(*twice, np.concatenate([~same, same]), order)


def _side(states: Ints, holdings: Holdings, segments: Segments) -> Bools:
    """Whether a state's first part lies on the side of its mask's first half."""
    first, second = (segments.place[holdings.segment[holdings.objects(states, k)]] for k in (0, 1))
    return np.asarray(((first - second) * segments.halves[holdings.mask[states]]).sum(axis=1) > 0)


def _nearest_order(mother: Ints, daughter: Ints, holdings: Holdings, segments: Segments) -> Ints:
    """(n, 3) the order in which the parts move least beside their masks."""

    def beside(states: Ints) -> Floats:
        middle = segments.place[holdings.mask[states]]
        return np.stack([segments.place[holdings.segment[holdings.objects(states, k)]] - middle for k in range(3)])

    one, other = beside(mother), beside(daughter)
    orders = np.array(list(permutations(range(3))))
    far = [sum(((other[b] - one[a]) ** 2).sum(axis=1) for a, b in enumerate(order)) for order in orders]
    return np.asarray(orders[np.argmin(far, axis=0)]).reshape(-1, 3)


def splits_of(segments: Segments, mother: Ints, daughter: Ints) -> Splits:
    """All pairs of daughters of each mother that are one object each, given its candidates, sorted by mother."""
    rows = np.arange(len(mother))
    last = np.searchsorted(mother, mother, side="right")
    count = last - rows - 1
    one = np.repeat(rows, count)
    other = one + 1 + np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    i, a, b = mother[one], daughter[one], daughter[other]
    late = _are_parts_of_one_cut(segments, a, b)
    able = late | ~_share_a_mask(segments, a, b)
    return compared_split(segments, i[able], a[able], b[able], late[able])


def compared_split(segments: Segments, mother: Ints, first: Ints, second: Ints, late: Bools) -> Splits:
    """How a mother and two daughters lie."""
    place, area, d = segments.place, segments.area, segments.dimensions
    squared = ((0.5 * (place[first] + place[second]) - place[mother]) ** 2).sum(axis=1)
    distance = np.sqrt(((place[first] - place[second]) ** 2).sum(axis=1))
    separation = np.log(np.maximum(distance, 1e-3)) - np.log(area[mother]) / d
    growth = np.log((area[first] + area[second]) / area[mother])
    imbalance = np.log(area[first] / area[second])
    return Splits(mother, first, second, squared, separation, growth, imbalance, late)


def _share_a_mask(segments: Segments, a: Ints, b: Ints) -> Bools:
    one, other = segments.masks[a], segments.masks[b]
    return np.asarray(((one[:, :, None] == other[:, None, :]) & (one[:, :, None] >= 0)).any(axis=(1, 2)))


def _are_parts_of_one_cut(segments: Segments, a: Ints, b: Ints) -> Bools:
    """(n,) for pairs of segments, a < b; a part may be of two cuts, into two and into three."""
    n = len(segments.frame)
    pairs = np.concatenate([np.sort(segments.cuts[:, columns], axis=1) for columns in ((0, 1), (0, 2), (1, 2))])
    return np.isin(np.minimum(a, b) * n + np.maximum(a, b), pairs[:, 0] * n + pairs[:, 1])


def divisions_of(splits: Splits, holdings: Holdings, segments: Segments) -> Divisions:
    """All cells of these segments: daughters of one mask are of one of its states."""
    begin, order = _objects_by_segment(holdings, len(segments.frame))
    cell = holdings.is_cell[order]
    order, begin = order[cell], np.concatenate([[0], np.cumsum(cell)])[begin]
    count = np.diff(begin)
    row, a, b = _every(count[splits.first], count[splits.second])
    first, second = order[begin[splits.first[row]] + a], order[begin[splits.second[row]] + b]
    one_mask = holdings.mask[holdings.state[first]] == holdings.mask[holdings.state[second]]
    able = ~one_mask | (holdings.state[first] == holdings.state[second])
    row, first, second = row[able], first[able], second[able]
    again, k, _ = _every(count[splits.mother[row]], np.ones(len(row), np.int64))
    mother = order[begin[splits.mother[row[again]]] + k]
    found = Divisions(mother, first[again], second[again], row[again])
    return found[np.isin(holdings.content[holdings.state[mother]], DIVIDING)]


def both_at_once(moves: Moves, holdings: Holdings) -> Ints:
    """(n, 2) moves of two cells between a mask with three cells and one with two."""
    state, later = holdings.state[moves.mother], holdings.state[moves.daughter]
    content, then = holdings.content[state], holdings.content[later]
    two, then_two = (np.isin(c, TWO) for c in (content, then))
    own = ((content == Content.TRIO) & then_two) | (two & (then == Content.TRIO))
    rows = np.flatnonzero(own)
    rows = rows[np.lexsort((rows, later[rows], state[rows]))]
    key = state[rows] * (int(holdings.state.max(initial=0)) + 1) + later[rows]
    last = np.searchsorted(key, key, side="right")
    count = last - np.arange(len(rows)) - 1
    one = np.repeat(np.arange(len(rows)), count)
    other = one + 1 + np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    a, b = rows[one], rows[other]
    differ = (moves.mother[a] != moves.mother[b]) & (moves.daughter[a] != moves.daughter[b])
    return np.stack([a[differ], b[differ]], axis=1)


def divisions_inside(divisions: Divisions, moves: Moves, holdings: Holdings) -> Ints:
    """(n, 2) divisions of one of two cells of a mask into two of three, and moves of the other one into the third."""
    n = len(holdings.mask)
    then = holdings.state[divisions.first]
    own = (then == holdings.state[divisions.second]) & (holdings.content[then] == Content.TRIO)
    own &= np.isin(holdings.content[holdings.state[divisions.mother]], TWO)
    rows = np.flatnonzero(own)
    key = holdings.state[divisions.mother[rows]] * n + then[rows]
    order = np.argsort(holdings.state[moves.mother] * n + holdings.state[moves.daughter], kind="stable")
    move_key = (holdings.state[moves.mother] * n + holdings.state[moves.daughter])[order]
    first, last = np.searchsorted(move_key, key, side="left"), np.searchsorted(move_key, key, side="right")
    row, k, _ = _every(last - first, np.ones(len(rows), np.int64))
    division, move = rows[row], order[first[row] + k]
    free = moves.mother[move] != divisions.mother[division]
    for ends in (divisions.first, divisions.second):
        free &= moves.daughter[move] != ends[division]
    return np.stack([division[free], move[free]], axis=1)
