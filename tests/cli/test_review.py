"""`dunno review`, as it is called."""

import json
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from dunno.cli import run
from dunno.errors import InputError
from dunno.io.writing import check_output
from dunno.review import Decision, Review
from dunno.simulate import colony
from tests.review.outputs import tracked
from tests.review.serving import buffered


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tracked(colony(cells=8, frames=4, motion=0.35, seed=2), tmp_path_factory.mktemp("small"))


@pytest.fixture
def out(kept: Path, tmp_path: Path) -> Path:
    """A small output in which one daughter was reviewed."""
    folder = Path(shutil.copytree(kept, tmp_path / "out"))
    with Review.open(folder, who="ada") as review:
        question = review.next()
        assert question is not None
        review.answer(Decision("no mother", question.frame, question.label), question)
    return folder


def test_an_export_says_what_it_holds(out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["review", str(out), "--export", str(tmp_path / "done")]) == 0
    printed = capsys.readouterr().out
    assert "with 1 reviewed daughters" in printed
    assert re.search(
        r"expected wrong links left: \d+\.\d of \d+ \(probabilities (supported|untested|contradicted)\)", printed
    )
    assert {"tracks.geff", "edges.csv", "ctc", "run.json"} <= {path.name for path in (tmp_path / "done").iterdir()}
    assert json.loads((tmp_path / "done" / "run.json").read_text())["parameters"]["review"]["answered"] == 1
    assert run(["review", str(out), "--export", str(tmp_path / "done")]) == 2
    assert "exists already" in capsys.readouterr().err
    assert run(["review", str(out), "--export", str(tmp_path / "done"), "--overwrite"]) == 0
    assert run(["report", str(tmp_path / "done")]) == 0


def test_an_export_may_be_made_while_somebody_reviews(out: Path, tmp_path: Path) -> None:
    with Review.open(out):
        assert run(["review", str(out), "--export", str(tmp_path / "done")]) == 0


def test_a_review_that_was_only_looked_at_is_no_review(out: Path, tmp_path: Path) -> None:
    shutil.copytree(out, tmp_path / "seen")
    (tmp_path / "seen" / "review.jsonl").write_text((out / "review.jsonl").read_text().splitlines(keepends=True)[0])
    check_output(tmp_path / "seen", overwrite=True)
    with pytest.raises(InputError, match="holds a review"):
        check_output(out, overwrite=True)


def test_a_review_is_not_overwritten(out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    movie = json.loads((out / "run.json").read_text())["parameters"]
    assert run(["track", movie["movie_path"], "--masks", movie["masks_path"], "-o", str(out), "--overwrite"]) == 2
    assert "review.jsonl: holds a review, which would be lost" in capsys.readouterr().err
    same = ["track", movie["movie_path"], "--masks", movie["masks_path"], "-o", str(out), "--evidence", "places"]
    assert run([*same, "--resume", "-q"]) == 0
    assert (out / "review.jsonl").exists()  # a complete output is left as it is


def test_wrong_input_is_one_line(out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, words in (
        ([str(tmp_path / "nothing")], "is no output of dunno track"),
        ([str(out), "--no-browser", "--port", "99999"], "cannot be listened on"),
        ([str(out), "--no-browser", "--host", "not-a-host.invalid"], "cannot be listened on"),
        ([str(out), "--no-browser", "--masks", str(tmp_path / "gone")], "gone"),
    ):
        assert run(["review", *arguments]) == 2
        told = capsys.readouterr().err
        assert words in told and told.count("\n") == 1 and "Traceback" not in told


def test_a_second_window_is_told_who_has_the_first(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Review.open(out, who="ada"):
        assert run(["review", str(out), "--no-browser"]) == 2
    assert "is being reviewed already, by ada (process" in capsys.readouterr().err


def test_without_the_extra_the_core_works_and_the_page_says_what_to_install(out: Path, tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules.update(fastapi=None, uvicorn=None); from dunno.cli import run;"
        f"assert run(['review', {str(out)!r}, '--export', {str(tmp_path / 'done')!r}]) == 0;"
        f"sys.exit(run(['review', {str(out)!r}, '--no-browser']))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode == 2
    assert "pip install 'dunno[review]'" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_the_demo_brings_a_newcomer_to_the_page_and_goes_on_another_day(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "dunno", "demo", "-o", str(tmp_path / "demo"), "--review", "--no-browser"]
    for day in range(2):
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen(command, **pipes, env=buffered()) as process:  # type: ignore[call-overload]
            assert process.stdout is not None
            printed = ""
            while "leave with Ctrl-C" not in printed:
                line = process.stdout.readline()
                assert line, process.communicate()
                printed += line
            address = re.search(r"http://\S+", printed)
            assert address is not None
            page = httpx.get(address.group(0))
            assert page.status_code == 200
            assert "dunno review" in page.text
            process.send_signal(signal.SIGINT)
            rest, told = process.communicate(timeout=60)
            assert process.returncode == 0
            assert "0 daughters reviewed" in rest
            assert ("going on with the review" in told) == (day == 1)
    with Review.open(tmp_path / "demo" / "tracks") as review:
        review.answer(Decision("no mother", 1, int(review.table.label[0])))
    assert run(["demo", "-o", str(tmp_path / "demo")]) == 2  # the review in it would be lost
