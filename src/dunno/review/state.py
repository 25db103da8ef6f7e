"""Original plus answers: what is believed now. Nothing else is kept anywhere."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dunno.errors import DecisionError, DunnoWarning
from dunno.io.block_files import n_blocks
from dunno.io.output import MASKS
from dunno.review import gain
from dunno.review.condition import Rules
from dunno.review.conditioning import ConditionedBlocks
from dunno.review.constraints import FrameCells, index_of
from dunno.review.daughters import Table
from dunno.review.decisions import (
    ABOUT_MASKS,
    ABOUT_MOTHERS,
    ALL_AS_GIVEN,
    AS_GIVEN,
    MISSING,
    ONE_CELL,
    RIGHT_TRACK,
    Decision,
)
from dunno.review.log import LoggedAnswer
from dunno.review.resolving import ResolvedBlocks
from dunno.review.store import Store
from dunno.types import Block, Bools, Detections, Floats, Ints, PairPosterior, RunInfo

Progress = Callable[[Iterator[Block], int], Iterator[Block]]


class ReportedLinks(NamedTuple):
    """Links that lead to the daughters of a pair: L of them."""

    t: Ints  # (L,) place of each mother's frame among the movie's
    mother: Ints  # (L,) its index there
    daughter: Ints  # (L,) the daughter's index in its frame
    probability: Floats  # (L,) of the link


class ReviewState:
    """An output's pairs given the answers that stand."""

    def __init__(self, folder: Path, about: RunInfo, progress: Progress, masks: str | Path | None = None) -> None:
        self._keep_links = about.links is not None or not about.joint
        self._store = Store(folder)
        # for every row with an answer, those that stand, the last one last
        self.answers: dict[int, list[LoggedAnswer]] = defaultdict(list)
        self.table = Table.of(progress(self._store.stream(), n_blocks(folder)))
        rules = Rules(no_mother=about.no_mother, keep_links=self._keep_links)
        repaired = (folder / MASKS).is_dir()
        self.resolved = ResolvedBlocks(self._store, self.table, folder, masks) if repaired else None
        self._solving = self.resolved or ConditionedBlocks(self._store, self.table, rules)

    # --- answers -----------------------------------------------------------------------------------

    def _replay(self, answers: Iterable[LoggedAnswer]) -> None:
        """Let answers stand, one after the other; pairs whose cells stay are taken down once.

        What an older version took and this one refuses stays in the log, and is warned of.
        """
        changed: set[int] = set()
        for answer in answers:
            self._keep(answer)
            try:
                pairs = self._solving.add(answer.decision.steps)
            except DecisionError as error:
                warnings.warn(f"line {answer.n} of the review has no effect: {error}", DunnoWarning, stacklevel=2)
                pairs = self._solving.add([])
            changed.update(pairs)
            for t in pairs if self.resolved else ():
                if not np.array_equal(self.table.label[self.table.rows(t)], self.pair(t).daughters.label):
                    self.table.update(t, self.pair(t))
        self._refresh(sorted(changed))

    def _add(self, answer: LoggedAnswer, found: Any = None) -> list[int]:
        """Let one more answer stand; `found` is what `tried` found. Returns the pairs that change."""
        self._keep(answer)
        return self._refresh(self._solving.add(answer.decision.steps, found))

    def _remove(self, answer: LoggedAnswer) -> list[int]:
        """Take back the answer that was added last; returns the pairs that change."""
        for row in self._rows_of(answer.decision):
            self.answers[row].pop()
            if not self.answers[row]:
                del self.answers[row]
        return self._refresh(self._solving.remove())

    def _tried(self, decision: Decision) -> Any:
        """What changes if a decision were added; `DecisionError` if it contradicts others."""
        self._check(decision)
        return self._solving.tried(decision.steps)

    def without_repairs(self) -> None:
        """See all masks as they were given; for an export, nothing is logged."""
        if self.resolved is not None:
            everything = Decision(ALL_AS_GIVEN, int(self.table.mother_frame[0]))
            self._refresh(self._solving.add(everything.steps))

    def _in_force(self, answers: Sequence[LoggedAnswer]) -> list[LoggedAnswer]:
        """The answers that nothing said later has taken the place of."""
        counting = self._solving.in_force(answer.decision for answer in answers)
        latest = {answer.decision: answer for answer in answers}
        return [latest[each] for each in counting]

    def _keep(self, answer: LoggedAnswer) -> None:
        for row in self._rows_of(answer.decision):
            self.answers[row].append(answer)

    def _rows_of(self, decision: Decision) -> list[int]:
        """The rows of the daughters that a decision answers for."""
        found = []
        for each in decision.steps:
            with suppress(DecisionError):
                found.append(self.row_of(each))
        return [row for row in found if row is not None]

    def _refresh(self, pairs: list[int]) -> list[int]:
        for t in pairs:
            self.table.update(t, self.pair(t))
        return pairs

    # --- what is believed --------------------------------------------------------------------------

    def original(self, t: int) -> PairPosterior:
        """Pair t as it was tracked."""
        return self._store.get(t)

    def pair(self, t: int) -> PairPosterior:
        """Pair t given the answers."""
        return self._solving.pair(t)

    def frame_cells(self, t: int) -> Detections:
        """The cells of the frame at place t, given the answers."""
        return self.pair(0).mothers if t == 0 else self.pair(t - 1).daughters

    def links_into(self, t: int) -> ReportedLinks:
        """The links that lead to the daughters of pair t given the answers, those across gaps last."""
        pair = self.pair(t)
        block, into = pair.block, pair.block.into(pair.t)
        link = into.start + np.flatnonzero(block.selected[into])
        mother, daughter = block.mother[link], block.daughter[link]
        places = t + 1 - pair.t + block.frame_of[mother], block.index_of(mother), block.index_of(daughter)
        return ReportedLinks(*places, block.probability[link])

    def link_into(self, t: int, daughter: int) -> tuple[int, int, float] | None:
        """The mother of pair t's daughter (its frame's place, its index there) and how sure the link is; `None` for none."""
        links = self.links_into(t)
        own = np.flatnonzero(links.daughter == daughter)[:1].tolist()
        return (int(links.t[own[0]]), int(links.mother[own[0]]), float(links.probability[own[0]])) if own else None

    @property
    def n_blocks(self) -> int:
        """How many blocks the movie is stored in."""
        return len(self._store.bounds)

    def blocks(self) -> Iterator[Block]:
        """The movie given the answers, in pieces of about the size in which it is stored."""
        return self._solving.blocks()

    def block(self, first: int, last: int) -> Block:
        """Some pairs in a row given the answers: from number `first` up to, but not including, `last`."""
        return self._solving.part(range(first, last))

    def find(self, frame: int) -> FrameCells:
        """A frame by its original index, with its cells."""
        t = self.table.place_of(frame)
        return FrameCells(t, self.frame_cells(t))

    def _check(self, decision: Decision) -> None:
        """Refuse a decision about what is not there."""
        cells = self.find(decision.frame).cells
        if decision.kind in (AS_GIVEN, ALL_AS_GIVEN):
            if self.resolved is None:
                raise DecisionError("the masks of this output are as they were given")
            if decision.kind == AS_GIVEN:
                self.resolved.given.row(self.table.place_of(decision.frame), decision.label)
        elif decision.kind == MISSING:
            if len(decision.place or ()) != cells.centroid.shape[1]:
                raise DecisionError(f"place is {decision.place}; expected {cells.centroid.shape[1]} numbers, in pixels")
        else:
            index_of(cells, decision.label)
            if decision.kind not in ABOUT_MASKS:
                self.pair_of(decision)
        if decision.other is not None:
            index_of(cells, decision.other)

    def _normalised(self, decision: Decision) -> Decision:
        """Of two pieces of one cell, the smaller one is no cell of its own."""
        if decision.kind != ONE_CELL or decision.other is None:
            return decision
        cells = self.find(decision.frame).cells
        one, other = index_of(cells, decision.label), index_of(cells, decision.other)
        if cells.area[one] <= cells.area[other]:
            return decision
        return replace(decision, label=decision.other, other=decision.label)

    @property
    def unanswered(self) -> Bools:
        """(N,) daughters who can be asked about, are not taken for debris, and have no answer that stands."""
        rows = self.table.open & ~self.table.debris
        rows[list(self.answers)] = False
        return rows

    def pair_of(self, decision: Decision) -> int:
        """The number of the frame pair that a decision is about."""
        t, as_daughter = self.table.place_of(decision.frame), decision.kind not in ABOUT_MOTHERS
        if 0 <= t - as_daughter < self.table.n_pairs:
            return t - as_daughter
        if decision.kind in (*ABOUT_MASKS, MISSING, ALL_AS_GIVEN, RIGHT_TRACK):
            return 0
        what = "a mother" if as_daughter else "a daughter"
        raise DecisionError(f"frame {decision.frame} has no cells of which {what} could be told")

    def row_of(self, decision: Decision) -> int | None:
        """The row of the daughter that a decision answers for; `None` where it answers for none."""
        t = self.table.place_of(decision.frame)
        if t == 0 or not decision.about_daughter:
            return None
        return self.table.row(t - 1, decision.label)

    def _gain(self, row: int) -> float:
        """What asking a daughter is expected to be worth."""
        if self._keep_links or not self.table.open[row]:
            return float(self.table.error[row])
        t = self.table.pair_of(row)
        rows = self.table.rows(t)
        members = np.flatnonzero(self.table.group[rows] == self.table.group[row])
        return gain.gain(self.pair(t), self.table.index(row), members)

    def _belief(self, decision: Decision) -> dict[str, Any]:
        """What is believed now about the cell of a decision, and what was reported when it was tracked."""
        if decision.kind in (MISSING, AS_GIVEN, ALL_AS_GIVEN):
            return {}
        if decision.kind == RIGHT_TRACK:
            links = ((each.mother_frame, each.mother) for each in decision.steps)
            others = zip(decision.steps, links, strict=True)
            return {"other": [[each.frame, each.label] for each, link in others if self._tracked(each) != link]}
        t = self.pair_of(decision)
        pair = self.pair(t)
        if decision.frame == pair.mother_frame:
            i = index_of(pair.mothers, decision.label)
            events = {"disappear": pair.log_disappear, "divide": pair.log_divide}
            return {name: None if log is None else _number(np.exp(log[i])) for name, log in events.items()}
        j = index_of(pair.daughters, decision.label)
        own = np.flatnonzero((pair.daughter == j) & (pair.log_probability > -np.inf))
        labels = pair.mothers.label[pair.mother[own]].tolist()
        tracked = self._tracked(decision)
        return {
            "mothers": dict(zip(map(str, labels), map(_number, pair.probability[own]), strict=True)),
            "no_mother": _number(np.exp(pair.log_no_mother[j])),
            "decision": reported(pair, j),
            "tracked": None if tracked is None else tracked[1],
            **({} if tracked is None or tracked[0] == pair.mother_frame else {"tracked_frame": tracked[0]}),
        }

    def _tracked(self, decision: Decision) -> tuple[int, int] | None:
        """Frame and label of the mother that a daughter had when it was tracked."""
        before = self.original(self.pair_of(decision))
        there = np.flatnonzero(before.daughters.label == decision.label)
        return reported_mother(before, int(there[0])) if len(there) else None


def reported(pair: PairPosterior, daughter: int) -> int | None:
    """The label of the mother that a daughter was given in the frame before, `None` where it has none there."""
    edge = np.flatnonzero(pair.selected & (pair.daughter == daughter))
    return int(pair.mothers.label[pair.mother[edge[0]]]) if len(edge) else None


def reported_mother(pair: PairPosterior, daughter: int) -> tuple[int, int] | None:
    """Frame and label of the mother that a daughter was given, `None` where it appears."""
    into, cells = pair.block.into(pair.t), pair.block.cells
    row = pair.daughter_rows.start + daughter
    link = np.flatnonzero(pair.block.selected[into] & (pair.block.daughter[into] == row))
    if not len(link):
        return None
    mother = pair.block.mother[into][link[0]]
    return int(cells.frame[mother]), int(cells.label[mother])


def _number(value: float) -> float:
    return float(f"{value:.6g}")
