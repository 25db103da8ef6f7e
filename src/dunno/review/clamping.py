"""What a person said as constraints on the model of masks: ways of masks that contradict it become all but impossible.

A mask that is no cell has only the ways of state 0, one that holds two those of state 2; a mask with a decided mother only those
that take her edge; and so on. Belief propagation then says what follows for all masks of the block.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from dunno.assignment.choices import YOUNG, Choices, Kind, ways
from dunno.models.mask_ways import IN, OUT, Graph
from dunno.review.constraints import APPEARS, Constraints
from dunno.types import Block, Bools, Ints

AGAINST = 25.0
"""Natural logarithm of the odds against what a person decided against."""

DIVIDING = [OUT.index("divide"), OUT.index("apart dividing")]
"""Sorts of ways out in which a cell divides."""

Edge = tuple[int, int]
"""Rows of the mother and of the daughter."""


@dataclass
class Clamps:
    """Constraints on the rows of a stretch.

    Attributes:
        states: What each mask may hold, where that is known.
        into: Edges that lead to a mask, all of them used; none where it has no mother.
        alone: Masks without a daughter in the frame after.
        lost: Masks without any daughter.
        divides: Whether a mask divides, where that is known.
    """

    states: dict[int, set[int]] = field(default_factory=dict)
    into: dict[int, list[Edge]] = field(default_factory=dict)
    alone: set[int] = field(default_factory=set)
    lost: set[int] = field(default_factory=set)
    divides: dict[int, bool] = field(default_factory=dict)

    @property
    def edges(self) -> list[Edge]:
        """All edges that are used."""
        return [edge for edges in self.into.values() for edge in edges]

    def hold(self, row: int, *states: int) -> None:
        """A mask holds one of these numbers of cells; one cell may be young."""
        may = {*states, YOUNG} if 1 in states else set(states)
        self.states[row] = self.states.get(row, {0, 1, 2, YOUNG}) & may

    @classmethod
    def of(cls, said: Constraints, block: Block, offset: int) -> Clamps:
        """What was said about a block's cells, by rows of a stretch in which its first row has this number."""
        clamps, begins, ends = cls(), int(block.begin[block.first + 1]), int(block.begin[-2])
        rows = np.arange(len(block.cells))
        for j in np.flatnonzero((said.settled | said.two) & (rows >= begins)).tolist():
            clamps._take_daughter(said, j, offset)
        second = set(said.also[said.also >= 0].tolist())
        mothers = (said.false | said.two | said.disappears | said.missed) & (rows < ends)
        for i in np.flatnonzero(mothers).tolist():
            if said.false[i] or said.two[i]:
                clamps.hold(offset + i, 0 if said.false[i] else 2)
            elif i not in second:
                clamps.hold(offset + i, 1, 2)
                (clamps.alone if said.goes_on[i] or said.missed[i] else clamps.lost).add(offset + i)
        for i in np.flatnonzero((said.divides | said.single) & (rows < ends)).tolist():
            clamps.divides[offset + i] = bool(said.divides[i])
        return clamps

    def _take_daughter(self, said: Constraints, j: int, offset: int) -> None:
        row = offset + j
        if said.false[j]:
            self.hold(row, 0)
            return
        self.hold(row, *((2,) if said.two[j] else (1, 2)))
        edges = [(offset + int(i), row) for i in (said.mother[j], said.also[j]) if i >= 0 and not said.third[j]]
        if edges or said.mother[j] == APPEARS or said.third[j]:
            self.into[row] = edges


def clamped(graph: Graph, clamps: Clamps) -> Graph:
    """The graph with the ways that contradict what was said all but impossible.

    They are not taken out, because what a person decides may be more than the graph has ways for (a division that is too far away
    to be looked at, say): then it is as close to it as can be.
    """
    graph = _with_merges(_with_shared_masks(graph, clamps), clamps)
    out = _agree(graph.out, clamps) & _goes_out(graph, clamps)
    into = _agree(graph.into, clamps) & _comes_in(graph, clamps)
    return replace(graph, out=_against(graph.out, ~out), into=_against(graph.into, ~into))


