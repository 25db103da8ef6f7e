"""Original plus answers: what is believed now. Nothing else is kept anywhere."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from dunno.errors import DecisionError
from dunno.io.block_files import n_blocks
from dunno.review import gain
from dunno.review.condition import Rules, condition
from dunno.review.constraints import FrameCells, index_of
from dunno.review.daughters import Table
from dunno.review.decisions import ABOUT_MOTHERS, MISSING, NO_CELL, ONE_CELL, TWO_CELLS, Decision, in_force
from dunno.review.log import LoggedAnswer
from dunno.review.statements import concerns
from dunno.review.store import Recent, Store
from dunno.types import Block, Bools, Ints, PairPosterior, RunInfo

MASK_STATEMENTS = (NO_CELL, ONE_CELL)
KEPT_BLOCKS = 16
"""Blocks with decisions that are kept solved: to solve one takes as long as to track it."""
Progress = Callable[[Iterator[Block], int], Iterator[Block]]


class ReviewState:
    """An output's pairs given the answers that stand.

    Attributes:
        table: A row for every daughter, up to date.
        answers: For every row with an answer, those that stand, the last one last.
    """

    def __init__(self, folder: Path, about: RunInfo, progress: Progress) -> None:
        keep_links = about.links is not None or not about.joint
        self._rules = Rules(no_mother=about.no_mother, keep_links=keep_links)
        self._store = Store(folder)
        self._solved: Recent[Block] = Recent(KEPT_BLOCKS)
        self._on_pair: dict[int, list[Decision]] = defaultdict(list)
        self.answers: dict[int, list[LoggedAnswer]] = defaultdict(list)
        self.table = Table.of(progress(self._store.stream(), n_blocks(folder)))

    def replay(self, answers: Iterable[LoggedAnswer]) -> None:
        """Let answers stand, one after the other; each block is solved once."""
        for answer in answers:
            self._keep(answer)
        for pairs in self._groups(self._on_pair):
            self._refresh(pairs)

    def add(self, answer: LoggedAnswer, solved: dict[range, Block] | None = None) -> list[int]:
        """Let one more answer stand; `solved` are the pairs it changes, if they are known. Returns which they are."""
        on = self.pairs_of(answer.decision)
        before = self._statements_by_block(on)
        self._keep(answer)
        return self._refresh_changed(on, before, solved or {})

    def remove(self, answer: LoggedAnswer) -> list[int]:
        """Take back the answer that was added last; returns the pairs that change."""
        on = self.pairs_of(answer.decision)
        before = self._statements_by_block(on)
        groups = self._groups(on)
        for t in on:
            self._on_pair[t].pop()
        row = self.row_of(answer.decision)
        if row is not None:
            self.answers[row].pop()
            if not self.answers[row]:
                del self.answers[row]
        return self._refresh_changed([t for pairs in groups for t in pairs], before, {})

    def _statements_by_block(self, on: Iterable[int]) -> dict[range, list[Decision]]:
        return {pairs: self._statements_on(pairs) for pairs in self._groups(on)}

    def _refresh_changed(
        self, on: Iterable[int], before: dict[range, list[Decision]], solved: dict[range, Block]
    ) -> list[int]:
        """Take down anew what is solved together now and was not, or under other decisions."""
        changed = [pairs for pairs, said in self._statements_by_block(on).items() if before.get(pairs) != said]
        for pairs in before:
            self._solved.drop(pairs.start)
        for pairs in changed:
            self._solved.drop(pairs.start)
            if pairs in solved:
                self._solved.put(pairs.start, solved[pairs])
        for pairs in changed:
            self._refresh(pairs)
        return sorted(t for pairs in changed for t in pairs)

    def _groups(self, on: Iterable[int], *more: Decision) -> list[range]:
        """The runs of pairs that are solved together and hold some of the pairs."""
        return sorted({self._together(t, *more) for t in on}, key=lambda each: each.start)

    def _together(self, t: int, *more: Decision) -> range:
        """The pairs that are solved together with pair t: those that edges across gaps tie to it, decided ones among them."""
        found = self._store.tied(t)
        while True:
            said = [*more, *(each for k in found for each in self._on_pair.get(k, ()))]
            far = [self._span(each) for each in said if each.mother_frame is not None]
            reached = [span for span in far if span.start < found.stop and found.start < span.stop]
            ends = [self._store.tied(k) for span in reached for k in (span.start, span.stop - 1)]
            wider = range(min(e.start for e in [found, *ends]), max(e.stop for e in [found, *ends]))
            if wider == found:
                return found
            found = wider

    def _span(self, decision: Decision) -> range:
        """The pairs between the mother's frame and the daughter's."""
        return range(self.find(decision.mother_frame or 0).t, self.find(decision.frame).t)

    def _keep(self, answer: LoggedAnswer) -> None:
        for t in self.pairs_of(answer.decision):
            self._on_pair[t].append(answer.decision)
        row = self.row_of(answer.decision)
        if row is not None:
            self.answers[row].append(answer)

    def _refresh(self, pairs: range) -> None:
        for t in pairs:
            self.table.update(t, self.pair(t))

    def original(self, t: int) -> PairPosterior:
        """Pair t as it was tracked."""
        return self._store.get(t)

    def pair(self, t: int) -> PairPosterior:
        """Pair t given the answers."""
        pairs = self._together(t)
        block = self._given(pairs)
        return self._store.get(t) if block is None else block.pair(block.own[t - pairs.start])

    @property
    def n_blocks(self) -> int:
        """In how many blocks the movie is stored."""
        return len(self._store.bounds)

    def blocks(self) -> Iterator[Block]:
        """The movie given the answers, in pieces of about the size in which it is stored."""
        stored, t = self._store.bounds, 0
        while t < self.table.n_pairs:
            parts, end = [], next(each.stop for each in stored if t in each)
            while t < end:
                pairs = self._together(t)
                given = self._given(pairs)
                if given is None:
                    stop = next((k for k in range(t, end) if self._given(self._together(k)) is not None), end)
                    pairs, given = range(t, stop), self._store.block(range(t, stop))
                parts.append(given)
                t = pairs.stop
            yield Block.joined(parts)

    def part(self, pairs: range) -> Block:
        """Some pairs in a row, given the answers."""
        whole = [self._together(t) for t in pairs]
        groups = [group for k, group in enumerate(whole) if not k or group != whole[k - 1]]
        blocks = [self._given(group) or self._store.block(group) for group in groups]
        begin = groups[0].start
        return Block.joined(blocks).part(pairs.start - begin, pairs.stop - begin)

    def _given(self, pairs: range) -> Block | None:
        """Pairs that are solved together, given the answers; `None` where there are none."""
        if not (said := self._statements_on(pairs)):
            return None
        return self._solved.get(pairs.start) or self._solved.put(pairs.start, self._solve(pairs, said))

    def _solve(self, pairs: range, decisions: list[Decision]) -> Block:
        return condition(self._store.block(pairs), decisions, self._rules)

    def tried(self, decision: Decision) -> dict[range, Block]:
        """What changes if a decision were added; `DecisionError` if it contradicts others."""
        self.check(decision)
        on = self.pairs_of(decision)
        found: dict[range, Block] = {}
        for pairs in self._groups(on, decision):
            said = self._statements_on(pairs, decision, on)
            if said != self._statements_on(pairs):
                found[pairs] = self._solve(pairs, said)
        return found

    def _statements_on(self, pairs: range, decision: Decision | None = None, on: Sequence[int] = ()) -> list[Decision]:
        """What counts on pairs that are solved together, with one more decision on some of them."""
        more = () if decision is None else (decision,)
        each = [self._in_force(t, *(more if t in on else ())) for t in pairs]
        return each[0] if len(each) == 1 else list(dict.fromkeys(chain(*each)))

    def _in_force(self, t: int, *more: Decision) -> list[Decision]:
        """What counts on pair t."""
        decisions = [*self._on_pair.get(t, []), *more]
        if not decisions:
            return []
        ends = int(self.table.mother_frame[t]), int(self.table.daughter_frame[t])
        return [each for each in in_force(decisions) if concerns(each, *ends)]

    def find(self, frame: int) -> FrameCells:
        """A frame, with its cells."""
        t = self._place(self._frames, frame)
        if t is None:
            raise DecisionError(f"frame {frame} has no cells in this output")
        return FrameCells(t, self._store.get(0).mothers if t == 0 else self._store.get(t - 1).daughters)

    @property
    def _frames(self) -> Ints:
        return np.concatenate([self.table.mother_frame[:1], self.table.daughter_frame])

    @staticmethod
    def _place(frames: Ints, frame: int) -> int | None:
        t = int(np.searchsorted(frames, frame))
        return t if t < len(frames) and frames[t] == frame else None

    def check(self, decision: Decision) -> None:
        """Refuse a decision about what is not there."""
        cells = self.find(decision.frame).cells
        if decision.kind == MISSING:
            if len(decision.place or ()) != cells.centroid.shape[1]:
                raise DecisionError(f"place is {decision.place}; expected {cells.centroid.shape[1]} numbers, in pixels")
        else:
            index_of(cells, decision.label)
            if decision.kind not in (*ABOUT_MOTHERS, TWO_CELLS, *MASK_STATEMENTS):
                self.pair_of(decision)
        if decision.kind in ABOUT_MOTHERS:
            self.pair_of(decision)
        if decision.other is not None:
            index_of(cells, decision.other)

    def normalised(self, decision: Decision) -> Decision:
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
        """(N,) daughters who can be asked about and have no answer that stands."""
        rows = self.table.open.copy()
        rows[list(self.answers)] = False
        return rows

    def pairs_of(self, decision: Decision) -> list[int]:
        """The frame pairs on which a decision, or what it takes the place of, has a say."""
        t = self.find(decision.frame).t  # as a mother it is of pair t, as a daughter of pair t - 1
        found = {t - 1, t}
        if decision.mother_frame is not None:
            found.add(self.find(decision.mother_frame).t)
        for earlier in self._before(decision):
            if earlier.mother_frame is not None:
                found.add(self.find(earlier.mother_frame).t)
        return sorted(each for each in found if 0 <= each < self.table.n_pairs)

    def _before(self, decision: Decision) -> list[Decision]:
        """Earlier decisions on the same daughter."""
        row = self.row_of(decision)
        return [] if row is None else [answer.decision for answer in self.answers.get(row, [])]

    def pair_of(self, decision: Decision) -> int:
        """The number of the frame pair that a decision is about."""
        as_daughter = decision.kind not in ABOUT_MOTHERS
        frames = self.table.daughter_frame if as_daughter else self.table.mother_frame
        t = self._place(frames, decision.frame)
        if t is not None:
            return t
        if decision.kind in (TWO_CELLS, MISSING, *MASK_STATEMENTS) and decision.frame == self.table.mother_frame[0]:
            return 0
        what = "a mother" if as_daughter else "a daughter"
        raise DecisionError(f"frame {decision.frame} has no cells of which {what} could be told")

    def row_of(self, decision: Decision) -> int | None:
        """The row of the daughter that a decision answers for; `None` where it answers for none."""
        t = self._place(self.table.daughter_frame, decision.frame)
        if t is None or not decision.about_daughter:
            return None
        rows = self.table.rows(t)
        return int(rows.start) + int(np.searchsorted(self.table.label[rows], decision.label))

    def gain(self, row: int) -> float:
        """What asking a daughter is expected to be worth."""
        if self._rules.keep_links:
            return float(self.table.error[row])
        t = self.table.pair_of(row)
        rows = self.table.rows(t)
        members = np.flatnonzero(self.table.group[rows] == self.table.group[row])
        return gain.gain(self.pair(t), row - rows.start, members)

    def belief(self, decision: Decision) -> dict[str, Any]:
        """What is believed now about the cell of a decision, and what was reported when it was tracked."""
        if decision.kind == MISSING:
            return {}
        t = self.pair_of(decision)
        pair = self.pair(t)
        if decision.frame == pair.mother_frame:
            i = index_of(pair.mothers, decision.label)
            events = {"disappear": pair.log_disappear, "divide": pair.log_divide}
            return {name: None if log is None else _number(np.exp(log[i])) for name, log in events.items()}
        j = index_of(pair.daughters, decision.label)
        own = np.flatnonzero((pair.daughter == j) & (pair.log_probability > -np.inf))
        labels = pair.mothers.label[pair.mother[own]].tolist()
        tracked = reported_mother(self.original(t), j)
        return {
            "mothers": dict(zip(map(str, labels), map(_number, pair.probability[own]), strict=True)),
            "no_mother": _number(np.exp(pair.log_no_mother[j])),
            "decision": reported(pair, j),
            "tracked": None if tracked is None else tracked[1],
            **({} if tracked is None or tracked[0] == pair.mother_frame else {"tracked_frame": tracked[0]}),
        }


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
