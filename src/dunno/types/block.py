"""The one carrier of results: some frames in a row, their cells, the edges between them, and what is believed of both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from dunno.assignment import Problem, Triples
from dunno.types.arrays import Bools, Floats, Ints
from dunno.types.cells import Cells
from dunno.types.detections import Detections
from dunno.types.pairs import PairPosterior

AS_DAUGHTER = {
    "log_no_mother": np.nan,
    "entropy": np.nan,
    "log_together": 0.0,
    "appears_less": 0.0,
    "p_segment": np.nan,
    "p_cell": np.nan,
    "two": False,
    "reviewed": False,
}
"""Columns of cells that are known from the frames before, and what they hold where nothing is."""

AS_MOTHER = {"log_disappear": np.nan, "log_divide": np.nan, "border_share": np.nan, "disappears_less": 0.0}
"""Those that are known from the frames after."""

OF_EDGES = ("mother", "daughter", "gap", "cost", "log_probability", "selected")


@dataclass(frozen=True, eq=False)
class Edges:
    """The candidate edges of a block, a row each; the columns are those of `Block`."""

    mother: Ints
    daughter: Ints
    gap: Ints
    cost: Floats
    log_probability: Floats
    selected: Bools

    def __len__(self) -> int:
        return len(self.mother)

    def part(self, edges: slice, first_daughter: int = 0) -> Edges:
        """Some of the edges; their daughters count from a row."""
        columns = {name: getattr(self, name)[edges] for name in OF_EDGES}
        return Edges(**columns | {"daughter": columns["daughter"] - first_daughter})

    @property
    def probability(self) -> Floats:
        """(E,) P(mother | daughter)."""
        return np.exp(self.log_probability)


@dataclass(frozen=True, eq=False)
class Block:
    """Some frames in a row: N cells, E candidate edges, and what is believed of both.

    A block tells of the frames from its `first` one on; those before are there as ends of edges across gaps. Edges are in the order
    of their daughters' frames; into each frame, those from the frame before come first, by daughter, then by mother.

    Attributes:
        cells: A row per cell.
        first: Position of the frame from which on the block tells of cells.
        mother: (E,) row of each edge's mother.
        daughter: (E,) row of its daughter.
        gap: (E,) frames skipped between them, 0 for neighbours.
        cost: (E,) cost of each edge.
        log_probability: (E,) log P(mother | daughter).
        selected: (E,) whether the edge is a link.
        log_no_mother: (N,) log P(⊥): no mother in the frame before.
        entropy: (N,) of each daughter's distribution, in nats.
        log_together: (N,) log of how much likelier each daughter's link is given the one before it in its track.
        appears_less: (N,) by how much a cell's appearing costs less in a pair of frames than in all, for what gaps explain;
            `disappears_less` likewise.
        p_segment: (N,) how probably the region is one object; NaN where masks are trusted. `p_cell`: that the object is a cell,
            given that it is one. `two`: whether a person said that the mask holds two.
        reviewed: (N,) whether a person decided about the daughter.
        log_disappear: (N,) log probability of having no daughter; NaN where it is not known. `log_divide`: of having two.
        border_share: (N,) of being lost, the share of having left the field; NaN where no model knows.
        samples: (K, N) each daughter's edge, or -1, in assignments drawn from the posterior; K is 0 where none are kept.
        problem: All of it as one assignment problem, every cell as a mother against every cell as a daughter; `None` where the
            method has none.
        has_events: Whether the method knows of events: disappearing and dividing.
        is_reviewed: Whether a person looked at it.
    """

    cells: Cells
    first: int
    mother: Ints
    daughter: Ints
    gap: Ints
    cost: Floats
    log_probability: Floats
    selected: Bools
    log_no_mother: Floats
    entropy: Floats
    log_together: Floats
    appears_less: Floats
    p_segment: Floats
    p_cell: Floats
    two: Bools
    reviewed: Bools
    log_disappear: Floats
    log_divide: Floats
    border_share: Floats
    disappears_less: Floats
    samples: Ints
    problem: Problem | None = None
    has_events: bool = False
    is_reviewed: bool = False

    @classmethod
    def of(cls, cells: Cells, first: int = 0, **columns: Any) -> Block:
        """A block of some columns; what is not given is not known."""
        n = len(cells)
        unknown: dict[str, Any] = {name: np.full(n, value) for name, value in (AS_DAUGHTER | AS_MOTHER).items()}
        unknown |= {"samples": np.empty((0, n), np.int64), "gap": np.zeros(len(columns["mother"]), np.int64)}
        return cls(cells, first, **unknown | columns)

    @property
    def frames(self) -> Ints:
        """(T,) original index of each frame."""
        return self.cells.frames

    @property
    def begin(self) -> Ints:
        """(T + 1,) the first row of each frame, and the number of rows."""
        return self.cells.ends

    @cached_property
    def frame_of(self) -> Ints:
        """(N,) position of each row's frame."""
        return np.repeat(np.arange(len(self.frames)), np.diff(self.begin))

    def index_of(self, rows: Ints) -> Ints:
        """(K,) the places of some rows within their frames."""
        return np.asarray(rows - self.begin[self.frame_of[rows]])

    def rows(self, t: int) -> slice:
        """The rows of a frame."""
        return self.cells.rows(t)

    @cached_property
    def _edge_ends(self) -> tuple[list[int], list[int]]:
        """For each frame, the first edge into it and the first across a gap; with the number of edges at the end."""
        into = self.frame_of[self.daughter] * 2 + (self.gap > 0)
        ends = np.searchsorted(into, np.arange(2 * len(self.frames) + 1))
        return ends[::2].tolist(), ends[1::2].tolist()

    def near(self, t: int) -> slice:
        """The edges into a frame from the one before."""
        begin, far = self._edge_ends
        return slice(begin[t], far[t])

    def far(self, t: int) -> slice:
        """The edges into a frame across gaps."""
        begin, far = self._edge_ends
        return slice(far[t], begin[t + 1])

    def into(self, t: int) -> slice:
        """All edges into a frame."""
        begin, _ = self._edge_ends
        return slice(begin[t], begin[t + 1])

    @property
    def own(self) -> range:
        """Positions of the frames whose cells are daughters here."""
        return range(self.first + 1, len(self.frames))

    def pair(self, t: int) -> PairPosterior:
        """Frame t and the one before it."""
        return PairPosterior(self, t)

    def pairs(self) -> Iterator[PairPosterior]:
        """Each frame with the one before it."""
        return (self.pair(t) for t in self.own)

    @property
    def edges(self) -> Edges:
        """The candidate edges alone."""
        return Edges(*(getattr(self, name) for name in OF_EDGES))

    @cached_property
    def probability(self) -> Floats:
        """(E,) P(mother | daughter)."""
        return np.exp(self.log_probability)

    @cached_property
    def links(self) -> Ints:
        """(L,) which edges are links."""
        return self.selected.nonzero()[0]

    @cached_property
    def load(self) -> Ints:
        """(N,) how many links lead from each cell to others."""
        return np.bincount(self.mother[self.links], minlength=len(self.cells))

    @cached_property
    def incoming(self) -> Floats:
        """(N,) probability of the link that leads to each cell, NaN where none does."""
        found = np.full(len(self.cells), np.nan)
        found[self.daughter[self.links]] = np.exp(self.log_probability[self.links])
        return found

    @cached_property
    def p_appear(self) -> Floats:
        """(N,) probability that a cell appeared: that it has no mother in the frame before nor in an earlier one."""
        none = np.exp(self.log_no_mother)
        far = self.gap > 0
        if not far.any():
            return none
        earlier = np.bincount(self.daughter[far], self.probability[far], minlength=len(none))
        behind_gaps = np.isin(self.frame_of, self.frame_of[self.daughter[far]])
        return np.where(behind_gaps, np.clip(none - earlier, 0.0, 1.0), none)

    def after(self, before: Block) -> Block:
        """The same with what the block before knows of the cells that are daughters there and mothers here."""
        there, here = before.rows(len(before.frames) - 1), self.rows(self.first)
        columns = {}
        for name in AS_DAUGHTER:
            columns[name] = getattr(self, name).copy()
            columns[name][here] = getattr(before, name)[there]
        return replace(self, **columns)

    @classmethod
    def of_pair(
        cls,
        mothers: Detections,
        daughters: Detections,
        edges: tuple[Ints, Ints],
        *,
        of_mothers: Mapping[str, Floats] = MappingProxyType({}),
        of_daughters: Mapping[str, Any] = MappingProxyType({}),
        problem: Problem | None = None,
        **columns: Any,
    ) -> Block:
        """Two frames.

        Edges (index of mother, of daughter) are sorted by daughter, then by mother; `has_events` follows from `of_mothers`.
        """
        m, n = len(mothers), len(daughters)
        mother, daughter = edges[0], edges[1] + m
        known: dict[str, Any] = {
            name: np.concatenate([np.full(m, AS_DAUGHTER[name]), values]) for name, values in of_daughters.items()
        }
        known |= {name: np.concatenate([values, np.full(n, AS_MOTHER[name])]) for name, values in of_mothers.items()}
        if problem is not None:
            known["problem"] = problem.with_ends(mother, daughter, m + n)
        cells = Cells.of([mothers.without_pixels(), daughters.without_pixels()])
        return cls.of(cells, mother=mother, daughter=daughter, **columns, **known, has_events=bool(of_mothers))

    @classmethod
    def joined(cls, blocks: Sequence[Block]) -> Block:
        """Blocks that follow each other as one."""
        if len(blocks) == 1:
            return blocks[0]
        start = [0, *(int(each.begin[each.first]) for each in blocks[1:])]  # the first row that a block adds as mothers
        late = [0, *(int(each.begin[each.first + 1]) for each in blocks[1:])]  # and as daughters
        end = [*(int(each.begin[-2]) for each in blocks[:-1]), len(blocks[-1].cells)]
        offset = np.cumsum([0, *(e - s for s, e in zip(start, end, strict=True))])
        shift = [int(off) - s for off, s in zip(offset, start, strict=False)]
        n = int(offset[-1])
        columns: dict[str, Any] = {name: np.concatenate([getattr(b, name) for b in blocks]) for name in OF_EDGES}
        for name in ("mother", "daughter"):
            columns[name] = np.concatenate([getattr(b, name) + by for b, by in zip(blocks, shift, strict=True)])
        for name in AS_DAUGHTER:
            columns[name] = np.concatenate([getattr(b, name)[s:] for b, s in zip(blocks, late, strict=True)])
        for name in AS_MOTHER:
            columns[name] = np.concatenate([getattr(b, name)[s:e] for b, s, e in zip(blocks, start, end, strict=True)])
        kept = [blocks[0].cells, *(each.cells.part(each.first + 1) for each in blocks[1:])]
        return cls(
            Cells.joined(kept),
            blocks[0].first,
            **columns,
            samples=_joined_samples(blocks, late, n),
            problem=_joined_problem(blocks, shift, n),
            has_events=all(each.has_events for each in blocks),
            is_reviewed=any(each.is_reviewed for each in blocks),
        )

    def part(self, start: int, stop: int | None = None) -> Block:
        """Some of its pairs, with the frames before that their edges lead from."""
        own = self.own[start:stop]
        edges = slice(self.into(own[0]).start, self.into(own[-1]).stop)
        first = min([own[0] - 1, *self.frame_of[self.mother[edges]].tolist()])
        rows = slice(int(self.begin[first]), int(self.begin[own[-1] + 1]))
        columns: dict[str, Any] = {name: getattr(self, name)[edges] for name in OF_EDGES}
        columns |= {name: columns[name] - rows.start for name in ("mother", "daughter")}
        columns |= {name: getattr(self, name)[rows] for name in AS_DAUGHTER | AS_MOTHER}
        samples = self.samples[:, rows]
        return replace(
            self,
            cells=self.cells.part(first, own[-1] + 1),
            first=own[0] - 1 - first,
            **columns,
            samples=np.where(samples >= 0, samples - edges.start, -1),
            problem=None if self.problem is None else self.problem.part(edges, rows),
        )._without_beginning()

    def _without_beginning(self) -> Block:
        """The same where nothing is known of cells as daughters in frames that the block does not tell of."""
        unknown = int(self.begin[self.first + 1])
        columns = {name: getattr(self, name).copy() for name in ("log_no_mother", "entropy", "log_together")}
        for name, values in columns.items():
            values[:unknown] = AS_DAUGHTER[name]
        return replace(self, **columns)

    def only(self, kept: Bools) -> Block:
        """The same with some of its cells, and the edges between them; it has no problem any more."""
        edges = np.flatnonzero(kept[self.mother] & kept[self.daughter])
        number = np.cumsum(kept) - 1
        columns: dict[str, Any] = {name: getattr(self, name)[edges] for name in OF_EDGES}
        columns |= {name: getattr(self, name)[kept] for name in AS_DAUGHTER | AS_MOTHER}
        columns |= {name: number[columns[name]] for name in ("mother", "daughter")}
        samples = np.empty((0, int(kept.sum())), np.int64)
        return replace(self, cells=self.cells.only(kept), **columns, samples=samples, problem=None)


