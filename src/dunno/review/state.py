"""Original plus answers: what is believed now. Nothing else is kept anywhere."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dunno.errors import DecisionError
from dunno.review import gain
from dunno.review.condition import Rules, condition
from dunno.review.constraints import index_of
from dunno.review.decisions import Decision, in_force
from dunno.review.log import Answer
from dunno.review.store import Recent, Store
from dunno.review.table import Table
from dunno.types import Bools, PairPosterior

Progress = Callable[[Iterator[PairPosterior], int], Iterator[PairPosterior]]


class State:
    """An output's pairs given the answers that stand.

    Attributes:
        table: A row for every daughter, up to date.
        answers: For every row with an answer, those that stand, the last one last.
    """

    def __init__(self, folder: Path, about: dict[str, Any], progress: Progress) -> None:
        keep_links = about["links"] is not None or not about["joint"]
        self._rules = Rules(no_mother=bool(about["no_mother"]), keep_links=keep_links)
        self._store = Store(folder)
        self._solved: Recent[PairPosterior] = Recent(8)
        self._on_pair: dict[int, list[Decision]] = defaultdict(list)
        self.answers: dict[int, list[Answer]] = defaultdict(list)
        self.table = Table.of(progress(self._store.stream(), len(about["frames"]) - 1))

    def replay(self, answers: Iterable[Answer]) -> None:
        """Let answers stand, one after the other; each pair is solved once."""
        for answer in answers:
            self._keep(answer)
        for t in sorted(self._on_pair):
            self._refresh(t)

    def add(self, answer: Answer, solved: PairPosterior | None = None) -> None:
        """Let one more answer stand; `solved` is its pair given all of them, if that is known."""
        self._keep(answer)
        self._refresh(self.pair_of(answer.decision), solved)

    def remove(self, answer: Answer) -> None:
        """Take back the answer that was added last."""
        t = self.pair_of(answer.decision)
        self._on_pair[t].pop()
        if answer.decision.about_daughter:
            row = self.row_of(answer.decision)
            self.answers[row].pop()
            if not self.answers[row]:
                del self.answers[row]
        self._refresh(t)

    def _keep(self, answer: Answer) -> None:
        self._on_pair[self.pair_of(answer.decision)].append(answer.decision)
        if answer.decision.about_daughter:
            self.answers[self.row_of(answer.decision)].append(answer)

    def _refresh(self, t: int, solved: PairPosterior | None = None) -> None:
        self._solved.drop(t)
        if solved is not None:
            self._solved.put(t, solved)
        self.table.update(t, self.pair(t))

    def original(self, t: int) -> PairPosterior:
        """Pair t as it was tracked."""
        return self._store.get(t)

    def pair(self, t: int) -> PairPosterior:
        """Pair t given the answers."""
        if not self._on_pair.get(t):
            return self._store.get(t)
        return self._solved.get(t) or self._solved.put(t, self._given(t, self._on_pair[t]))

    def tried(self, decision: Decision) -> PairPosterior:
        """Its pair if a decision were added; `DecisionError` if that contradicts others."""
        t = self.pair_of(decision)
        return self._given(t, [*self._on_pair.get(t, []), decision])

    def _given(self, t: int, decisions: list[Decision]) -> PairPosterior:
        return condition(self._store.get(t), in_force(decisions), self._rules)

    @property
    def unanswered(self) -> Bools:
        """(N,) daughters who can be asked about and have no answer that stands."""
        rows = self.table.open.copy()
        rows[list(self.answers)] = False
        return rows

    def pair_of(self, decision: Decision) -> int:
        """The number of the frame pair that a decision is about."""
        frames = self.table.daughter_frame if decision.about_daughter else self.table.mother_frame
        t = int(np.searchsorted(frames, decision.frame))
        if t == len(frames) or frames[t] != decision.frame:
            what = "a mother" if decision.about_daughter else "a daughter"
            raise DecisionError(f"frame {decision.frame} has no cells of which {what} could be told")
        return t

    def row_of(self, decision: Decision) -> int:
        """The row of the daughter that a decision is about."""
        rows = self.table.rows(self.pair_of(decision))
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
        t = self.pair_of(decision)
        pair = self.pair(t)
        if not decision.about_daughter:
            i = index_of(pair.mothers, decision.label)
            events = {"disappear": pair.log_disappear, "divide": pair.log_divide}
            return {name: None if log is None else _number(np.exp(log[i])) for name, log in events.items()}
        j = index_of(pair.daughters, decision.label)
        own = np.flatnonzero((pair.daughter == j) & (pair.log_probability > -np.inf))
        labels = pair.mothers.label[pair.mother[own]].tolist()
        return {
            "mothers": dict(zip(map(str, labels), map(_number, pair.probability[own]), strict=True)),
            "no_mother": _number(np.exp(pair.log_no_mother[j])),
            "decision": reported(pair, j),
            "tracked": reported(self.original(t), j),
        }


def reported(pair: PairPosterior, daughter: int) -> int | None:
    """The label of the mother that a daughter was given, `None` where she appears."""
    edge = np.flatnonzero(pair.selected & (pair.daughter == daughter))
    return int(pair.mothers.label[pair.mother[edge[0]]]) if len(edge) else None


def _number(value: float) -> float:
    return float(f"{value:.6g}")
