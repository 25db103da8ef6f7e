"""Many movies at once."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import zarr

from benchmarks.crowd import Crowd
from dunno import read
from dunno.cli import run
from dunno.errors import InputError, MovieError
from dunno.runs.plate import find_movies, is_many, track_movies
from dunno.runs.run import Run
from dunno.work.progress import ignore_progress
from dunno.work.schedule import open_pool

from .test_run import content


@pytest.fixture
def plate(tmp_path: Path) -> Path:
    """Three wells of 20 frames."""
    for seed, well in enumerate(("A1", "A2", "A10")):
        (tmp_path / "plate" / well).mkdir(parents=True)
        Crowd(12, 20, seed=seed).save(tmp_path / "plate" / well / "masks")
    return tmp_path / "plate"


def rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "summary.csv").open() as file:
        return list(csv.DictReader(file))


def test_movies_are_named_by_what_tells_them_apart(plate: Path) -> None:
    assert list(find_movies([plate / "*" / "masks"])) == ["A1", "A2", "A10"]
    assert list(find_movies([plate / "A1" / "masks", plate / "A2" / "masks"])) == ["A1", "A2"]
    assert list(find_movies([plate / "A1*" / "masks"])) == ["A1", "A10"]
    assert list(find_movies([plate / "A2*" / "masks"])) == ["A2"]
    assert list(find_movies([Path("x/one.tif"), Path("x/two.tif")])) == ["one", "two"]
    assert is_many([plate / "*"])
    assert not is_many([plate / "A1" / "masks"])


def test_a_pattern_without_a_match_and_a_movie_given_twice_are_refused(plate: Path) -> None:
    with pytest.raises(InputError, match="matches nothing; put the pattern in quotes"):
        find_movies([plate / "B*" / "masks"])
    with pytest.raises(InputError, match="two movies would both be called A1"):
        find_movies([plate / "A1" / "masks", plate / "A1" / "masks", plate / "A2" / "masks"])


def test_a_plate_gives_a_folder_per_movie_and_one_table(
    plate: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert run(["track", str(plate / "*" / "masks"), "-o", str(out), "--method", "SM", "--workers", "2"]) == 0
    printed = capsys.readouterr().out
    assert "3 movies" in printed
    table = rows(out)
    assert [row["name"] for row in table] == ["A1", "A2", "A10"]
    assert {row["state"] for row in table} == {"done"}
    assert {row["probabilities"] for row in table} <= {"supported", "untested", "contradicted"}
    for row in table:
        told = json.loads((out / row["name"] / "run.json").read_text())["summary"]
        assert int(row["links"]) == told["links"] > 200
    assert run(["track", str(plate / "A2" / "masks"), "-o", str(tmp_path / "alone"), "--method", "SM", "-q"]) == 0
    assert content(tmp_path / "alone") == content(out / "A2")


def test_a_movie_that_fails_is_reported_at_the_end_and_continues_when_mended(
    plate: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chunk = plate / "A2" / "masks" / "zarr.json"
    good = chunk.read_text()
    chunk.write_text("{}")
    out = tmp_path / "out"
    command = ["track", str(plate / "*" / "masks"), "-o", str(out), "--method", "SM", "-q"]
    assert run(command) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert line.startswith("dunno: A2: ")
    assert str(plate / "A2" / "masks") in line
    assert [row["state"] for row in rows(out)] == ["done", "failed", "done"]
    assert rows(out)[1]["problem"] in line
    chunk.write_text(good)
    assert run(command) == 2
    assert "exists already" in capsys.readouterr().err
    before = (out / "A1" / "run.json").stat().st_mtime_ns
    assert run([*command, "--resume"]) == 0
    assert [row["state"] for row in rows(out)] == ["done", "done", "done"]
    assert (out / "A1" / "run.json").stat().st_mtime_ns == before
    assert not [name for name in os.listdir(out) if name.endswith(".partial")]


def test_a_movie_that_needs_too_much_memory_is_no_bug(tmp_path: Path) -> None:
    def work(movie: Path, folder: Path) -> Run:
        raise MemoryError("std::bad_alloc")

    with open_pool(1) as pool:
        (found,) = track_movies(work, {"a": tmp_path}, tmp_path, pool, ignore_progress)
    assert not found.bug
    assert found.problem.startswith("the memory is not enough (std::bad_alloc); what helps: a smaller part")


def test_what_is_for_one_movie_is_refused_for_many(
    plate: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    movies = [str(plate / well / "masks") for well in ("A1", "A2")]
    assert run(["track", *movies, "-o", str(tmp_path / "out"), "--links", "links.csv"]) == 2
    assert "--links links.csv: is for one movie" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_many_movies_do_not_go_into_the_output_of_one(
    plate: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "out")
    assert run(["track", str(plate / "A1" / "masks"), "-o", out, "--method", "SM", "-q"]) == 0
    assert run(["track", str(plate / "*" / "masks"), "-o", out, "--method", "SM", "--overwrite"]) == 2
    assert "is the output of one movie" in capsys.readouterr().err


def test_json_has_every_movie(plate: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["track", str(plate / "*" / "masks"), "-o", str(tmp_path / "out"), "--method", "SM", "--json"]) == 0
    captured = capsys.readouterr()
    assert [each["name"] for each in json.loads(captured.out)] == ["A1", "A2", "A10"]
    lines = [json.loads(line) for line in captured.err.splitlines() if line.startswith("{")]
    assert lines[-1]["stage"] == "tracking movies"
    assert (lines[-1]["done"], lines[-1]["total"]) == (3, 3)


def test_control_c_ends_a_plate_at_once_and_it_continues(tmp_path: Path) -> None:
    for seed in range(3):
        Crowd(20, 300, seed=seed).save(tmp_path / "plate" / f"{seed}.zarr")
    out = tmp_path / "out"
    command = [sys.executable, "-m", "dunno", "track", str(tmp_path / "plate" / "*.zarr"), "-o", str(out), "-q"]
    command += ["--method", "SM", "--workers", "2"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not any(out.glob("*.partial/pairs/*.npz")) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert any(out.glob("*.partial/pairs/*.npz"))
    assert run([*command[3:], "--resume"]) == 0
    assert [row["state"] for row in rows(out)] == ["done"] * 3


def ome_plate(path: Path, zarr_format: int) -> Path:
    """Two wells with two fields each, one without metadata of its image."""
    root = zarr.open_group(path, mode="w", zarr_format=zarr_format)
    wells = [{"path": "A/1", "rowIndex": 0, "columnIndex": 0}, {"path": "B/3", "rowIndex": 1, "columnIndex": 1}]
    named = {"columns": [{"name": "1"}, {"name": "3"}], "rows": [{"name": "A"}, {"name": "B"}], "wells": wells}
    plate = {"plate": {**named, "version": "0.5"}}
    root.attrs.update({"ome": plate} if zarr_format == 3 else plate)
    axes = [{"name": "t", "type": "time"}, {"name": "y", "type": "space"}, {"name": "x", "type": "space"}]
    for seed, well in enumerate(("A/1", "B/3")):
        group = root.create_group(well)
        about = {"well": {"images": [{"path": "0"}, {"path": "1"}]}}
        group.attrs.update({"ome": about} if zarr_format == 3 else about)
        for field in ("0", "1"):
            crowd = Crowd(6, 3, seed=seed + int(field))
            image = group.create_group(field)
            cells = image.create_group("labels/cells")
            level = {"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [1.0, 0.5, 0.5]}]}
            for each in (image, cells):
                meta = {"multiscales": [{"axes": axes, "datasets": [level]}]}
                each.attrs.update({"ome": meta} if zarr_format == 3 else meta)
                each.create_array("0", data=np.stack([crowd[t] for t in range(3)]))
    return path


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_an_ome_zarr_plate_is_many_movies(tmp_path: Path, zarr_format: int) -> None:
    plate = ome_plate(tmp_path / "plate.zarr", zarr_format)
    assert is_many([plate])
    assert list(find_movies([plate])) == ["A_1_0", "A_1_1", "B_3_0", "B_3_1"]
    with pytest.raises(
        MovieError, match="is a plate of 4 fields; dunno track takes it as a whole, and one field is .*/A/1/0"
    ):
        read(plate)
    assert read(plate / "A" / "1" / "0").scale == (0.5, 0.5)
    assert run(["track", str(plate), "-o", str(tmp_path / "out"), "-q", "--calibration", "none", "--workers", "1"]) == 0
    assert [row["name"] for row in rows(tmp_path / "out")] == ["A_1_0", "A_1_1", "B_3_0", "B_3_1"]


def test_an_incomplete_plate_is_named(tmp_path: Path) -> None:
    root = zarr.open_group(tmp_path / "plate.zarr", mode="w", zarr_format=3)
    root.attrs.update({"ome": {"plate": {"wells": [{"path": "A/1"}]}}})
    with pytest.raises(
        MovieError, match="plate.zarr: its plate metadata are incomplete; expected wells, and images in each"
    ):
        is_many([tmp_path / "plate.zarr"])