def _joined_samples(blocks: Sequence[Block], late: Sequence[int], n: int) -> Ints:
    if any(not len(each.samples) for each in blocks):
        return np.empty((0, n), np.int64)
    first_edge = np.cumsum([0, *(len(each.mother) for each in blocks)])
    parts = [each.samples[:, row:] for each, row in zip(blocks, late, strict=True)]
    return np.concatenate(
        [np.where(part >= 0, part + k, -1) for part, k in zip(parts, first_edge, strict=False)], axis=1
    )


def _joined_problem(blocks: Sequence[Block], shift: Sequence[int], n: int) -> Problem | None:
    """The problems of all blocks as one."""
    problems = [each.problem for each in blocks if each.problem is not None]
    if len(problems) < len(blocks):
        return None
    appear, disappear, divide = (np.zeros(n) for _ in range(3))
    for each, problem, by in zip(blocks, problems, shift, strict=True):
        daughters = slice(int(each.begin[each.first + 1]), len(each.cells))
        mothers = slice(int(each.begin[each.first]), int(each.begin[-2]))
        appear[daughters.start + by : daughters.stop + by] = problem.appear[daughters]
        disappear[mothers.start + by : mothers.stop + by] = problem.disappear[mothers]
        divide[mothers.start + by : mothers.stop + by] = problem.divide[mothers]
    mother, daughter = (
        np.concatenate([getattr(problem, name) + by for problem, by in zip(problems, shift, strict=True)])
        for name in ("mother", "daughter")
    )
    costs = [each.dividing_cost for each in problems if each.dividing_cost is not None]
    dividing = np.concatenate(costs) if len(costs) == len(problems) else None
    first_edge = np.cumsum([0, *(len(each.cost) for each in problems)])
    listed = [(each.triples, int(first)) for each, first in zip(problems, first_edge, strict=False)]
    parts = [(t.first_edge + first, t.second_edge + first, t.cost) for t, first in listed if t is not None]
    triples = Triples(*(np.concatenate(part) for part in zip(*parts, strict=True))) if parts else None
    cost = np.concatenate([each.cost for each in problems])
    return Problem.of_parts(mother, daughter, cost, n, n, appear, disappear, divide, dividing, triples)
