"""A review: an output, the decisions on it, and what follows from both."""

from __future__ import annotations

from collections.abc import Iterator, Set
from functools import cached_property
from pathlib import Path
from threading import RLock
from types import TracebackType

import numpy as np

from dunno.errors import DecisionError, InputError
from dunno.io.output import read_run, reopen_movie
from dunno.report.review_address import port_of
from dunno.review.asking import Asker, error_rate
from dunno.review.audit import SHARE, Audit, ErrorRate
from dunno.review.conflicts import check_nothing_new, check_seen
from dunno.review.constraints import FrameCells, index_of
from dunno.review.decisions import ABOUT_MASKS, ALL_AS_GIVEN, MISSING, RIGHT_TRACK, SKIP, Decision
from dunno.review.log import History, Log, LoggedAnswer, LogLine, read_log, replay
from dunno.review.opening import alone, header_of, user, written
from dunno.review.question import Question
from dunno.review.queue import Filter, Order, Queue
from dunno.review.resolving import ResolvedBlocks
from dunno.review.state import Progress, ReviewState
from dunno.types import Block, Bools, Detections, Movie, PairPosterior, RunInfo
from dunno.work.lock import Lock

SEED = 0


class Review:
    """The doubtful links of a `dunno track` output, in the order in which looking at them helps most.

    Original plus log is the state: the output is never changed, decisions go to `review.jsonl` in it, and every pair with
    decisions is solved again under them. All methods may be called from several threads.

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
        self.folder = folder
        self.about = about
        self.masks = masks
        if movie is not None:
            self.__dict__["movie"] = movie  # where cached_property would keep it
        self._log, self._history, self._lock = log, history, lock
        self._guard = RLock()
        self._state = ReviewState(folder, about, progress, masks)
        self.table = self._state.table
        self.queue = Queue(self.table, self._state.gain)
        self.audit = Audit(len(self.table), SEED, SHARE)
        self.has_problem = self._state.original(0).problem is not None
        self.first_expected = self.table.expected_wrong_links
        self.changed: list[int] = []
        self._state.replay(history.standing)

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
        """Open an output for review, with all that was decided so far.

        Args:
            folder: What `dunno track` wrote.
            who: Who decides; the user's name if not given.
            masks: Where the movie's masks are now, if they have moved.
            movie: The movie itself, where it is open already.
            read_only: Do not lock the folder and take no decisions.
            progress: Wraps the stream of pairs, knowing how many will come.
        """
        folder = Path(folder)
        about = read_run(folder)
        found, records = read_log(folder)
        header = header_of(folder, about, found)
        if read_only:
            return cls(folder, about, None, replay(records), None, progress, masks, movie)
        name = who or user()
        lock = alone(folder, name)
        try:
            log = Log(folder, name, header)
            return cls(folder, about, log, log.history, lock, progress, masks, movie)
        except BaseException:
            lock.release()
            raise

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
        """The movie that was tracked, under its masks as they are now."""
        if self._state.resolved is not None:
            return self._state.resolved.movie
        return reopen_movie(self.folder, self.masks)

    @property
    def port(self) -> int:
        """Where the output's report looks for the review."""
        return port_of(written(self.folder))

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
        with self._guard:
            return self._state.in_force(self.standing)

    @property
    def resolved(self) -> ResolvedBlocks | None:
        """The segments behind the output, where its masks were repaired."""
        return self._state.resolved

    def without_repairs(self) -> None:
        """See all masks as they were given; for an export, nothing is logged."""
        if self.resolved is not None:
            self._state.preview(Decision(ALL_AS_GIVEN, int(self.table.mother_frame[0])))

    @property
    def can_redo(self) -> bool:
        """Whether something was undone."""
        return bool(self._history.undone)

    @property
    def n_answered(self) -> int:
        """How many daughters have an answer, those skipped not counted."""
        return sum(answers[-1].decision.kind != SKIP for answers in self._state.answers.values())

    @property
    def unanswered(self) -> Bools:
        """(N,) daughters who can be asked about and have no answer that stands."""
        return self._state.unanswered

    def original(self, t: int) -> PairPosterior:
        """Pair t as it was tracked."""
        with self._guard:
            return self._state.original(t)

    def pair(self, t: int) -> PairPosterior:
        """Pair t given the decisions on it."""
        with self._guard:
            return self._state.pair(t)

    def blocks(self) -> Iterator[Block]:
        """The movie given the decisions, block by block."""
        return self._state.blocks()

    def block(self, first: int, last: int) -> Block:
        """Some pairs in a row given the decisions: from number `first` up to, but not including, `last`."""
        with self._guard:
            return self._state.part(range(first, last))

    @property
    def n_blocks(self) -> int:
        """How many blocks there are."""
        return self._state.n_blocks

    def pair_of(self, decision: Decision) -> int:
        """The number of the frame pair that a decision is about."""
        return self._state.pair_of(decision)

    def row_of(self, decision: Decision) -> int | None:
        """The row of the daughter that a decision answers for; `None` where it answers for none."""
        return self._state.row_of(decision)

    def answer(self, decision: Decision, question: Question | None = None, who: str | None = None) -> LoggedAnswer:
        """Take a decision: refused with the reason if it contradicts others, on the disk when this returns.

        Args:
            decision: What the person says.
            question: How it came to be asked; `None` if the person chose the cell.
            who: Who says it, if it is not whoever opened the review.
        """
        with self._guard:
            log = self._open_log()
            self._check_place(decision)
            decision = self._state.normalised(decision)
            solved = self._state.tried(decision)
            asked = None if question is None else question.log
            answer = log.answer(decision, self._state.belief(decision), asked, who)
            self.changed = self._state.add(answer, solved)
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
        with self._guard:
            answer = self._open_log().undo(who)
            self.changed = self._state.remove(answer)
            return answer

    def redo(self, who: str | None = None) -> LoggedAnswer:
        """Let the last undone answer stand again."""
        with self._guard:
            answer = self._open_log().redo(who)
            self.changed = self._state.add(answer)
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
        """The question to ask now; `None` where there is none left.

        Args:
            order: What comes first.
            chosen: Which daughters are asked about; the audit asks about anybody.
            after: Plan ahead: the question that follows this one, whatever its answer will be. Cells on which the answer has a
                say are left to later.
            taken: Rows that somebody else is looking at.
            near: The row that was answered last: what is near it comes first if it gains nearly as much.
        """
        with self._guard:
            unanswered = self.unanswered
            unanswered[list(taken)] = False
            number = sum(answer.question is not None for answer in self.standing)
            asker = Asker(self.table, self.queue, self.audit)
            return asker.next(unanswered, number, order, chosen or Filter(), after, near)

    def error_rate(self) -> ErrorRate:
        """How often the tracker was wrong, estimated from the audit: the rate before the review."""
        return error_rate(self.audit, self._state.answers, self.table)

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
        with self._guard:
            return [each for each in self._history.lines if each.n > version]

    def check_seen(self, decision: Decision, seen: int | None) -> None:
        """Refuse to take the place of what somebody said about the same cell while this person was looking at it."""
        check_seen(decision, [] if seen is None else self.since(seen))

    def check_nothing_new(self, seen: int | None) -> None:
        """Refuse to take back what this person has not seen."""
        check_nothing_new([] if seen is None else self.since(seen))

    def find(self, frame: int) -> FrameCells:
        """A frame by its original index, with its cells."""
        with self._guard:
            return self._state.find(frame)

    def frame_cells(self, t: int) -> Detections:
        """The cells of the frame at place t."""
        with self._guard:
            return self._state.cells(t)

    def row_at(self, frame: int, label: int) -> int:
        """The row of a cell, as a daughter; refused where there is none."""
        with self._guard:
            index_of(self._state.find(frame).cells, label)
            row = self._state.row_of(Decision(SKIP, frame, label))
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
        with self._guard:
            if decision.kind in ABOUT_MASKS:
                return self._row_at_mask(decision)
            t = self._state.find(decision.frame).t
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
        t = self._state.find(decision.frame).t
        if t == 0 or not len(rows := self.table.rows(t - 1)):
            return None
        original = self._state.original(t - 1).daughters
        cells = original if decision.label in original.label else self._state.cells(t)
        here = cells.centroid[np.flatnonzero(cells.label == decision.label)][:, -2:]
        return int(rows[np.argmin(((self.table.place[rows] - here[0]) ** 2).sum(axis=1))]) if len(here) else None

    def _open_log(self) -> Log:
        if self._log is None:
            raise DecisionError(f"{self.folder}: this review is open for reading only")
        return self._log
