"""One process at a time."""

import os
from pathlib import Path

import pytest

from dunno import Movie, Tracker
from dunno.errors import InputError
from dunno.runs.run import track_into
from dunno.runs.workspace import workspace
from dunno.work.lock import Lock


def test_a_second_one_is_told_who_has_it(tmp_path: Path) -> None:
    first = Lock(tmp_path / "lock", "ada", "taken by {holder}")
    with pytest.raises(InputError, match=rf"taken by ada \(process {os.getpid()} on "):
        Lock(tmp_path / "lock", "bob", "taken by {holder}")
    first.release()
    Lock(tmp_path / "lock", "bob", "taken by {holder}").release(remove=True)
    assert not (tmp_path / "lock").exists()


def test_two_runs_do_not_write_into_one_folder(colony: Movie, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with workspace(out) as partial:
        (partial / "mine").write_text("kept")
        with pytest.raises(InputError, match="out: is being written already, by dunno track .process"):
            track_into(Tracker(method="SM", calibration=None), colony, out)
        assert (partial / "mine").read_text() == "kept"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]
