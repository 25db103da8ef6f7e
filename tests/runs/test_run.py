"""Runs that are killed, starved and handed broken frames."""

import json
import os
import pickle
import random
import resource
import signal
import subprocess
import sys
import time
from concurrent.futures import Executor, Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile

from benchmarks.crowd import Crowd
from dunno import Movie, Tracker, read
from dunno.cli import run
from dunno.errors import InputError, MovieError, OutputError
from dunno.io import block_files
from dunno.io.block_files import linked_blocks
from dunno.io.writing import partial_of
from dunno.runs.run import pays_in_processes, track_into
from dunno.runs.unreadable_frames import track_readable_frames
from dunno.tracking.plan import Span
from dunno.work.schedule import open_pool


def content(folder: Path) -> dict[str, bytes]:
    """Every file of an output, without how long it took."""
    files = {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    told = json.loads(files["run.json"])
    del told["timings"]
    return {**files, "run.json": json.dumps(told).encode()}


def dunno(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "dunno", *map(str, arguments)]


@pytest.fixture(scope="module")
def zarr(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A movie of 300 frames with 60 cells each."""
    path = tmp_path_factory.mktemp("movie") / "crowd.zarr"
    Crowd(60, 300).save(path)
    return path


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A movie of 40 frames with 15 cells each, quickly fitted."""
    path = tmp_path_factory.mktemp("movie") / "small.zarr"
    Crowd(15, 40).save(path)
    return path


@pytest.fixture(scope="module")
def whole(zarr: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What SM makes of the long movie when nothing happens to it."""
    import dunno as package

    out = tmp_path_factory.mktemp("whole") / "out"
    track_into(Tracker(method="SM", workers=1), package.read(zarr), out)
    return out


@pytest.fixture(scope="module")
def small_whole(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the defaults make of the small movie, one worker and no accident."""
    import dunno as package

    out = tmp_path_factory.mktemp("small-whole") / "out"
    track_into(Tracker(workers=1), package.read(small), out)
    return out


class Stops(Exception):
    """What a test raises in the middle of a run."""


def stop_after(blocks: int) -> object:
    """A `tell` that breaks a run off when so many blocks are done."""

    def tell(stage: str, done: int, total: int) -> None:
        if stage == "tracking frames" and done >= min(16 * blocks, total):
            raise Stops

    return tell


def wait_for_blocks(process: "subprocess.Popen[bytes]", out: Path, n_blocks: int) -> int:
    """Wait until a run has finished so many blocks, or has ended, and say how many it has."""
    deadline = time.monotonic() + 120
    while (n := len(list((partial_of(out) / "pairs").glob("*.npz")))) < n_blocks and time.monotonic() < deadline:
        if process.poll() is not None:
            break
        time.sleep(0.02)
    return n


@pytest.mark.parametrize("options", [["--method", "SM"], ["--calibration", "none", "--ctc"]], ids=["SM", "JP with CTC"])
def test_a_run_killed_at_random_moments_ends_with_the_same_bytes(
    zarr: Path, tmp_path: Path, options: list[str]
) -> None:
    """Early, midway, and while the tables are written, when all 19 blocks are there."""
    command, moments = ["track", str(zarr), "-q", *options], random.Random(4)
    kept = []
    for n_blocks in (1, 8, 19):
        process = subprocess.Popen(dunno(*command, "-o", tmp_path / "out", "--resume"))
        wait_for_blocks(process, tmp_path / "out", n_blocks)
        time.sleep(moments.uniform(0, 0.2))
        process.kill()
        if process.wait() == 0 or not partial_of(tmp_path / "out").exists():
            break  # it was done before it was killed
        kept.append(wait_for_blocks(process, tmp_path / "out", 0))
    assert run([*command, "-o", str(tmp_path / "out"), "--resume"]) == 0
    assert run([*command, "-o", str(tmp_path / "whole")]) == 0
    assert kept and kept == sorted(kept)
    assert content(tmp_path / "out") == content(tmp_path / "whole")
    assert not partial_of(tmp_path / "out").exists()


@pytest.mark.parametrize("after", [1, 7, 19])
def test_finished_blocks_are_not_computed_again(zarr: Path, whole: Path, tmp_path: Path, after: int) -> None:
    import dunno as package

    movie = package.read(zarr)
    tracker = Tracker(method="SM", workers=1)
    with pytest.raises(Stops):
        track_into(tracker, movie, tmp_path / "out", tell=stop_after(after))
    times = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out.partial" / "pairs").glob("*.npz")}
    assert after <= len(times) <= after + 2  # what was in flight may be there too
    told = []
    track_into(tracker, movie, tmp_path / "out", resume=True, tell=lambda *each: told.append(each))
    assert told[0] == ("checking frames", 0, 300)
    tracking = [each for each in told if each[0] != "checking frames"]
    assert tracking[0] == ("tracking frames", min(16 * len(times), 299), 299)
    assert {name: (tmp_path / "out" / "pairs" / name).stat().st_mtime_ns for name in times} == times
    assert content(tmp_path / "out") == content(whole)


def test_a_fitted_calibration_is_not_fitted_again(small: Path, small_whole: Path, tmp_path: Path) -> None:
    import dunno as package

    movie = package.read(small)
    with pytest.raises(Stops):
        track_into(Tracker(), movie, tmp_path / "out", tell=stop_after(2))
    told = []
    track_into(Tracker(), movie, tmp_path / "out", resume=True, tell=lambda *each: told.append(each[0]))
    assert set(told) == {"checking frames", "tracking frames"}
    assert content(tmp_path / "out") == content(small_whole)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"method": "AS"}, 'was begun with method "SM", not "AS"'),
        ({"seed": 1}, "was begun with seed 0, not 1"),
        ({"max_distance": 9.0}, "was begun with max_distance null, not 9.0"),
        ({"appear_cost": 3.0}, "was begun with appear_cost null, not 3.0"),
    ],
)
def test_a_run_with_other_choices_is_not_continued(
    zarr: Path, tmp_path: Path, change: dict[str, object], reason: str
) -> None:
    import dunno as package

    movie, choices = package.read(zarr), {"method": "SM"}
    with pytest.raises(Stops):
        track_into(Tracker(**choices), movie, tmp_path / "out", tell=stop_after(1))
    with pytest.raises(InputError, match=f"out.partial: {reason}; repeat the command"):
        track_into(Tracker(**{**choices, **change}), movie, tmp_path / "out", resume=True)
    assert len(list((tmp_path / "out.partial" / "pairs").glob("*.npz"))) >= 1


