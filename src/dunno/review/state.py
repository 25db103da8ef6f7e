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
from dunno.lineage.tracks import LONGEST
from dunno.review import gain
from dunno.review.condition import Rules, condition
from dunno.review.constraints import index_of
from dunno.review.decisions import ABOUT_MOTHERS, MISSING, NO_CELL, ONE_CELL, TWO_CELLS, Decision, in_force
from dunno.review.far import Found
from dunno.review.log import Answer
from dunno.review.mask_blocks import MaskBlocks
from dunno.review.statements import concerns
from dunno.review.store import Recent, Store
from dunno.review.table import Table
from dunno.types import Bools, Ints, PairPosterior, RunInfo

FALSE = (NO_CELL, ONE_CELL)
KEPT_BLOCKS = 16
"""Blocks with decisions that are kept solved, where masks are judged: to solve one takes as long as to track it."""
Progress = Callable[[Iterator[PairPosterior], int], Iterator[PairPosterior]]


class State:
    """An output's pairs given the answers that stand.

    Attributes:
        table: A row for every daughter, up to date.
        answers: For every row with an answer, those that stand, the last one last.
    """

    def __init__(self, folder: Path, about: RunInfo, progress: Progress, blocks: MaskBlocks | None = None) -> None:
        keep_links = about.links is not None or not about.joint
        self._rules = Rules(no_mother=about.no_mother, keep_links=keep_links)
        self._store = Store(folder)
        self._blocks = blocks
        self._solved: Recent[PairPosterior] = Recent(8 if blocks is None else KEPT_BLOCKS * blocks.size)
        self._on_pair: dict[int, list[Decision]] = defaultdict(list)
        self.answers: dict[int, list[Answer]] = defaultdict(list)
        self.table = Table.of(progress(self._store.stream(), len(about.frames) - 1))

    def replay(self, answers: Iterable[Answer]) -> None:
        """Let answers stand, one after the other; each pair is solved once."""
        for answer in answers:
            self._keep(answer)
        for pairs in sorted({self._together(t) for t in self._on_pair}, key=lambda each: each.start):
            self._refresh(pairs)

    def add(self, answer: Answer, solved: dict[int, PairPosterior] | None = None) -> list[int]:
        """Let one more answer stand; `solved` are the pairs it changes, if they are known. Returns which they are."""
        before = {pairs: self._said(pairs) for pairs in self._touched(answer.decision)}
        self._keep(answer)
        return self._refresh_changed(before, solved)

    def remove(self, answer: Answer) -> list[int]:
        """Take back the answer that was added last; returns the pairs that change."""
        before = {pairs: self._said(pairs) for pairs in self._touched(answer.decision)}
        for t in self.pairs_of(answer.decision):
            self._on_pair[t].pop()
        row = self.row_of(answer.decision)
        if row is not None:
            self.answers[row].pop()
            if not self.answers[row]:
                del self.answers[row]
        return self._refresh_changed(before)

    def _refresh_changed(
        self, before: dict[range, list[Decision]], solved: dict[int, PairPosterior] | None = None
    ) -> list[int]:
        changed = [pairs for pairs, decisions in before.items() if self._said(pairs) != decisions]
        for pairs in changed:
            self._refresh(pairs, solved)
        return sorted(t for pairs in changed for t in pairs)

    def _together(self, t: int) -> range:
        """The pairs that are solved together with pair t: its block where masks are judged, else it alone."""
        if self._blocks is None or not self._blocks.opened():
            return range(t, t + 1)
        first = t - t % self._blocks.size
        return range(first, min(first + self._blocks.size, self.table.n_pairs))

    def _touched(self, decision: Decision) -> list[range]:
        return sorted({self._together(t) for t in self.pairs_of(decision)}, key=lambda each: each.start)

    def _keep(self, answer: Answer) -> None:
        for t in self.pairs_of(answer.decision):
            self._on_pair[t].append(answer.decision)
        row = self.row_of(answer.decision)
        if row is not None:
            self.answers[row].append(answer)

    def _refresh(self, pairs: range, solved: dict[int, PairPosterior] | None = None) -> None:
        for t in pairs:
            self._solved.drop(t)
        for t in pairs:
            if solved is not None and t in solved:
                self._solved.put(t, solved[t])
        for t in pairs:
            self.table.update(t, self.pair(t))

    def original(self, t: int) -> PairPosterior:
        """Pair t as it was tracked."""
        return self._store.get(t)

    def pair(self, t: int) -> PairPosterior:
        """Pair t given the answers."""
        pairs = self._together(t)
        said = self._said(pairs)
        if not said:
            return self._store.get(t)
        known = self._solved.get(t)
        if known is None:
            for each, solved in self._given(pairs, said).items():
                self._solved.put(each, solved)
            known = self._solved.get(t)
            assert known is not None
        return known

    def tried(self, decision: Decision) -> dict[int, PairPosterior]:
        """The pairs that change if a decision were added; `DecisionError` if it contradicts others."""
        self.check(decision)
        found: dict[int, PairPosterior] = {}
        on = self.pairs_of(decision)
        for pairs in self._touched(decision):
            said = self._said(pairs, decision, on)
            if said != self._said(pairs):
                found |= self._given(pairs, said)
        return found

    def _said(self, pairs: range, decision: Decision | None = None, on: Sequence[int] = ()) -> list[Decision]:
        """What counts on pairs that are solved together, with one more decision on some of them."""
        more = () if decision is None else (decision,)
        each = [self._in_force(t, *(more if t in on else ())) for t in pairs]
        return each[0] if len(each) == 1 else list(dict.fromkeys(chain(*each)))

    def _in_force(self, t: int, *more: Decision) -> list[Decision]:
        """What counts on pair t, edges across gaps included."""
        decisions = [*self._on_pair.get(t, []), *more]
        if not decisions:
            return []
        ends = int(self.table.mother_frame[t]), int(self.table.daughter_frame[t])
        return [each for each in in_force(decisions) if concerns(each, *ends) or each.is_false]

    def _given(self, pairs: range, decisions: list[Decision]) -> dict[int, PairPosterior]:
        if self._blocks is not None and self._blocks.opened():
            return self._blocks.solve(pairs, decisions, self._store.get, self.find)
        (t,) = pairs
        return {t: condition(self._store.get(t), decisions, self._rules, self.find)}

    def find(self, frame: int) -> Found:
        """A frame, with its cells."""
        t = self._place(self._frames, frame)
        if t is None:
            raise DecisionError(f"frame {frame} has no cells in this output")
        return Found(t, self._store.get(0).mothers if t == 0 else self._store.get(t - 1).daughters)

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
            if decision.kind not in (*ABOUT_MOTHERS, TWO_CELLS, *FALSE):
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
        last = min(t + LONGEST, self.table.n_pairs)
        found |= {later for later in range(t + 1, last) if self._leaves(decision, later)}
        return sorted(each for each in found if 0 <= each < self.table.n_pairs)

    def _before(self, decision: Decision) -> list[Decision]:
        """Earlier decisions on the same daughter."""
        row = self.row_of(decision)
        return [] if row is None else [answer.decision for answer in self.answers.get(row, [])]

    def _leaves(self, decision: Decision, t: int) -> bool:
        """Whether a decision is on a cell with edges across a gap into pair t."""
        gaps = self._store.get(t).gaps
        if gaps is None or not decision.about_daughter:
            return False
        return bool(((gaps.mother_frame == decision.frame) & (gaps.mother_label == decision.label)).any())

    def pair_of(self, decision: Decision) -> int:
        """The number of the frame pair that a decision is about."""
        as_daughter = decision.kind not in ABOUT_MOTHERS
        frames = self.table.daughter_frame if as_daughter else self.table.mother_frame
        t = self._place(frames, decision.frame)
        if t is not None:
            return t
        if decision.kind in (TWO_CELLS, MISSING, *FALSE) and decision.frame == self.table.mother_frame[0]:
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
    """The label of the mother that a daughter was given in the frame before, `None` where she has none there."""
    edge = np.flatnonzero(pair.selected & (pair.daughter == daughter))
    return int(pair.mothers.label[pair.mother[edge[0]]]) if len(edge) else None


def reported_mother(pair: PairPosterior, daughter: int) -> tuple[int, int] | None:
    """Frame and label of the mother that a daughter was given, `None` where she appears."""
    near = reported(pair, daughter)
    if near is not None:
        return pair.mother_frame, near
    if pair.gaps is None:
        return None
    far = np.flatnonzero(pair.gaps.selected & (pair.gaps.daughter == daughter))
    return (int(pair.gaps.mother_frame[far[0]]), int(pair.gaps.mother_label[far[0]])) if len(far) else None


def _number(value: float) -> float:
    return float(f"{value:.6g}")
