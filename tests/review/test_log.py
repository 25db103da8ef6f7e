"""Nothing that was confirmed is ever lost."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dunno.errors import InputError, OutputError
from dunno.review.decisions import Decision
from dunno.review.log import Log, read_log, replay

WRITER = """
import sys
from pathlib import Path
from dunno.review.decisions import Decision
from dunno.review.log import Log

log = Log(Path(sys.argv[1]), "killed", {"review_of": "x"})
for n in range(1, 100_000):
    if n % 7 == 0:
        log.undo()
    else:
        log.answer(Decision("no mother", n, n), {"mothers": {str(k): 0.1 for k in range(20)}}, None)
    print(n, flush=True)
"""


@pytest.mark.parametrize("attempt", range(5))
def test_killing_the_process_loses_nothing_that_was_confirmed(tmp_path: Path, attempt: int) -> None:
    confirmed = 0
    for _ in range(2):  # and again on top of what the first one left
        process = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        for _ in range(20 + 13 * attempt):
            process.stdout.readline()
        os.kill(process.pid, signal.SIGKILL)
        told = [20 + 13 * attempt, *map(int, process.stdout.read().split())]
        process.stdout.close()
        process.wait()
        confirmed += told[-1]
        header, records = read_log(tmp_path)
        assert header == {"schema": 1, "review_of": "x"}
        assert [record["n"] for record in records] == list(range(1, len(records) + 1))
        assert len(records) in (confirmed, confirmed + 1)  # the last one may be written, but not yet confirmed
        replay(records)
        confirmed = len(records)


@pytest.mark.parametrize("rest", [b'{"n": 2, "act', b"\x00\xff", b"{}"])
def test_a_last_line_that_was_cut_short_is_cut_off(tmp_path: Path, rest: bytes) -> None:
    log = Log(tmp_path, "ada", {"review_of": "x"})
    log.answer(Decision("skip", 1, 1), {}, None)
    log.close()
    whole = log.path.read_bytes()
    log.path.write_bytes(whole + rest)
    assert len(read_log(tmp_path)[1]) == 1
    assert log.path.read_bytes() == whole + rest  # reading changes nothing
    again = Log(tmp_path, "ada", {"review_of": "x"})
    again.answer(Decision("skip", 1, 2), {}, None)
    again.close()
    assert again.path.read_bytes().startswith(whole)
    assert [record["n"] for record in read_log(tmp_path)[1]] == [1, 2]


def test_a_log_that_was_edited_is_refused_with_the_line(tmp_path: Path) -> None:
    log = Log(tmp_path, "ada", {"review_of": "x"})
    for label in (1, 2):
        log.answer(Decision("skip", 1, label), {}, None)
    log.close()
    lines = log.path.read_text().splitlines()
    log.path.write_text("\n".join([lines[0], "what?", lines[2]]) + "\n")
    with pytest.raises(InputError, match="line 2 is no JSON"):
        read_log(tmp_path)
    undo = json.dumps({"n": 3, "action": "undo", "of": 1})
    log.path.write_text("\n".join([lines[0], undo]) + "\n")
    with pytest.raises(InputError, match="do not follow from each other"):
        read_log(tmp_path)


def test_a_full_disk_is_told_and_leaves_the_log_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = Log(tmp_path, "ada", {"review_of": "x"})
    log.answer(Decision("skip", 1, 1), {}, None)
    whole = log.path.read_bytes()
    real = os.pwrite

    def half(file: int, content: bytes, place: int) -> int:
        real(file, content[:5], place)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", half)
    with pytest.raises(OutputError, match="No space left on device"):
        log.answer(Decision("skip", 1, 2), {}, None)
    monkeypatch.undo()
    assert log.path.read_bytes() == whole
    assert len(log.history.standing) == 1
    log.answer(Decision("skip", 1, 3), {}, None)
    assert [record["n"] for record in read_log(tmp_path)[1]] == [1, 2]


def test_a_log_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    Log(tmp_path, "ada", {"review_of": "x"}).close()
    assert (tmp_path / "review.jsonl").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[" * 100_000, "line 2 is no JSON"),
        ("3", "line 2 is no JSON"),
        ('{"n": 1, "action": "answer", "kind": "skip", "frame": 1, "label": 1, "before": 3}', "do not follow"),
        ('{"n": "1", "action": "answer", "kind": "skip", "frame": 1, "label": 1, "before": {}}', "do not follow"),
        ('{"n": 1, "action": "answer", "kind": [], "frame": 1, "label": 1, "before": {}}', "do not follow"),
        ('{"n": 1, "action": {}}', "do not follow"),
    ],
)
def test_a_line_of_another_form_is_refused(tmp_path: Path, line: str, message: str) -> None:
    log = Log(tmp_path, "ada", {"review_of": "x"})
    log.close()
    log.path.write_text(log.path.read_text() + line + "\n")
    with pytest.raises(InputError, match=message):
        read_log(tmp_path)
