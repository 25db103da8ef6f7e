import json
import os
from pathlib import Path

import pytest

from dunno.errors import OutputError
from dunno.io.writing import whole


def test_a_folder_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    with pytest.raises(RuntimeError), whole(out) as partial:
        partial.mkdir()
        (partial / "half").write_text("half")
        assert not out.exists()
        raise RuntimeError
    assert list((tmp_path / "deep").iterdir()) == []
    with whole(out) as partial:
        partial.mkdir()
        (partial / "file").write_text("whole")
    assert (out / "file").read_text() == "whole"
    assert list((tmp_path / "deep").iterdir()) == [out]


def test_what_exists_is_replaced_only_when_told(tmp_path: Path) -> None:
    out = tmp_path / "out"
    for content in ("old", "new"):
        with whole(out, overwrite=True) as partial:
            partial.mkdir()
            (partial / "run.json").write_text(json.dumps({"dunno": content}))
    assert "new" in (out / "run.json").read_text()
    assert os.listdir(tmp_path) == ["out"]
    with (
        pytest.raises(OutputError, match="out: exists already; choose another name, or replace it with --overwrite"),
        whole(out),
    ):
        pass


@pytest.mark.parametrize("target", ["disk/out", "disk/deep/out"])
def test_a_link_is_followed_and_stays(target: str, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    out = tmp_path / "out"
    out.symlink_to(tmp_path / target)
    for content in ("old", "new"):
        with whole(out, overwrite=True) as partial:
            assert partial == tmp_path / f"{target}.partial"
            partial.mkdir()
            (partial / "run.json").write_text(json.dumps({"dunno": content}))
        assert content in (tmp_path / target / "run.json").read_text()
    assert out.is_symlink() and out.readlink() == tmp_path / target
    assert sorted(os.listdir(tmp_path)) == ["disk", "out"]
    assert os.listdir((tmp_path / target).parent) == ["out"]


def test_a_link_to_itself_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to(tmp_path / "out")
    with pytest.raises(OutputError, match="out: is a link that leads nowhere"), whole(tmp_path / "out", overwrite=True):
        pass


def test_a_failed_overwrite_keeps_the_old_output(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "run.json").write_text(json.dumps({"dunno": "old"}))
    with pytest.raises(RuntimeError), whole(out, overwrite=True) as partial:
        partial.mkdir()
        raise RuntimeError
    assert "old" in (out / "run.json").read_text()


def test_somebody_elses_folder_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1.txt").write_text("years of work")
    with pytest.raises(OutputError, match="is not an output of dunno"), whole(tmp_path / "thesis", overwrite=True):
        pass
    assert (tmp_path / "thesis" / "chapter1.txt").exists()


def test_a_place_without_permission_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    if os.access(closed, os.W_OK):  # root may write everywhere; ask as somebody who may not
        monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != closed)
    with pytest.raises(OutputError, match="out: no permission to write in .*closed"), whole(closed / "out"):
        pass


def test_a_full_disk_gives_one_line(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="out: cannot be written .*No space left"), whole(tmp_path / "out"):
        raise OSError(28, os.strerror(28))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("stranger", ["res_track.txt", "nodes/x", "run.json"])
def test_only_folders_with_dunnos_own_mark_are_replaced(tmp_path: Path, stranger: str) -> None:
    (tmp_path / "out" / stranger).parent.mkdir(parents=True)
    (tmp_path / "out" / stranger).write_text("5")
    with pytest.raises(OutputError, match="is not an output of dunno"), whole(tmp_path / "out", overwrite=True):
        pass
    assert (tmp_path / "out" / stranger).exists()
