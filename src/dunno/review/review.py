"""A review: an output, the decisions on it, and what follows from both."""

from __future__ import annotations

from collections.abc import Set
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from dunno.errors import DecisionError, InputError, OutputError
from dunno.io.output import read_run, read_written_run, reopen_movie
from dunno.io.writing import REVIEW_FILE
from dunno.report.review_address import fingerprint, port_of
from dunno.review.audit import SHARE, Audit, ErrorRate, error_rate
from dunno.review.constraints import index_of
from dunno.review.decisions import ABOUT_MASKS, ALL_AS_GIVEN, MISSING, RIGHT_TRACK, SKIP, Decision
from dunno.review.log import History, Log, LoggedAnswer, LogLine, read_log, replay
from dunno.review.queue import Filter, Order, Question, Queue
from dunno.review.state import Progress, ReviewState
from dunno.types import Movie, RunInfo
from dunno.work.lock import Lock

SEED = 0
LOCK_FILE = "review.lock"


class Review(ReviewState):
    """The doubtful links of a `dunno track` output, in the order in which looking at them helps most.

    Original plus log is the state: the output is never changed, decisions go to `review.jsonl` in it, and every pair with
    decisions is solved again under them. One thread at a time may use it.

    Example:
        >>> import tempfile
        >>> from dunno import Tracker
        >>> from dunno.runs.run import track_into
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
        about: RunInfo,
        log: Log | None,
        history: History,
        lock: Lock | None,
        progress: Progress,
        masks: str | Path | None = None,
        movie: Movie | None = None,
    ) -> None:
        super().__init__(folder, about, progress, masks)
        self.folder = folder
        self.about = about
        self.masks = masks
        if movie is not None:
            self.__dict__["movie"] = movie  # where cached_property would keep it
        self._log, self._history, self._lock = log, history, lock
        self.queue = Queue(self.table, self._gain)
        self.audit = Audit(len(self.table), SEED, SHARE)
        self.has_problem = self.original(0).problem is not None
        self.first_expected = self.table.expected_wrong_links
        self.changed: list[int] = []
        self._replay(history.standing)

    @classmethod
    def open(
        cls,
        folder: str | Path,
        *,
        who: str | None = None,
        masks: str | Path | None = None,
        movie: Movie | None = None,
        read_only: bool = False,
        progress: Progress = lambda pairs, total: pairs,
    ) -> Review:
        """Open what `dunno track` wrote for review, with all that was decided so far.

        The user's name says who decides, if nobody is named. `masks` are where the movie's are now, if they have moved; `movie` is
        the movie itself, where it is open already. Read only, the folder is not locked and takes no decisions. `progress` wraps
        the stream of blocks, knowing how many will come.
        """
        folder = Path(folder)
        about = read_run(folder)
        found, records = read_log(folder)
        header = _header_of(folder, about, found)
        if read_only:
            return cls(folder, about, None, replay(records), None, progress, masks, movie)
        name = who or _user()
        lock = _alone(folder, name)
        try:
            log = Log(folder, name, header)
            return cls(folder, about, log, log.history, lock, progress, masks, movie)
        except BaseException:
            lock.release()
            raise

    def close(self) -> None:
        """Let others in; nothing needs saving."""
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
        """The movie that was tracked, under its masks as they are now."""
        if self.resolved is not None:
            return self.resolved.movie
        return reopen_movie(self.folder, self.masks)

    @property
    def port(self) -> int:
        """Where the output's report looks for the review."""
        return port_of(_written(self.folder))

    @property
    def calibrated(self) -> bool:
        """Whether the output's probabilities are."""
        return self.about.calibrated

    @property
    def standing(self) -> tuple[LoggedAnswer, ...]:
        """The answers that stand, the first one first."""
        return tuple(self._history.standing)

    @property
    def counting(self) -> list[LoggedAnswer]:
        """Those of them that nothing said later has taken the place of."""
        return self._in_force(self.standing)

    @property
    def can_redo(self) -> bool:
        """Whether something was undone."""
        return bool(self._history.undone)

    @property
    def n_answered(self) -> int:
        """How many daughters have an answer, those skipped not counted."""
        return sum(answers[-1].decision.kind != SKIP for answers in self.answers.values())

    def answer(self, decision: Decision, question: Question | None = None, who: str | None = None) -> LoggedAnswer:
        """Take a decision: refused with the reason if it contradicts others, on the disk when this returns.

        Without the `question` that it answers, the person chose the cell; `who` is by default whoever opened the review.
        """
        log = self._open_log()
        self._check_place(decision)
        decision = self._normalised(decision)
        solved = self._tried(decision)
        asked = None if question is None else question.log
        answer = log.answer(decision, self._belief(decision), asked, who)
        self.changed = self._add(answer, solved)
        return answer

    def _check_place(self, decision: Decision) -> None:
        """Refuse a place outside the field, where the movie is there to say how large that is."""
        place = decision.place
        try:
            shape = self.movie.shape if place is not None and self.movie.has_masks else None
        except InputError:
            return
        if place is None or shape is None or len(place) != len(shape):
            return
        if not all(-0.5 <= each <= size - 0.5 for each, size in zip(place, shape, strict=True)):
            raise DecisionError(f"place is {place}, outside the field of {' × '.join(map(str, shape))} pixels")

    def undo(self, who: str | None = None) -> LoggedAnswer:
        """Take back the last answer."""
        answer = self._open_log().undo(who)
        self.changed = self._remove(answer)
        return answer

    def redo(self, who: str | None = None) -> LoggedAnswer:
        """Let the last undone answer stand again."""
        answer = self._open_log().redo(who)
        self.changed = self._add(answer)
        return answer

    def next(
        self,
        order: Order = "gain",
        chosen: Filter | None = None,
        *,
        after: Question | None = None,
        taken: Set[int] = frozenset(),
        near: int | None = None,
    ) -> Question | None:
        """The question to ask now, `None` where there is none left: about daughters that are `chosen`, or about any for the audit.

        With `after`, the question that follows that one, whatever its answer will be; cells on which it has a say are left to
        later. Rows that somebody else looks at are `taken`, and what is `near` the row that was answered last comes first if it
        gains nearly as much.
        """
        unanswered = self.unanswered
        unanswered[list(taken)] = False
        number = sum(answer.question is not None for answer in self.standing)
        eligible = unanswered & (chosen or Filter()).admits(self.table)
        if after is not None:
            number, near = number + 1, after.row
            unanswered[after.row] = False
            rows = self.table.rows(after.pair)
            eligible[rows] &= self.table.group[rows] != self.table.group[after.row]
        best = self.queue.best_near(eligible, order, near)
        if not best:
            return None
        drawn = self.audit.next(unanswered) if self.audit.is_due(number) else None
        row, left = best[0] if drawn is None else drawn, int(unanswered.sum())
        chance = self.audit.share / left + (1 - self.audit.share) * (row == best[0])
        frame, label = self.table.cell(row)
        return Question(row, self.table.pair_of(row), frame, label, drawn is not None, chance, left)

    def error_rate(self) -> ErrorRate:
        """How often the tracker was wrong, estimated from the audit: the rate before the review."""
        return error_rate(self.audit, self.answers, self.table)

    @property
    def version(self) -> int:
        """The number of the log's last line: it grows with everything that is said."""
        return self._history.version

    @property
    def who(self) -> str:
        """Who opened the review."""
        return "" if self._log is None else self._log.who

    def since(self, version: int) -> list[LogLine]:
        """What was said after a version, while this review was open."""
        return [each for each in self._history.lines if each.n > version]

    def check_seen(self, decision: Decision, seen: int | None) -> None:
        """Refuse to take the place of what somebody said about the same cell while this person was looking at it."""
        later = [] if seen is None else self.since(seen)
        said = next((each for each in later if each.decision.subjects & decision.subjects), None)
        if said is not None:
            raise DecisionError(
                f"{said.who} has decided on cell {decision.label} of frame {decision.frame} since you looked; "
                "look at it, and answer again if you disagree"
            )

    def check_nothing_new(self, seen: int | None) -> None:
        """Refuse to take back what this person has not seen."""
        if seen is not None and (later := self.since(seen)):
            raise DecisionError(f"{later[-1].who} has decided since you looked, so the last answer is another one now")

    def row_at(self, frame: int, label: int) -> int:
        """The row of a cell, as a daughter; refused where there is none."""
        index_of(self.find(frame).cells, label)
        row = self.row_of(Decision(SKIP, frame, label))
        if row is None:
            raise DecisionError(f"frame {frame} is the first one; its cells have no mothers to ask about")
        return row

    def near_row(self, decision: Decision) -> int | None:
        """A row at which a decision can be seen: the cell's own, a daughter of it, or none."""
        if decision.kind in (MISSING, ALL_AS_GIVEN):
            return None
        last = decision.steps[-1] if decision.kind == RIGHT_TRACK else decision
        row = self.row_of(last)
        if row is not None and row in self.table.rows(self.table.pair_of(row)):
            return row
        if decision.kind in ABOUT_MASKS:
            return self._row_at_mask(decision)
        t = self.table.place_of(decision.frame)
        if t >= self.table.n_pairs:
            return None
        pair = self.pair(t)
        edges = np.flatnonzero(pair.mother == index_of(pair.mothers, decision.label))
        if not len(edges):
            return None
        best = edges[np.argmax(pair.log_probability[edges])]
        return int(self.table.rows(t)[pair.daughter[best]])

    def _row_at_mask(self, decision: Decision) -> int | None:
        """The row of what a mask is now, nearest to what was said of; `None` in the first frame, and where nothing is left."""
        t = self.table.place_of(decision.frame)
        if t == 0 or not len(rows := self.table.rows(t - 1)):
            return None
        original = self.original(t - 1).daughters
        cells = original if decision.label in original.label else self.frame_cells(t)
        here = cells.centroid[np.flatnonzero(cells.label == decision.label)][:, -2:]
        return int(rows[np.argmin(((self.table.place[rows] - here[0]) ** 2).sum(axis=1))]) if len(here) else None

    def _open_log(self) -> Log:
        if self._log is None:
            raise DecisionError(f"{self.folder}: this review is open for reading only")
        return self._log


def _written(folder: Path) -> dict[str, Any]:
    """An output's parameters as they were written."""
    found: dict[str, Any] = read_written_run(folder)["parameters"]
    return found


def _user() -> str:
    """The name of whoever runs this."""
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a machine that does not know its own user
        return "unknown"


def _alone(folder: Path, who: str) -> Lock:
    """Keep a second window from reviewing the same output."""
    refused = f"{folder}: is being reviewed already, by {{holder}}; use that window, or close it first"
    try:
        return Lock(folder / LOCK_FILE, who, refused)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written ({error.strerror}); a review keeps its log there") from None


def _header_of(folder: Path, about: RunInfo, found: dict[str, Any] | None) -> dict[str, Any]:
    """The first line of the output's log; refused where the log that was found is another tracking's."""
    # a newer dunno may know more than when the review was begun
    header = {"review_of": fingerprint(_written(folder)), "dunno": about.version, "movie": about.movie}
    if found is not None and found.get("review_of") != header["review_of"]:
        raise InputError(
            f"{folder / REVIEW_FILE}: is the review of another tracking; move it away to begin anew, "
            "or put the tracking back that it belongs to"
        )
    return header
