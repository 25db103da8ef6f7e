"""What a reviewer sees: one question with its pictures, and how the review stands. Plain data; the page draws it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dunno.errors import DecisionError
from dunno.report.crops import Box
from dunno.review.decisions import Decision
from dunno.review.export import rate_of
from dunno.review.log import Answer
from dunno.review.queue import Filter, Order
from dunno.review.review import Question, Review
from dunno.review.scenes import Scenes
from dunno.review.state import reported
from dunno.types import PairPosterior

SHOWN = 9
"""Candidate mothers that get a number."""
SHOWN_LEAST = 0.001
HISTORY = 8
WORTH_ASKING = 0.1
"""Below this gain, ten answers mend less than one link."""


@dataclass(frozen=True)
class Sight:
    """A daughter and her pair."""

    row: int
    t: int
    daughter: int
    pair: PairPosterior


class Desk:
    """A review with its movie on the table, and the question that was asked last."""

    def __init__(self, review: Review) -> None:
        self.review = review
        self.order: Order = "gain"
        self.chosen = Filter()
        self._asked: Question | None = None
        self._plan: Question | None = None
        self._planned_for = 0.0
        self._scenes = Scenes(review.movie)

    def ask(self) -> dict[str, Any]:
        """The question to ask now with all that belongs to it, and the row that follows.

        A question stays until it has an answer. What follows it is chosen while the person still looks, so that it can be shown
        at once.
        """
        question = self._open_question() or self.review.next(self.order, self.chosen)
        self._asked = question
        self._plan = question and self.review.next(self.order, self.chosen, after=question)
        self._planned_for = 0.0 if self._plan is None else float(self.review.table.signature[self._plan.row])
        return {
            "view": None if question is None else self.view(question.row),
            "ahead": [] if self._plan is None else [self._plan.row],
            "state": self.state(),
        }

    def _open_question(self) -> Question | None:
        """The question that was asked, if it has no answer yet; else the planned one, if nothing was said that concerns it."""
        unanswered = self.review.unanswered
        if self._asked is not None and unanswered[self._asked.row]:
            return self._asked
        plan = self._plan
        if plan is None or not unanswered[plan.row]:
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

    def answer(self, decision: Decision) -> dict[str, Any]:
        """Take a decision, and say what followed from it."""
        review = self.review
        before, links = review.table.expected_wrong_links, review.table.linked.sum()
        t = review.pair_of(decision)
        errors = review.table.error[review.table.rows(t)].copy()
        review.answer(decision, self._question_of(decision))
        change = np.abs(review.table.error[review.table.rows(t)] - errors) > 0.01
        removed = before - review.table.expected_wrong_links
        return {"removed": removed, "touched": int(change.sum()), "links": int(review.table.linked.sum() - links)}

    def _question_of(self, decision: Decision) -> Question | None:
        """The open question, if it is what the decision answers; otherwise the person chose the cell."""
        asked = self._asked
        if asked is None or not self.review.unanswered[asked.row]:
            return None
        return asked if decision.subject == (True, asked.frame, asked.label) else None

    def undo(self) -> dict[str, Any]:
        """Take back the last answer and ask it again."""
        return self._shown(self.review.undo())

    def redo(self) -> dict[str, Any]:
        """Let the last undone answer stand again."""
        return self._shown(self.review.redo())

    def _shown(self, answer: Answer) -> dict[str, Any]:
        decision = answer.decision
        if not decision.about_daughter:
            return {"view": None, "state": self.state()}
        row = self.review.row_of(decision)
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
        error = self.review.table.error[rows]
        return None if not len(error) else rows.start + int(error.argmax())

    def view(self, row: int) -> dict[str, Any]:
        """Everything to show about one daughter."""
        sight = self._sight(row)
        pair, j = sight.pair, sight.daughter
        own = np.flatnonzero((pair.daughter == j) & ((pair.probability >= SHOWN_LEAST) | pair.selected))
        own = own[np.lexsort((-pair.probability[own], ~pair.selected[own]))][
            :SHOWN
        ]  # the reported one is always among them
        own = own[np.argsort(-pair.probability[own], kind="stable")]
        box = self._scenes.box(pair, j, own)
        answers = [
            a.decision
            for a in self.review.standing
            if a.decision.subject == (True, pair.daughter_frame, self._label(sight))
        ]
        asked = self._asked if self._asked is not None and self._asked.row == row else None
        return {
            "row": row,
            "pair": sight.t,
            "frame": pair.daughter_frame,
            "mother_frame": pair.mother_frame,
            "label": self._label(sight),
            "audit": asked is not None and asked.audit,
            "asked": asked is not None,
            "answer": answers[-1].to_dict() if answers else None,
            "gain": self.review.queue.gain(row),
            "no_mother": float(np.exp(pair.log_no_mother[j])),
            "reported": reported(pair, j),
            "candidates": [self._candidate(pair, edge) for edge in own.tolist()],
            "box": {"left": box.left, "top": box.top, "width": box.width, "height": box.height},
            "before": self._scenes.cells(pair.mothers, sight.t, box),
            "after": self._scenes.cells(pair.daughters, sight.t + 1, box),
            "links": self._scenes.links(pair, box),
            "n_frames": self.review.table.n_pairs + 1,
        }

    def history(self, row: int) -> list[dict[str, Any]]:
        """The daughter and her ancestors as reported, the earliest first."""
        sight = self._sight(row)
        cells, index, t = sight.pair.daughters, sight.daughter, sight.t + 1
        strip = [self._scenes.portrait(cells, index, t)]
        while t > 0 and len(strip) < HISTORY:
            pair = self.review.pair(t - 1)
            edge = np.flatnonzero(pair.selected & (pair.daughter == index))
            if not len(edge):
                break
            edge_of, t = int(edge[0]), t - 1
            cells, index = pair.mothers, int(pair.mother[edge_of])
            strip.append({**self._scenes.portrait(cells, index, t), "probability": float(pair.probability[edge_of])})
        return strip[::-1]

    def state(self) -> dict[str, Any]:
        """How the review stands."""
        review, table = self.review, self.review.table
        kinds = [answer.decision.kind for answer in review.standing]
        return {
            "movie": review.about["movie"],
            "method": review.about["method"],
            "cost": review.about["cost"],
            "calibrated": review.calibrated,
            "verdict": review.about["verdict"],
            "joint": review.has_problem,
            "expected": table.expected_wrong_links,
            "first_expected": review.first_expected,
            "links": int(table.linked.sum()),
            "daughters": len(table),
            "answered": review.n_answered,
            "skipped": kinds.count("skip"),
            "can_undo": bool(kinds),
            "can_redo": review.can_redo,
            "audit": rate_of(review.error_rate()),
            "advice": self._advice(),
            "over_time": [round(float(error), 4) for error in table.over_time()],
            "frames": table.daughter_frame.tolist(),
            "order": self.order,
            "filter": vars(self.chosen),
        }

    def _advice(self) -> dict[str, Any]:
        """Whether to go on: what the next answer is worth, and how many would halve what is left, at most."""
        open_rows = self.review.unanswered & self.chosen.admits(self.review.table)
        best = self.review.queue.best(open_rows, "gain")
        worth = self.review.queue.gain(best[0]) if best else 0.0
        error = np.sort(self.review.table.error[open_rows])[::-1]
        halving = int(np.searchsorted(np.cumsum(error), error.sum() / 2)) + 1 if error.sum() > 0 else 0
        return {"gain": worth, "stop": worth < WORTH_ASKING, "halving": halving}

    def _sight(self, row: int) -> Sight:
        if not 0 <= row < len(self.review.table):
            raise DecisionError(f"there is no daughter {row}")
        t = self.review.table.pair_of(row)
        return Sight(row, t, row - self.review.table.rows(t).start, self.review.pair(t))

    def _label(self, sight: Sight) -> int:
        return int(sight.pair.daughters.label[sight.daughter])

    def crop(self, t: int, box: Box) -> bytes:
        """A piece of a frame as PNG."""
        return self._scenes.crop(t, box)

    def _candidate(self, pair: PairPosterior, edge: int) -> dict[str, Any]:
        mother = int(pair.mother[edge])
        label = int(pair.mothers.label[mother])
        said = [
            a.decision.kind for a in self.review.standing if a.decision.subject == (False, pair.mother_frame, label)
        ]
        return {
            "label": label,
            "probability": float(pair.probability[edge]),
            "selected": bool(pair.selected[edge]),
            "divides": None if pair.log_divide is None else float(np.exp(pair.log_divide[mother])),
            "disappears": None if pair.log_disappear is None else float(np.exp(pair.log_disappear[mother])),
            "said": said[-1] if said else None,
        }
