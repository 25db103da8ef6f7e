"""One process at a time."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from dunno import Movie, Tracker
from dunno.errors import InputError
from dunno.runs.run import track_into
from dunno.runs.workspace import workspace
from dunno.work.lock import Lock

HOLD = """
import sys, time
from pathlib import Path
from dunno.work.lock import Lock
held = Lock(Path(sys.argv[1]), "ada", "taken")
print("held", flush=True)
time.sleep(60)
"""


def test_a_second_one_is_told_who_has_it(tmp_path: Path) -> None:
    first = Lock(tmp_path / "lock", "ada", "taken by {holder}")
    with pytest.raises(InputError, match=rf"taken by ada \(process {os.getpid()} on "):
        Lock(tmp_path / "lock", "bob", "taken by {holder}")
    first.release()
    Lock(tmp_path / "lock", "bob", "taken by {holder}").release(remove=True)
    assert not (tmp_path / "lock").exists()


def test_a_lock_ends_with_its_process_even_if_that_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(InputError, match=rf"^ada \(process {other.pid} on "):
            Lock(path, "bob", "{holder}")
        other.send_signal(signal.SIGKILL)
        other.wait()
    Lock(path, "bob", "{holder}").release()


def test_a_disk_without_locks_is_refused_only_where_a_lock_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: Any, **options: Any) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(FileLock, "acquire", refuse)
    with pytest.raises(InputError, match=r"lock: cannot be locked \(No locks available\); use a copy on a local disk"):
        Lock(tmp_path / "lock", "ada", "taken")
    Lock(tmp_path / "lock", "ada", "taken", needed=False).release(remove=True)
    assert not (tmp_path / "lock").exists()


def test_two_runs_do_not_write_into_one_folder(colony: Movie, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with workspace(out) as partial:
        (partial / "mine").write_text("kept")
        with pytest.raises(InputError, match="out: is being written already, by dunno track .process"):
            track_into(Tracker(method="SM", calibration=None), colony, out)
        assert (partial / "mine").read_text() == "kept"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]
