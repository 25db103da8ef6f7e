"""Which question comes next, and what the answers to those drawn at random say about the tracking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dunno.review.audit import Audit, ErrorRate
from dunno.review.daughters import Table
from dunno.review.decisions import MOTHER, RIGHT_TRACK, SKIP
from dunno.review.log import LoggedAnswer
from dunno.review.question import Question
from dunno.review.queue import Filter, Order, Queue
from dunno.types import Bools


@dataclass(frozen=True, eq=False)
class Asker:
    """Chooses between the queue's best and the audit's next."""

    table: Table
    queue: Queue
    audit: Audit

    def next(
        self, unanswered: Bools, number: int, order: Order, chosen: Filter, after: Question | None, near: int | None
    ) -> Question | None:
        """The question to ask now; `None` where there is none left.

        Args:
            unanswered: (N,) whom nobody has answered for; is changed.
            number: How many questions were answered.
            order: What comes first.
            chosen: Which daughters are asked about; the audit asks about anybody.
            after: The question before, whose answer is not known yet.
            near: The row that was answered last.
        """
        eligible = unanswered & chosen.admits(self.table)
        if after is not None:
            number += 1
            unanswered[after.row] = False
            rows = self.table.rows(after.pair)
            eligible[rows] &= self.table.group[rows] != self.table.group[after.row]
        best = self.queue.best_near(eligible, order, after.row if after is not None else near)
        if not best:
            return None
        row = self.audit.next(unanswered) if self.audit.is_due(number) else None
        return self._question(best[0] if row is None else row, best[0], row is not None, unanswered)

    def _question(self, row: int, best: int, audit: bool, unanswered: Bools) -> Question:
        left = int(unanswered.sum())
        chance = self.audit.share / left + (1 - self.audit.share) * (row == best)
        t = self.table.pair_of(row)
        frame = int(self.table.daughter_frame[t])
        return Question(row, t, frame, int(self.table.label[row]), audit, chance, left)


def error_rate(audit: Audit, answers: Mapping[int, Sequence[LoggedAnswer]], table: Table) -> ErrorRate:
    """How often the tracker was wrong, from the answers by row."""
    asked = {row for row, given in answers.items() if any(a.question and a.question["audit"] for a in given)}
    return audit.rate(asked, {row: was_wrong(given[-1], table.cell(row)) for row, given in answers.items()})


def was_wrong(answer: LoggedAnswer, cell: tuple[int, int] | None = None) -> bool | None:
    """Whether the tracking had another decision on a cell than the person; `None` where the person could not say.

    Of what is said of a whole track, `cell` is the one that counts.
    """
    decision, before = answer.decision, answer.before
    if decision.kind == SKIP:
        return None
    if decision.kind == RIGHT_TRACK:
        return list(cell or (decision.frame, decision.label)) in before["other"]
    said = (decision.mother, decision.mother_frame) if decision.kind == MOTHER else (None, None)
    return bool((before["tracked"], before.get("tracked_frame")) != said)
