"""A review: an output, the decisions on it, and what follows from both."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import Any

import numpy as np

from dunno.errors import DecisionError, InputError
from dunno.io.output import read_run, reopen_movie
from dunno.io.writing import REVIEW_FILE
from dunno.review import gain
from dunno.review.audit import SHARE, Audit, ErrorRate
from dunno.review.condition import Rules, condition
from dunno.review.constraints import index_of
from dunno.review.decisions import MOTHER, SKIP, Decision, in_force
from dunno.review.lock import Lock
from dunno.review.log import Answer, History, Log, read_log, replay
from dunno.review.queue import Filter, Order, Queue
from dunno.review.store import Recent, Store
from dunno.review.table import Table
from dunno.types import Bools, Movie, PairPosterior

Progress = Callable[[Iterator[PairPosterior], int], Iterator[PairPosterior]]
SEED = 0


@dataclass(frozen=True)
class Question:
    """A daughter to ask about.

    Attributes:
        row: Her row in the review's table.
        pair: The number of the frame pair.
        frame: Original index of her frame.
        label: Her label.
        audit: Whether she was drawn at random.
        chance: The chance that she, of all, was asked now.
        left: How many daughters had no answer then.
    """

    row: int
    pair: int
    frame: int
    label: int
    audit: bool
    chance: float
    left: int

    @property
    def log(self) -> dict[str, Any]:
        """What the log keeps."""
        return {"audit": self.audit, "chance": self.chance, "left": self.left}


class Review:
    """The doubtful links of a `dunno track` output, in the order in which looking at them helps most.

    Original plus log is the state: the output is never changed, decisions go to `review.jsonl` in it, and every pair with
    decisions is solved again under them. All methods may be called from several threads.

    Example:
        >>> import tempfile
        >>> from dunno import Tracker
        >>> from dunno.run import track_into
        >>> from dunno.simulate import colony
        >>> folder = tempfile.mkdtemp() + "/out"
        >>> _ = track_into(Tracker(), colony(cells=10, frames=5).movie, folder)
        >>> with Review.open(folder) as review:
        ...     question = review.next()
        ...     _ = review.answer(Decision("no mother", question.frame, question.label), question)
        ...     review.n_answered
        1
    """

    def __init__(
        self,
        folder: Path,
        about: dict[str, Any],
        log: Log | None,
        history: History,
        lock: Lock | None,
        progress: Progress,
    ) -> None:
        self.folder = folder
        self.about = about
        self.masks: str | Path | None = None
        self._log, self._history, self._lock = log, history, lock
        self._guard = RLock()
        links_kept = about["links"] is not None or about["method"] != "JP"
        self._rules = Rules(no_mother=bool(about["no_mother"]), keep_links=links_kept)
        self._store = Store(folder)
        self._solved: Recent[PairPosterior] = Recent(8)
        self._decisions: dict[int, list[Decision]] = {}
        self.table = Table.of(progress(self._store.stream(), len(about["frames"]) - 1))
        self.queue = Queue(self.table, self._gain)
        self.has_problem = self._store.get(0).problem is not None
        self.first_expected = self.table.expected_wrong_links
        self.audit = Audit(len(self.table), SEED, SHARE)
        for t in sorted({self.pair_of(answer.decision) for answer in history.standing}):
            self._refresh(t)

    @classmethod
    def open(
        cls,
        folder: str | Path,
        *,
        who: str | None = None,
        masks: str | Path | None = None,
        read_only: bool = False,
        progress: Progress = lambda pairs, total: pairs,
    ) -> Review:
        """Open an output for review, with all that was decided so far.

        Args:
            folder: What `dunno track` wrote.
            who: Who decides; the user's name if not given.
            masks: Where the movie's masks are now, if they have moved.
            read_only: Do not lock the folder and take no decisions.
            progress: Wraps the stream of pairs, knowing how many will come.
        """
        folder = Path(folder)
        about = read_run(folder)["parameters"]
        header = {"review_of": fingerprint(about), "dunno": about["version"], "movie": about["movie"]}
        found, records = read_log(folder)
        if found is not None and found.get("review_of") != header["review_of"]:
            raise InputError(
                f"{folder / REVIEW_FILE}: is the review of another tracking; move it away to begin anew, "
                "or put the tracking back that it belongs to"
            )
        if read_only:
            review = cls(folder, about, None, replay(records), None, progress)
        else:
            name = who or _user()
            lock = Lock(folder, name)
            try:
                log = Log(folder, name, header)
                review = cls(folder, about, log, log.history, lock, progress)
            except BaseException:
                lock.release()
                raise
        review.masks = masks
        return review

    def close(self) -> None:
        """Let others in; nothing needs saving."""
        with self._guard:
            if self._log is not None and self._lock is not None:
                self._log.close()
                self._lock.release()
            self._log = self._lock = None

    def __enter__(self) -> Review:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @cached_property
    def movie(self) -> Movie:
        """The movie that was tracked."""
        return reopen_movie(self.folder, self.masks)

    @property
    def calibrated(self) -> bool:
        """Whether the output's probabilities are."""
        return bool(self.about["calibrated"])

    @property
    def standing(self) -> tuple[Answer, ...]:
        """The answers that stand, the first one first."""
        return tuple(self._history.standing)

    @property
    def can_redo(self) -> bool:
        """Whether something was undone."""
        return bool(self._history.undone)

    @property
    def n_answered(self) -> int:
        """How many daughters have an answer, those skipped not counted."""
        kinds = {
            answer.decision.subject: answer.decision.kind for answer in self.standing if answer.decision.about_daughter
        }
        return sum(kind != SKIP for kind in kinds.values())

    def original(self, t: int) -> PairPosterior:
        """Pair t as it was tracked."""
        with self._guard:
            return self._store.get(t)

    def pair(self, t: int) -> PairPosterior:
        """Pair t given the decisions on it."""
        with self._guard:
            if t not in self._decisions:
                return self._store.get(t)
            found = self._solved.get(t)
            return found or self._solved.put(t, condition(self._store.get(t), self._decisions[t], self._rules))

    def pairs(self) -> Iterator[PairPosterior]:
        """Every pair given the decisions, in frame order."""
        return (self.pair(t) for t in range(self.table.n_pairs))

    def answer(self, decision: Decision, question: Question | None = None) -> Answer:
        """Take a decision: refused with the reason if it contradicts others, on the disk when this returns.

        Args:
            decision: What the person says.
            question: How it came to be asked; `None` if the person chose the cell.
        """
        with self._guard:
            log = self._open_log()
            t = self.pair_of(decision)
            tried = in_force([*self._decisions.get(t, []), decision])
            solved = condition(self._store.get(t), tried, self._rules)
            answer = log.answer(decision, self._before(t, decision), None if question is None else question.log)
            self._refresh(t, solved)
            return answer

    def undo(self) -> Answer:
        """Take back the last answer."""
        return self._step(lambda log: log.undo())

    def redo(self) -> Answer:
        """Let the last undone answer stand again."""
        return self._step(lambda log: log.redo())

    def _step(self, step: Callable[[Log], Answer]) -> Answer:
        with self._guard:
            answer = step(self._open_log())
            self._refresh(self.pair_of(answer.decision))
            return answer

    def next(
        self, order: Order = "gain", chosen: Filter | None = None, *, after: Question | None = None
    ) -> Question | None:
        """The question to ask now; `None` where there is none left.

        Args:
            order: What comes first.
            chosen: Which daughters are asked about; the audit asks about anybody.
            after: Plan ahead: the question that follows this one, whatever its answer will be. Cells on which the answer has a
                say are left to later.
        """
        with self._guard:
            unanswered = self.unanswered
            number = sum(answer.question is not None for answer in self.standing)
            eligible = unanswered & (chosen or Filter()).admits(self.table)
            if after is not None:
                number += 1
                unanswered[after.row] = False
                rows = self.table.rows(after.pair)
                eligible[rows] &= self.table.group[rows] != self.table.group[after.row]
            best = self.queue.best(eligible, order)
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

    @property
    def unanswered(self) -> Bools:
        """(N,) daughters that nobody was asked about, or without an answer that stands."""
        rows = np.ones(len(self.table), np.bool_)
        rows[[self.row_of(answer.decision) for answer in self.standing if answer.decision.about_daughter]] = False
        return rows

    def row_of(self, decision: Decision) -> int:
        """The row of the daughter that a decision is about."""
        t = self.pair_of(decision)
        rows = self.table.rows(t)
        return int(rows.start) + int(np.searchsorted(self.table.label[rows], decision.label))

    def error_rate(self) -> ErrorRate:
        """How often the tracker was wrong, estimated from the audit: the rate before the review."""
        asked, wrong = set(), {}
        for answer in self.standing:
            if answer.decision.about_daughter:
                row = self.row_of(answer.decision)
                wrong[row] = was_wrong(answer)
                if answer.question is not None and answer.question["audit"]:
                    asked.add(row)
        return self.audit.rate(asked, wrong)

    def _gain(self, row: int) -> float:
        if self._rules.keep_links:
            return float(self.table.error[row])
        t = self.table.pair_of(row)
        rows = self.table.rows(t)
        members = np.flatnonzero(self.table.group[rows] == self.table.group[row])
        return gain.gain(self.pair(t), row - rows.start, members)

    def _open_log(self) -> Log:
        if self._log is None:
            raise DecisionError(f"{self.folder}: this review is open for reading only")
        return self._log

    def pair_of(self, decision: Decision) -> int:
        """The number of the frame pair that a decision is about."""
        frames = self.table.daughter_frame if decision.about_daughter else self.table.mother_frame
        t = int(np.searchsorted(frames, decision.frame))
        if t == len(frames) or frames[t] != decision.frame:
            what = "a mother" if decision.about_daughter else "a daughter"
            raise DecisionError(f"frame {decision.frame} has no cells of which {what} could be told")
        return t

    def _refresh(self, t: int, solved: PairPosterior | None = None) -> None:
        """Bring pair t up to what stands in the log."""
        standing = [answer.decision for answer in self._history.standing]
        self._decisions[t] = in_force([each for each in standing if self.pair_of(each) == t])
        if not self._decisions[t]:
            del self._decisions[t]
        self._solved.drop(t)
        if solved is not None:
            self._solved.put(t, solved)
        self.table.update(t, self.pair(t))

    def _before(self, t: int, decision: Decision) -> dict[str, Any]:
        """What is believed about a cell now, and what was reported when it was tracked."""
        pair, original = self.pair(t), self._store.get(t)
        if not decision.about_daughter:
            i = index_of(pair.mothers, decision.label)
            known = pair.log_disappear is not None and pair.log_divide is not None
            events = (pair.log_disappear, pair.log_divide) if known else (None, None)
            return {
                name: None if log is None else _number(np.exp(log[i])) for name, log in zip(EVENTS, events, strict=True)
            }
        j = index_of(pair.daughters, decision.label)
        own = np.flatnonzero((pair.daughter == j) & (pair.log_probability > -np.inf))
        labels = pair.mothers.label[pair.mother[own]].tolist()
        return {
            "mothers": dict(zip(map(str, labels), map(_number, pair.probability[own]), strict=True)),
            "no_mother": _number(np.exp(pair.log_no_mother[j])),
            "decision": reported(pair, j),
            "tracked": reported(original, j),
        }


EVENTS = ("disappear", "divide")


def reported(pair: PairPosterior, daughter: int) -> int | None:
    """The label of the mother that a daughter was given, `None` where she appears."""
    edge = np.flatnonzero(pair.selected & (pair.daughter == daughter))
    return int(pair.mothers.label[pair.mother[edge[0]]]) if len(edge) else None


def was_wrong(answer: Answer) -> bool | None:
    """Whether the tracking had another decision than the person; `None` where the person could not say."""
    decision = answer.decision
    if decision.kind == SKIP:
        return None
    return bool(answer.before["tracked"] != (decision.mother if decision.kind == MOTHER else None))


def fingerprint(about: dict[str, Any]) -> str:
    """What tells one tracking from another."""
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:16]


def _number(value: float) -> float:
    return float(f"{value:.6g}")


def _user() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a machine that does not know its own user
        return "unknown"