def test_another_segmentation_is_not_continued(tmp_path: Path) -> None:
    with pytest.raises(Stops):
        track_into(Tracker(method="SM"), Movie(Crowd(20, 40)), tmp_path / "out", tell=stop_after(1))
    with pytest.raises(InputError, match="out.partial: frame 0: the masks have changed since they were measured"):
        track_into(Tracker(method="SM"), Movie(Crowd(20, 40, seed=1)), tmp_path / "out", resume=True)


def test_a_complete_run_is_not_repeated(zarr: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert run(["track", str(zarr), "-o", str(out), "--method", "SM", "--json"]) == 0
    first, before = capsys.readouterr().out, (out / "run.json").stat().st_mtime_ns
    assert run(["track", str(zarr), "-o", str(out), "--method", "SM", "--resume", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(first)
    assert (out / "run.json").stat().st_mtime_ns == before
    assert run(["track", str(zarr), "-o", str(out), "--method", "AS", "--resume"]) == 2
    assert 'was begun with method "SM", not "AS"' in capsys.readouterr().err


def test_starting_anew_keeps_what_was_finished_until_it_is_done(tmp_path: Path) -> None:
    movie, tracker = Movie(Crowd(20, 60)), Tracker(method="SM", workers=1)
    with pytest.raises(Stops):
        track_into(tracker, movie, tmp_path / "out", tell=stop_after(2))
    with pytest.raises(Stops):
        track_into(tracker, movie, tmp_path / "out", tell=stop_after(1))
    assert sorted(os.listdir(tmp_path)) == ["out.partial", "out.partial.old"]
    assert len(list((tmp_path / "out.partial.old" / "pairs").glob("*.npz"))) >= 2
    track_into(tracker, movie, tmp_path / "out")
    assert os.listdir(tmp_path) == ["out"]


def test_a_half_written_block_is_computed_again(tmp_path: Path) -> None:
    movie, tracker = Movie(Crowd(20, 60)), Tracker(method="SM", workers=1)
    track_into(tracker, movie, tmp_path / "whole")
    with pytest.raises(Stops):
        track_into(tracker, movie, tmp_path / "out", tell=stop_after(2))
    block = tmp_path / "out.partial" / "pairs" / "000001.npz"
    block.write_bytes(block.read_bytes()[:1000])
    track_into(tracker, movie, tmp_path / "out", resume=True)
    assert content(tmp_path / "out") == content(tmp_path / "whole")


def limit_files() -> None:
    """Let no file grow beyond 300 kB, as a full disk would not: blocks are smaller, tables larger."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))


def test_a_full_disk_stops_a_run_with_one_line_and_keeps_what_is_finished(
    zarr: Path, whole: Path, tmp_path: Path
) -> None:
    command = dunno("track", zarr, "-o", tmp_path / "out", "--method", "SM", "--workers", "1")
    starved = subprocess.run(command, preexec_fn=limit_files, capture_output=True, text=True)
    assert starved.returncode == 2
    lines = starved.stderr.strip().splitlines()
    assert "out: cannot be written (File too large)" in lines[-1]
    assert "Traceback" not in starved.stderr
    assert "Exception ignored" not in starved.stderr
    kept = len(list((tmp_path / "out.partial" / "pairs").glob("*.npz")))
    assert kept >= 1
    assert f"{kept} finished blocks are kept in" in starved.stderr
    assert "--resume" in starved.stderr
    assert run([*command[3:], "--resume", "-q"]) == 0
    assert content(tmp_path / "out") == content(whole)


def test_lost_permission_stops_a_run_with_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:

    original = block_files.write_block

    def refused(path: Path, *rest: object) -> None:
        if path.name == "000002.npz":
            raise PermissionError(13, os.strerror(13), str(path))
        original(path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(block_files, "write_block", refused)
    movie = Movie(Crowd(20, 60))
    with pytest.raises(OutputError, match="000002.npz: no permission to write there"):
        track_into(Tracker(method="SM", workers=1), movie, tmp_path / "out")
    assert len(list((tmp_path / "out.partial" / "pairs").glob("*.npz"))) >= 2


@pytest.fixture
def tiffs(tmp_path: Path) -> Path:
    """A folder of 40 frames, of which 20 cannot be read."""
    crowd = Crowd(30, 40)
    (tmp_path / "masks").mkdir()
    for t in range(40):
        tifffile.imwrite(tmp_path / "masks" / f"m{t:02d}.tif", crowd[t], compression="zlib")
    broken = tmp_path / "masks" / "m20.tif"
    broken.write_bytes(broken.read_bytes()[:200])
    return tmp_path / "masks"


@pytest.mark.parametrize("method", ["JP", "SM"])
def test_a_broken_frame_is_reported_and_the_rest_is_complete(
    tiffs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], method: str
) -> None:
    import geff

    out = tmp_path / "out"
    assert run(["track", str(tiffs), "-o", str(out), "--method", method, "--ctc"]) == 2
    last = capsys.readouterr().err.strip().splitlines()[-1]
    assert last.startswith(f"dunno: {tiffs / 'm20.tif'}: cannot be read")
    assert last.endswith("(frame 20; no links lead to it or from it)")
    told = json.loads((out / "run.json").read_text())["summary"]
    assert [each["frame"] for each in told["broken"]] == [20]
    geff.validate_structure(out / "tracks.geff")
    rows = [line.split(",") for line in (out / "detections.csv").read_text().splitlines()]
    header, cells = rows[0], rows[1:]
    at = header.index
    assert {row[at("frame")] for row in cells} == {str(t) for t in range(40) if t != 20}
    before = [row for row in cells if row[at("frame")] == "19"]
    after = [row for row in cells if row[at("frame")] == "21"]
    assert {row[at("p_disappear")] for row in before} == {""}  # nobody knows
    assert {row[at("p_appear")] for row in after} == {""}
    assert all(row[at("p_appear")] for row in before)
    assert told["links"] > 30 * 36


def test_broken_frames_do_not_mislead_the_fit(tiffs: Path, tmp_path: Path) -> None:
    import dunno as package

    crowd = Movie(Crowd(30, 40))
    sound, fitted = (Tracker().plan(movie).calibration.model for movie in (crowd, package.read(tiffs)))
    for name in ("p_lost", "motion_scale"):
        assert fitted.parameters[name].value == pytest.approx(sound.parameters[name].value, rel=0.2)


def test_a_movie_that_cannot_be_read_at_all_is_refused(tiffs: Path, tmp_path: Path) -> None:
    import dunno as package

    movie = package.read(tiffs)
    for path in sorted(tiffs.iterdir())[1:]:
        path.write_bytes(b"II*")
    with pytest.raises(MovieError, match="m01.tif: cannot be read"):
        track_into(Tracker(), movie, tmp_path / "out")
    assert not partial_of(tmp_path / "out").exists()


def test_what_is_wrong_with_no_frame_is_no_broken_frame(colony: Movie) -> None:
    plan = Tracker("activity", "SM", calibration=None, max_distance=3).plan(colony)
    with pytest.raises(MovieError, match="has masks but no images"):
        track_readable_frames(replace(plan), Span(colony, 0, 2))


@pytest.mark.parametrize("workers", [2, 4])
def test_any_number_of_threads_gives_the_same_bytes(
    small: Path, small_whole: Path, tmp_path: Path, workers: int
) -> None:
    import dunno as package

    track_into(Tracker(workers=workers), package.read(small), tmp_path / "many")
    assert content(small_whole) == content(tmp_path / "many")


def test_processes_give_the_same_bytes(small: Path, small_whole: Path, tmp_path: Path) -> None:
    import dunno as package

    with open_pool(2, processes=True) as pool:
        track_into(Tracker(executor=pool), package.read(small), tmp_path / "many")
    assert content(small_whole) == content(tmp_path / "many")


def test_many_workers_are_processes_where_that_pays(zarr: Path) -> None:
    import dunno as package

    movie, tracker = package.read(zarr), Tracker(method="SM")
    assert pays_in_processes(tracker, movie, 4)
    assert not pays_in_processes(tracker, movie, 2)  # too short for the start of a process
    assert not pays_in_processes(tracker, movie, 1)
    assert not pays_in_processes(tracker, movie, 8)  # too few blocks
    assert not pays_in_processes(tracker, Movie(np.ones((400, 4, 4), int)), 4)  # pixels would have to be sent
    assert not pays_in_processes(Tracker(lambda pair, m, d: m * 1.0, "SM"), movie, 4)  # does not pickle


def test_two_workers_are_processes_on_a_long_movie(tmp_path: Path) -> None:
    import dunno as package

    Crowd(1, 1200).save(tmp_path / "long.zarr")
    movie, tracker = package.read(tmp_path / "long.zarr"), Tracker(method="SM")
    assert pays_in_processes(tracker, movie, 2)
    assert not pays_in_processes(tracker, movie, 1)
    assert not pays_in_processes(tracker, movie.part(slice(0, 1000)), 2)


def test_the_command_line_gives_the_same_bytes_with_many_workers(zarr: Path, tmp_path: Path) -> None:
    for workers in (1, 4):
        place = str(tmp_path / f"{workers}")
        assert run(["track", str(zarr), "-o", place, "--method", "AS", "--workers", str(workers), "-q"]) == 0
    assert content(tmp_path / "1") == content(tmp_path / "4")


def test_worker_processes_end_with_a_killed_run(tmp_path: Path) -> None:
    import psutil

    script = (
        "from dunno.work.schedule import open_pool; import time, os\n"
        "if __name__ == '__main__':\n"
        "    with open_pool(2, processes=True) as pool:\n"
        "        print(pool.submit(os.getpid).result(), flush=True); time.sleep(60)\n"
    )
    (tmp_path / "main.py").write_text(script)
    process = subprocess.Popen([sys.executable, tmp_path / "main.py"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    worker = int(process.stdout.readline())
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    deadline = time.monotonic() + 20
    while psutil.pid_exists(worker) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not psutil.pid_exists(worker)


class Shares(Executor):
    """Counts how much is sent to it."""

    def __init__(self, executor: Executor) -> None:
        self.executor = executor
        self.largest = 0

    def submit(self, function: Any, /, *arguments: Any) -> "Future[Any]":
        self.largest = max(self.largest, len(pickle.dumps((function, arguments))))
        return self.executor.submit(function, *arguments)


def test_arrays_are_not_sent_whole_with_every_block(tmp_path: Path) -> None:
    masks = np.stack([Crowd(20, 200)[t] for t in range(200)])
    with open_pool(2) as threads:
        shares = Shares(threads)
        track_into(Tracker(method="SM", executor=shares, workers=2), Movie(masks), tmp_path / "out")
    assert 0 < shares.largest < masks.nbytes / 8
    assert sum(len(block.own) for block in linked_blocks(tmp_path / "out")) == 199


def test_an_unfinished_replacement_is_continued_and_not_the_output_it_replaces(small: Path, tmp_path: Path) -> None:
    import dunno as package

    movie = package.read(small)
    track_into(Tracker(method="SM"), movie, tmp_path / "out")
    with pytest.raises(Stops):
        track_into(Tracker(method="AS"), movie, tmp_path / "out", overwrite=True, tell=stop_after(1))
    assert json.loads((tmp_path / "out" / "run.json").read_text())["parameters"]["method"] == "SM"
    found = track_into(Tracker(method="AS"), movie, tmp_path / "out", overwrite=True, resume=True)
    assert found.about["method"] == "AS"
    assert json.loads((tmp_path / "out" / "run.json").read_text())["parameters"]["method"] == "AS"
    assert os.listdir(tmp_path) == ["out"]


def test_an_output_that_is_a_link_is_replaced_and_continued_where_it_leads(small: Path, tmp_path: Path) -> None:
    command = ["track", str(small), "-o", str(tmp_path / "out"), "--method", "SM", "-q"]
    (tmp_path / "disk").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "disk" / "first")
    assert run([*command, "--overwrite"]) == 0
    with pytest.raises(Stops):
        track_into(Tracker(method="SM"), read(small), tmp_path / "out", overwrite=True, tell=stop_after(1))
    assert (tmp_path / "disk" / "first.partial" / "pairs").is_dir()
    assert run([*command, "--overwrite", "--resume"]) == 0
    assert (tmp_path / "out").is_symlink()
    assert os.listdir(tmp_path / "disk") == ["first"]


def test_a_folder_does_not_replace_a_file(small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "out").write_text("years of work")
    with pytest.raises(OutputError, match="out: is a file, and what is written is a folder; choose another name"):
        track_into(Tracker(), Movie(Crowd(20, 40, seed=1)), tmp_path / "out", overwrite=True)
    assert run(["track", str(tmp_path / "no movie"), "-o", str(tmp_path / "out"), "--overwrite"]) == 2
    assert "out: is a file" in capsys.readouterr().err
    assert (tmp_path / "out").read_text() == "years of work"


def stopped_run(movie: Movie, folder: Path) -> Path:
    """What a run leaves that was stopped before its last step: all blocks, and the plan."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dunno.runs.run.Run.to_dict", lambda run: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            track_into(Tracker(method="SM", workers=1), movie, folder)
    return partial_of(folder)


def test_a_damaged_block_is_computed_again(tmp_path: Path) -> None:
    movie, tracker = Movie(np.ones((4, 3, 3), np.uint8)), Tracker(method="SM", workers=1)
    track_into(tracker, movie, tmp_path / "whole")
    block = block_files.block_file(stopped_run(movie, tmp_path / "out") / "pairs", 0)
    cells = block_files.block_file(partial_of(tmp_path / "out") / "cells", 0)
    for path, name in ((block, "frames"), (cells, "frames")):
        with np.load(path) as stored:
            np.savez(path, **{**stored, name: np.zeros(0, np.int64)})
    track_into(tracker, movie, tmp_path / "out", resume=True)
    expected = [block.probability.tolist() for block in linked_blocks(tmp_path / "whole")]
    assert [block.probability.tolist() for block in linked_blocks(tmp_path / "out")] == expected


def test_a_complete_output_with_a_damaged_block_is_not_taken_for_complete(tmp_path: Path) -> None:
    movie, tracker = Movie(np.ones((4, 3, 3), np.uint8)), Tracker(method="SM", workers=1)
    track_into(tracker, movie, tmp_path / "out")
    block_files.block_file(tmp_path / "out" / "pairs", 0).write_bytes(b"PK")
    with pytest.raises(InputError, match="000000.npz: cannot be read .*; track the movie again"):
        track_into(tracker, movie, tmp_path / "out", resume=True)


@pytest.mark.parametrize(
    "content",
    ["[]", "3", "{}", '{"parameters": 3}', "[" * 100_000, '{"parameters": {}, "gate": "x", "max_distance": 1}'],
)
def test_a_plan_of_another_form_gets_one_clear_line(tmp_path: Path, content: str) -> None:
    movie = Movie(np.ones((4, 3, 3), np.uint8))
    (stopped_run(movie, tmp_path / "out") / "plan.json").write_text(content)
    with pytest.raises(InputError, match="start anew without --resume") as caught:
        track_into(Tracker(method="SM", workers=1), movie, tmp_path / "out", resume=True)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("wrong", [{"summary": 3}, {"summary": {"cells": 1}}, {"timings": []}, {"parameters": []}])
def test_a_run_json_of_another_form_gets_one_clear_line(tmp_path: Path, wrong: dict[str, Any]) -> None:
    movie, tracker = Movie(np.ones((4, 3, 3), np.uint8)), Tracker(method="SM", workers=1)
    track_into(tracker, movie, tmp_path / "out")
    path = tmp_path / "out" / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **wrong}))
    with pytest.raises(InputError):
        track_into(tracker, movie, tmp_path / "out", resume=True)
