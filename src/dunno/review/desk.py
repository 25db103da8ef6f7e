"""What a reviewer sees: one question with its pictures, and how the review stands. Plain data; the page or napari draws it."""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import replace
from typing import Any

import numpy as np

from dunno.errors import DecisionError
from dunno.report.crops import Box
from dunno.review.decisions import Decision, in_words
from dunno.review.export import rate_of
from dunno.review.log import LoggedAnswer
from dunno.review.queue import Filter, Order, Question
from dunno.review.review import Review
from dunno.review.views import Views, choices

WORTH_ASKING = 0.1
"""Below this gain, ten answers mend less than one link."""


class Desk:
    """A review with its movie on the table, and the question that was asked last. Several people have a desk each."""

    def __init__(
        self,
        review: Review,
        views: Views | None = None,
        at: int | None = None,
        taken: Callable[[], Set[int]] = frozenset,
    ) -> None:
        self.review = review
        self.views = views or Views(review)
        self.order: Order = "gain"
        self.chosen = Filter()
        self.goal: float | None = None  # how many wrong links, expected, are few enough
        self._asked: Question | None = None
        self._plan: Question | None = None
        self._planned_for = 0.0
        self.at = at  # the row to show first, whatever would be asked
        self._taken = taken  # rows that others are looking at

    @property
    def asked(self) -> int | None:
        """The row of the question that was asked last."""
        return None if self._asked is None else self._asked.row

    def ask(self) -> dict[str, Any]:
        """The question to ask now with all that belongs to it, and the row that follows.

        A question stays until it has an answer. What follows it is chosen while the person still looks, so that it can be shown
        at once.
        """
        taken = self._taken()
        question = self._open_question()
        question = question or self.review.next(self.order, self.chosen, taken=taken, near=self.asked)
        self._asked = question
        self._plan = question and self.review.next(self.order, self.chosen, after=question, taken=taken)
        self._planned_for = 0.0 if self._plan is None else float(self.review.table.signature[self._plan.row])
        row, self.at = (None if question is None else question.row) if self.at is None else self.at, None
        return {
            "view": None if row is None else self.view(row),
            "ahead": [] if self._plan is None else [self._plan.row],
            "state": self.state(),
        }

    def _open_question(self) -> Question | None:
        """The question that was asked, if it has no answer yet; else the planned one, if nothing was said that concerns it."""
        unanswered = self.review.unanswered
        if self._asked is not None and unanswered[self._asked.row]:
            return self._asked
        plan = self._plan
        if plan is None or not unanswered[plan.row] or plan.row in self._taken():
            return None
        return plan if self.review.table.signature[plan.row] == self._planned_for else None

    def choose(self, order: Order, chosen: Filter) -> None:
        """Ask in another order, or about others; the region is given in pixels."""
        if chosen.region is not None:
            top, left, bottom, right = (np.array(chosen.region) * np.tile(self.review.movie.scale[-2:], 2)).tolist()
            chosen = replace(chosen, region=(top, left, bottom, right))
        self.review.queue.best(np.zeros(len(self.review.table), np.bool_), order)  # an unknown order is refused
        self.order, self.chosen = order, chosen
        self._asked = self._plan = None

    def answer(self, decision: Decision, who: str | None = None, seen: int | None = None) -> dict[str, Any]:
        """Take a decision, and say what followed from it; what others said of the cell since version `seen` is not overwritten."""
        review = self.review
        review.check_seen(decision, seen)
        before, links, errors = review.table.expected_wrong_links, review.table.links, review.table.error.copy()
        review.answer(decision, self._question_of(decision), who)
        self._redraw()
        now = review.table.error
        touched = int((np.abs(now[: len(errors)] - errors) > 0.01).sum()) + len(now) - len(errors)
        removed = before - review.table.expected_wrong_links
        return {
            "removed": removed,
            "touched": touched,
            "links": review.table.links - links,
            "near": review.near_row(decision),
            "pairs": review.changed,
        }

    def _redraw(self) -> None:
        """Masks may be others now."""
        if self.review.resolved is not None:
            self.views.scenes.drawn_anew()

    def _question_of(self, decision: Decision) -> Question | None:
        """The open question, if it is what the decision answers; otherwise the person chose the cell."""
        asked = self._asked
        if asked is None or not self.review.unanswered[asked.row]:
            return None
        return asked if ("daughter", asked.frame, asked.label) in decision.subjects else None

    def undo(self, who: str | None = None, seen: int | None = None) -> dict[str, Any]:
        """Take back the last answer and ask it again."""
        self.review.check_nothing_new(seen)
        return self._shown(self.review.undo(who))

    def redo(self, who: str | None = None, seen: int | None = None) -> dict[str, Any]:
        """Let the last undone answer stand again."""
        self.review.check_nothing_new(seen)
        return self._shown(self.review.redo(who))

    def _shown(self, answer: LoggedAnswer) -> dict[str, Any]:
        decision = answer.decision
        self._redraw()
        row = self.review.row_of(decision)
        if row is None or not self.review.table.open[row]:
            return {"view": None, "state": self.state()}
        self._plan = None
        self._asked = None
        if answer.question is not None:  # as it was asked the first time, with the same chance
            self._asked = Question(
                row, self.review.pair_of(decision), decision.frame, decision.label, **answer.question
            )
        return {"view": self.view(row), "state": self.state()}

    def most_doubtful(self, t: int) -> int | None:
        """The row of pair t to look at first; `None` where it has no daughter."""
        if not 0 <= t < self.review.table.n_pairs:
            raise DecisionError(f"there is no frame pair {t}")
        rows = self.review.table.rows(t)
        error = np.where(self.review.table.debris[rows], -1.0, self.review.table.error[rows])
        return None if not len(error) else int(rows[error.argmax()])

    def next_division(self, row: int) -> int | None:
        """The row of the next division: in the same frame, in a later one, or the first of all."""
        table = self.review.table
        rows = np.flatnonzero(table.division & table.open & ~table.debris)
        if not len(rows):
            return None
        order = rows[np.lexsort((rows, table.pair[rows]))]
        later = (table.pair[order] > table.pair[row]) | ((table.pair[order] == table.pair[row]) & (order > row))
        return int(order[np.flatnonzero(later)[0]] if later.any() else order[0])

    def view(self, row: int) -> dict[str, Any]:
        """Everything to show about one daughter, and whether it was asked about."""
        asked = self._asked if self._asked is not None and self._asked.row == row else None
        own = {"audit": asked is not None and asked.audit, "asked": asked is not None}
        view = self.views.view(row)
        return {**view, **own, "choices": choices(view), "version": self.review.version}

    def history(self, row: int) -> list[dict[str, Any]]:
        """The daughter and its ancestors as reported, the earliest first."""
        return self.views.history(row)

    def crop(self, t: int, box: Box) -> bytes:
        """A piece of a frame as PNG."""
        return self.views.scenes.crop(t, box)

    def decisions(self) -> list[dict[str, Any]]:
        """All that stands, the latest first, with the row to look at."""
        return [
            {
                "n": answer.n,
                "who": answer.who,
                "time": answer.time,
                "words": in_words(answer.decision),
                "row": self.review.near_row(answer.decision),
            }
            for answer in reversed(self.review.counting)
        ]

    def state(self) -> dict[str, Any]:
        """How the review stands."""
        review, table = self.review, self.review.table
        kinds = [answer.decision.kind for answer in review.counting]
        return {
            "movie": review.about.movie,
            "method": review.about.method,
            "cost": review.about.cost,
            "calibrated": review.calibrated,
            "verdict": review.about.verdict,
            "joint": review.has_problem,
            "expected": table.expected_wrong_links,
            "first_expected": review.first_expected,
            "links": table.links,
            "daughters": len(table),
            "answered": review.n_answered,
            "skipped": kinds.count("skip"),
            "statements": {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)},
            "repaired": review.resolved is not None,
            "can_undo": bool(review.standing),
            "can_redo": review.can_redo,
            "audit": rate_of(review.error_rate()),
            "advice": self._advice(),
            "over_time": [round(float(error), 4) for error in table.over_time()],
            "frames": table.daughter_frame.tolist(),
            "first_frame": int(table.mother_frame[0]),
            "order": self.order,
            "filter": vars(self.chosen),
            "version": review.version,
            "who": review.who,
        }

    def _advice(self) -> dict[str, Any]:
        """Whether to go on: what the next answer is worth, and how many reach the goal, or halve what is left, at most."""
        open_rows = self.review.unanswered & self.chosen.admits(self.review.table)
        best = self.review.queue.best(open_rows, "gain")
        worth = self.review.queue.gain(best[0]) if best else 0.0
        error = np.cumsum(np.sort(self.review.table.error[open_rows])[::-1])
        left = float(error[-1]) if len(error) else 0.0
        halving = int(np.searchsorted(error, left / 2)) + 1 if left > 0 else 0
        return {"gain": worth, "stop": worth < WORTH_ASKING, "halving": halving, **self._to_the_goal(error)}

    def _to_the_goal(self, error: np.ndarray) -> dict[str, Any]:
        """How many answers leave fewer wrong links than the goal, if each settles its own cell."""
        expected = self.review.table.expected_wrong_links
        goal = max(1.0, float(np.floor(self.review.first_expected / 4))) if self.goal is None else self.goal
        needed = int(np.searchsorted(error, expected - goal)) + 1 if expected > goal else 0
        return {"goal": goal, "to_goal": needed if needed <= len(error) else None}