def _with_shared_masks(graph: Graph, clamps: Clamps) -> Graph:
    """The graph with divisions, and masks that come apart, one of whose cells shares a mask of two with another.

    How far it went is weighed by the merge, so that its way out does not weigh it again.
    """
    stretch = graph.stretch
    shared = [edge for row, edges in clamps.into.items() if clamps.states.get(row) == {2} for edge in edges]
    merging = [edge for edge in (_edge(stretch.mother, stretch.daughter, each) for each in shared) if edge >= 0]
    own = np.flatnonzero(np.isin(graph.out_sort, [OUT.index("divide"), OUT.index("apart")]))
    alone = graph.weights_of(Kind.SINGLE, len(stretch.mother))
    parts, sorts = [graph.out], [graph.out_sort]
    for one in ("first", "second"):
        chosen = own[np.isin(getattr(graph.out, one)[own], merging)]
        partings = _only(graph.out, chosen)
        kind = np.full(len(chosen), int(Kind.MERGING))
        first, second = (kind, partings.second_kind) if one == "first" else (partings.first_kind, kind)
        weight = partings.log_weight - np.nan_to_num(alone[getattr(partings, one)], neginf=0.0)
        parts.append(replace(partings, first_kind=first, second_kind=second, log_weight=weight))
        sorts.append(graph.out_sort[chosen])
    out, sort = _joined(parts, sorts)
    return replace(graph, out=out, out_sort=sort)


def _with_merges(graph: Graph, clamps: Clamps) -> Graph:
    """The graph with the decided merges of masks that lie too far from each other to have been thought of."""
    stretch, sort = graph.stretch, IN.index("merge")
    parts, sorts = [graph.into], [graph.in_sort]
    for row, edges in clamps.into.items():
        known = [_edge(stretch.mother, stretch.daughter, each) for each in edges]
        if len(known) == 2 and min(known) >= 0:
            first, second = np.array(known[:1]), np.array(known[1:])
            parts.append(ways(np.array([row]), 2, 0.0, (first, Kind.MERGING), (second, Kind.MERGING)))
            sorts.append(np.array([sort]))
    into, in_sort = _joined(parts, sorts)
    return replace(graph, into=into, in_sort=in_sort)


def _joined(parts: list[Choices], sorts: list[Ints]) -> tuple[Choices, Ints]:
    """All ways, sorted by mask."""
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in Choices.__dataclass_fields__}
    order = np.argsort(columns["mask"], kind="stable")
    whole = Choices(**{name: np.ascontiguousarray(values[order]) for name, values in columns.items()})
    return whole, np.concatenate(sorts)[order]


def _agree(side: Choices, clamps: Clamps) -> Bools:
    """(C,) ways in a state that the mask may have."""
    fine = np.ones(len(side.mask), np.bool_)
    for row, states in clamps.states.items():
        own = _of(side, row)
        fine[own] &= np.isin(side.state[own], list(states))
    return fine


def _comes_in(graph: Graph, clamps: Clamps) -> Bools:
    """(C,) ways in that take the decided edges, as edges of cells."""
    side, stretch = graph.into, graph.stretch
    fine = np.ones(len(side.mask), np.bool_)
    for row, edges in clamps.into.items():
        own = _of(side, row)
        known = [edge for edge in (_edge(stretch.mother, stretch.daughter, each) for each in edges) if edge >= 0]
        for edge in known:
            first = (side.first[own] == edge) & (side.first_kind[own] < Kind.FALSE)
            second = (side.second[own] == edge) & (side.second_kind[own] < Kind.FALSE)
            fine[own] &= first | second
        if not known:
            fine[own] &= side.first[own] < 0
    return fine


def _goes_out(graph: Graph, clamps: Clamps) -> Bools:
    """(C,) ways out of masks that are lost, go on elsewhere, divide, or do not."""
    side, lags = graph.out, graph.stretch.lags
    fine = np.ones(len(side.mask), np.bool_)
    for row in clamps.lost:
        own = _of(side, row)
        fine[own] &= side.first[own] < 0
    for row in clamps.alone:
        own = _of(side, row)
        fine[own] &= (side.first[own] < 0) | (lags[side.first[own]] > 1)
    for row, divides in clamps.divides.items():
        own = _of(side, row)
        fine[own] &= np.isin(graph.out_sort[own], DIVIDING) == divides
    return fine


def _of(side: Choices, row: int) -> slice:
    """The ways of one mask."""
    first, end = np.searchsorted(side.mask, [row, row + 1]).tolist()
    return slice(first, end)


def _edge(mother: Ints, daughter: Ints, edge: Edge) -> int:
    """The number of an edge, -1 where there is none."""
    found = np.flatnonzero((mother == edge[0]) & (daughter == edge[1]))
    return int(found[0]) if len(found) else -1


def _only(side: Choices, kept: Ints) -> Choices:
    return Choices(**{name: getattr(side, name)[kept] for name in Choices.__dataclass_fields__})


def _against(side: Choices, wrong: Bools) -> Choices:
    return replace(side, log_weight=np.where(wrong, side.log_weight - AGAINST, side.log_weight))
