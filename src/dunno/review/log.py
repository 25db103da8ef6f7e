"""The log of decisions, `review.jsonl`: lines are only ever added, and are on the disk before anything is confirmed.

The first line says which tracking was reviewed. Every other line is an answer, an undo or a redo:

```
{"n": 1, "time": "2026-11-15T10:00:00Z", "who": "ada", "action": "answer", "kind": "mother", "frame": 12, "label": 3,
 "mother": 7, "before": {"mothers": {"7": 0.61, "9": 0.31}, "no_mother": 0.08, "decision": 7}, "question": {…}}
{"n": 2, "time": "2026-11-15T10:00:09Z", "who": "ada", "action": "undo", "of": 1}
```
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dunno.errors import DecisionError, InputError, OutputError
from dunno.io.schema import REVIEW
from dunno.io.writing import REVIEW_FILE
from dunno.review.decisions import Decision

ANSWER, UNDO, REDO = "answer", "undo", "redo"


@dataclass(frozen=True)
class LoggedAnswer:
    """A decision with the circumstances in which it was taken."""

    n: int  # Its number in the log
    decision: Decision  # What was said
    # What was believed before: `mothers` (label → probability), `no_mother`, and the `decision` reported (the
    # mother's label, or none)
    before: dict[str, Any]
    # How it came to be asked: `audit` (drawn at random), `chance` (of being asked then), `left` (daughters not
    # answered then); `None` where the person chose the cell
    question: dict[str, Any] | None = None
    who: str = ""  # Who said it
    time: str = ""  # When, in UTC


@dataclass(frozen=True)
class LogLine:
    """One line of the log: what was done, to which decision, by whom."""

    n: int
    who: str
    action: str
    decision: Decision


@dataclass
class History:
    """The answers that stand, and those that were undone and can be redone, the next one last; `lines` is every line."""

    standing: list[LoggedAnswer] = field(default_factory=list)
    undone: list[LoggedAnswer] = field(default_factory=list)
    lines: list[LogLine] = field(default_factory=list)

    @property
    def version(self) -> int:
        """The number of the last line; 0 before the first."""
        return self.lines[-1].n if self.lines else 0

    def take(self, record: dict[str, Any]) -> None:
        """Follow one line of the log."""
        if record["action"] == ANSWER:
            decision = Decision.from_dict(record)
            if not isinstance(record["before"], dict) or not isinstance(record.get("question") or {}, dict):
                raise TypeError(record)
            told = (str(record.get("who", "")), str(record.get("time", "")))
            self.standing.append(LoggedAnswer(record["n"], decision, record["before"], record.get("question"), *told))
            self.undone.clear()
        elif record["action"] == UNDO:
            self.undone.append(self.standing.pop())
        elif record["action"] == REDO:
            self.standing.append(self.undone.pop())
        else:
            raise ValueError(record["action"])
        touched = self.undone[-1] if record["action"] == UNDO else self.standing[-1]
        self.lines.append(LogLine(record["n"], str(record.get("who", "")), record["action"], touched.decision))


def replay(records: list[dict[str, Any]]) -> History:
    """What stands after all lines of a log: the one way from log to state."""
    history = History()
    for record in records:
        history.take(record)
    return history


def read_log(folder: str | Path) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
    """The first line and the others; nothing where there is no log. A last line that was cut short is left out."""
    header, records, _ = _read(Path(folder) / REVIEW_FILE)
    return header, records


def _read(path: Path) -> tuple[dict[str, Any] | None, list[dict[str, Any]], int]:
    """The first line, the others, and how many bytes they take."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None, [], 0
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    end = content.rfind(b"\n") + 1  # what follows was never confirmed: a line is confirmed with its end
    records = [_parsed(path, n, line) for n, line in enumerate(content[:end].splitlines(), 1)]
    if not records:
        return None, [], 0
    REVIEW.check(records[0].get("schema"), path)
    try:
        replay(records[1:])
        if not all(isinstance(record["n"], int) for record in records[1:]):
            raise TypeError
    except (KeyError, IndexError, ValueError, TypeError, DecisionError):
        raise InputError(f"{path}: its lines do not follow from each other; was it edited by hand?") from None
    return records[0], records[1:], end


def _as_text(who: str) -> str:
    """A name that can be written in UTF-8 and read back; half of a character cannot."""
    try:
        who.encode()
    except UnicodeEncodeError:
        raise InputError(f"who is {who!a:.60}, which is no text; expected a name") from None
    return who


def _parsed(path: Path, n: int, line: bytes) -> dict[str, Any]:
    """A line; halves of characters, which older versions took for names, become question marks."""
    try:
        record = json.loads(line)
        if b"\\u" in line:
            record = json.loads(json.dumps(record, ensure_ascii=False).encode("utf-8", "replace"))
        if not isinstance(record, dict):
            raise ValueError
    except (ValueError, RecursionError):
        raise InputError(f"{path}: line {n} is no JSON; repair or remove it, the lines before it are whole") from None
    return record


class Log:
    """A log open for adding; the caller holds the folder's lock."""

    def __init__(self, folder: Path, who: str, header: dict[str, Any]) -> None:
        self.path = folder / REVIEW_FILE
        self.who = _as_text(who)
        found, records, self._end = _read(self.path)
        self.history = replay(records)
        self._n = records[-1]["n"] if records else 0
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)  # it names people
        except OSError as error:
            raise OutputError(f"{self.path}: cannot be written ({error.strerror})") from None
        os.ftruncate(self._file, self._end)
        if found is None:
            self._append({"schema": REVIEW.number, **header})
            _sync_folder(folder)
        self.header: dict[str, Any] = found or {"schema": REVIEW.number, **header}

    def answer(
        self, decision: Decision, before: dict[str, Any], question: dict[str, Any] | None, who: str | None = None
    ) -> LoggedAnswer:
        """Add an answer; it is on the disk when this returns."""
        self._add({"action": ANSWER, **decision.to_dict(), "before": before, "question": question}, who)
        return self.history.standing[-1]

    def undo(self, who: str | None = None) -> LoggedAnswer:
        """Take the last standing answer back."""
        self._move(UNDO, self.history.standing, who)
        return self.history.undone[-1]

    def redo(self, who: str | None = None) -> LoggedAnswer:
        """Let the answer stand again that was undone last."""
        self._move(REDO, self.history.undone, who)
        return self.history.standing[-1]

    def _move(self, action: str, answers: list[LoggedAnswer], who: str | None) -> None:
        if not answers:
            raise DecisionError(f"there is nothing to {action}")
        self._add({"action": action, "of": answers[-1].n}, who)

    def _add(self, content: dict[str, Any], who: str | None) -> None:
        now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        record = {"n": self._n + 1, "time": now, "who": _as_text(who or self.who), **content}
        self._append(record)
        self._n += 1
        self.history.take(record)

    def _append(self, record: dict[str, Any]) -> None:
        """Write one line and wait until it is on the disk; a line that does not fit leaves nothing behind."""
        line = json.dumps(record).encode() + b"\n"
        try:
            written = 0
            while written < len(line):
                written += os.pwrite(self._file, line[written:], self._end + written)
            os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, self._end)
            raise OutputError(
                f"{self.path}: the decision could not be written ({error.strerror}); nothing changed"
            ) from None
        self._end += len(line)

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)


def _sync_folder(folder: Path) -> None:
    """A new file is safe only when its folder is."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
