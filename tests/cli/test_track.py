import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import geff
import numpy as np
import pytest
import tifffile

from dunno.cli import run
from dunno.costs.activity import Activity
from dunno.simulate import colony as simulate

from ..conftest import COLONY


@pytest.fixture
def movie(tmp_path: Path) -> Path:
    """A folder of three frames."""
    folder = tmp_path / "masks"
    folder.mkdir()
    for t, frame in enumerate(COLONY):
        tifffile.imwrite(folder / f"m{t}.tif", frame)
    return folder


def complaint(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """The one line that a wrong call gives; everything before it must be a note."""
    assert run([str(argument) for argument in arguments]) == 2
    captured = capsys.readouterr()
    *notes, line = captured.err.strip().splitlines()
    assert captured.out == ""
    assert all(text.startswith("note: ") for text in notes)
    assert line.startswith("dunno: ")
    return line


def test_a_movie_is_tracked_into_files_that_other_tools_open(
    movie: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert run(["track", str(movie), "-o", str(out), "--max-distance", "2.5", "--ctc", "--method", "SM"]) == 0
    assert sorted(path.name for path in out.iterdir()) == [
        "calibration.json",
        "cells",
        "ctc",
        "detections.csv",
        "edges.csv",
        "pairs",
        "run.json",
        "tracks.csv",
        "tracks.geff",
    ]
    geff.validate_structure(out / "tracks.geff")
    assert (out / "edges.csv").read_text().splitlines()[1].startswith("0,1,1,1,0,0.9")
    printed = capsys.readouterr().out
    assert "untested" in printed
    assert "The least certain cells" in printed
    about = json.loads((out / "run.json").read_text())
    assert about["schema"] == 2
    assert about["step"] == 1
    assert about["calibrated"] is False
    assert about["mask_source"] == str(movie)
    assert about["parameters"]["max_distance"] == 2.5
    assert about["summary"]["links"] == 6
    assert about["summary"]["cells"] == 11
    assert about["timings"]["seconds"] > 0


def test_json_is_for_machines_and_quiet_says_nothing(
    movie: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["track", str(movie), "-o", str(tmp_path / "a"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["summary"]["frames"] == 3
    assert run(["track", str(movie), "-o", str(tmp_path / "b"), "--quiet"]) == 0
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_progress_is_told_to_machines_and_kept_in_a_log(
    movie: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["track", str(movie), "-o", str(tmp_path / "out"), "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines() if line.startswith("{")]
    names = ["stage", "done", "total", "seconds", "per_second", "seconds_left", "memory"]
    assert all(list(line) == names for line in lines)
    assert lines[0]["stage"] == "measuring frames"
    assert (lines[-1]["stage"], lines[-1]["done"], lines[-1]["total"]) == ("tracking frames", 2, 2)
    assert lines[-1]["memory"] > 10 << 20
    log = (tmp_path / "out.log").read_text().splitlines()
    assert any("fitting the model" in line for line in log)
    assert "tracking frames: 2 of 2" in log[-2]
    assert log[-1].endswith("  done")


def test_options_reach_the_tracker(movie: Path, tmp_path: Path) -> None:
    options = "--every 2 --scale 2,0.5 --interval 5 --seed 3 --workers 1 --appear-cost 9 --divide-cost 1".split()
    assert run(["track", str(movie), "-o", str(tmp_path / "out"), "-q", *options]) == 0
    about = json.loads((tmp_path / "out" / "run.json").read_text())["parameters"]
    assert (about["step"], about["scale"], about["interval"], about["seed"]) == (2, [2.0, 0.5], 10.0, 3)
    assert (about["appear_cost"], about["disappear_cost"], about["divide_cost"]) == (9.0, None, 1.0)


def test_the_summary_counts_what_is_in_the_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    simulate(cells=8, frames=12, motion=0.4).save(tmp_path / "01")
    assert run(["track", str(tmp_path / "01"), "-o", str(tmp_path / "out"), "--json"]) == 0
    captured = capsys.readouterr()
    assert "markers" in captured.err
    summary = json.loads(captured.out)["summary"]
    edges = np.genfromtxt(tmp_path / "out" / "edges.csv", delimiter=",", names=True)
    cells = np.genfromtxt(tmp_path / "out" / "detections.csv", delimiter=",", names=True)
    assert summary["cells"] == len(cells)
    assert summary["candidates"] == len(edges)
    assert summary["links"] == edges["selected"].sum()
    assert summary["tracks"] == len(np.unique(cells["track"]))
    links = edges["probability"][edges["selected"] == 1]
    assert summary["mean_confidence"] == pytest.approx(links.mean())
    assert summary["least_certain"][0]["probability"] == pytest.approx(links.min())
    table = np.genfromtxt(tmp_path / "out" / "tracks.csv", delimiter=",", names=True, dtype=None, encoding="utf-8")
    assert summary["divisions"] == (table["ending"] == "division").sum() == len(set(table["mother_track"]) - {0})
    assert summary["cells_at_start"] == (cells["frame"] == 0).sum()
    assert summary["cells_at_end"] == (cells["frame"] == 11).sum()
    whole = ((table["first_frame"] == 0) | (table["mother_track"] > 0)) & np.isin(table["ending"], ["division", "end"])
    assert summary["whole_tracks"] == whole.sum() > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--cost", "nearest"],
            "there is no cost 'nearest'; there are .*distance.*, and your own as package.module:Class",
        ),
        (["--method", "guess"], "there is no method 'guess'; there are .*SM"),
        (["--max-distance", "nan"], "max_distance is nan; expected a distance above zero, or inf"),
        (["--max-distance", "-3"], "max_distance is -3.0; expected a distance above zero"),
        (["--every", "0"], "expected a step of at least 1"),
        (["--every", "3"], "the movie has one frame; tracking needs at least two"),
        (["--scale", "a,b"], "--scale a,b: expected numbers separated by commas"),
        (["--scale", "1,2,3"], "3 scale values for 2 dimensions; expected y,x"),
        (["--masks", "nowhere"], "nowhere: there is no such file or folder; --masks"),
        (["--workers", "0"], "workers is 0; expected at least 1"),
        (["--method", "SM", "--disappear-cost", "1", "--divide-cost", "-5"], "solve needs divide >= -disappear"),
        (["--seed", "x"], "Invalid value for '--seed'"),
        (["--seed", "-1"], "seed is -1; expected a whole number, zero or more"),
        (["--cost", "dunno.types:Movie"], "Movie cannot be made without arguments"),
    ],
)
def test_wrong_options_get_one_clear_line_and_leave_nothing(
    movie: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    line = complaint(capsys, "track", movie, "-o", tmp_path / "out", *options)
    assert re.search(message, line), line
    assert os.listdir(tmp_path) == ["masks"]


def damage(folder: Path, kind: str) -> Path:
    """Make a movie wrong in one way."""
    frame = folder / "m1.tif"
    if kind == "missing":
        return folder.parent / "nowhere"
    if kind == "empty":
        empty = folder.parent / "empty"
        empty.mkdir()
        return empty
    if kind == "shape":
        tifffile.imwrite(frame, COLONY[0][:, :9])
    if kind == "negative":
        tifffile.imwrite(frame, -COLONY[1].astype(np.int16))
    if kind == "fraction":
        tifffile.imwrite(frame, COLONY[1] / np.float32(2))
    if kind == "truncated":
        frame.write_bytes(frame.read_bytes()[:100])
    if kind == "one frame":
        frame.unlink()
        (folder / "m2.tif").unlink()
    if kind == "images only":
        images = folder.parent / "01"
        images.mkdir()
        tifffile.imwrite(images / "t000.tif", COLONY[0])
        return images
    if kind == "counts":
        images = folder.parent / "images"
        images.mkdir()
        tifffile.imwrite(images / "t000.tif", COLONY[0])
        return images
    return folder


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("missing", "nowhere: there is no such file or folder"),
        ("empty", "empty: holds no .npy, .png, .tif, .tiff files; expected one mask image per frame"),
        ("shape", "m1.tif: a frame of shape (6, 9), but the movie's first one has (6, 12)"),
        ("negative", "m1.tif: a negative label, -1; labels are positive and the background is 0"),
        ("fraction", "m1.tif: 0.5 is not a whole number, so these are no labels"),
        ("truncated", "m1.tif: cannot be read"),
        ("one frame", "the movie has one frame; tracking needs at least two"),
        ("images only", "there are no masks beside it in 01_ST/SEG, 01_GT/TRA or 01_RES"),
    ],
)
def test_wrong_movies_get_one_clear_line_and_leave_nothing(
    movie: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str, message: str
) -> None:
    wrong = damage(movie, kind)
    before = sorted(os.listdir(tmp_path))
    assert message in complaint(capsys, "track", wrong, "-o", tmp_path / "out")
    assert sorted(os.listdir(tmp_path)) == before


def test_images_and_masks_that_do_not_match_are_refused(
    movie: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    images = damage(movie, "counts")
    line = complaint(capsys, "track", images, "--masks", movie, "-o", tmp_path / "out")
    assert "3 mask frames but 1 image frames; every frame needs one of each" in line


def test_an_existing_output_is_kept_unless_told(
    movie: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert run(["track", str(movie), "-o", str(out), "-q"]) == 0
    (out / "mine.txt").write_text("a note")
    line = complaint(capsys, "track", movie, "-o", out)
    assert "out: exists already; choose another name, or replace it with --overwrite" in line
    assert (out / "mine.txt").exists()
    assert run(["track", str(movie), "-o", str(out), "-q", "--overwrite"]) == 0
    assert not (out / "mine.txt").exists()


def test_an_output_without_permission_is_named(movie: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = complaint(capsys, "track", movie, "-o", "/proc/out")
    assert "/proc/out: " in line


def test_a_bug_is_no_input_error(movie: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dunno.io.writers.csv.edge_columns", lambda pair: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run(["track", str(movie), "-o", str(tmp_path / "out"), "-q"])
    assert sorted(os.listdir(tmp_path)) == ["masks", "out.log", "out.partial"]  # what is computed is kept


def await_block(partial: Path) -> None:
    """Wait until a run has finished something."""
    deadline = time.monotonic() + 60
    while not any(partial.glob("pairs/*.npz")) and time.monotonic() < deadline:
        time.sleep(0.01)


def test_control_c_stops_it_and_keeps_what_is_finished(tmp_path: Path) -> None:
    simulate(cells=30, frames=3).save(tmp_path / "01")
    for t in range(3, 3000):
        for place, name in (("01", "t"), ("01_GT/TRA", "man_track")):
            os.link(tmp_path / place / f"{name}{t % 3:03d}.tif", tmp_path / place / f"{name}{t:03d}.tif")
    command = [sys.executable, "-m", "dunno", "track", str(tmp_path / "01"), "-o", str(tmp_path / "out")]
    command += ["--calibration", "none"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    await_block(tmp_path / "out.partial")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "dunno: stopped; nothing was left half-written" in errors
    assert "the same command with --resume continues there" in errors
    assert "Traceback" not in errors
    assert sorted(os.listdir(tmp_path)) == ["01", "01_GT", "out.log", "out.partial"]
    assert "stopped: KeyboardInterrupt" in (tmp_path / "out.log").read_text()


def test_somebody_elses_links_are_judged_and_what_fails_is_listed(
    movie: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = "".join(f"2,{mother},0,1\n" for mother in range(1, 13))
    (tmp_path / "links.csv").write_text(f"mother_frame,mother,frame,daughter\n0,1,1,3\n{rows}")
    out = tmp_path / "out"
    assert (
        run(["track", str(movie), "-o", str(out), "--links", str(tmp_path / "links.csv"), "--max-distance", "2.5"]) == 0
    )
    said = capsys.readouterr().err
    assert "1 links from" in said
    assert "12 could not be matched" in said
    assert "does not lead to a later frame" in said
    assert len((out / "unmatched_links.txt").read_text().splitlines()) == 12
    selected = [line for line in (out / "edges.csv").read_text().splitlines() if line.endswith(",1")]
    assert [line.split(",")[:4] for line in selected] == [["0", "1", "1", "3"]]
    about = json.loads((out / "run.json").read_text())["parameters"]
    assert about["links"].endswith("links.csv")
    assert about["links_unmatched"] == 12


def test_features_come_from_a_table(movie: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["track", str(movie), "-o", str(tmp_path / "one"), "-q"]) == 0
    cells = (tmp_path / "one" / "detections.csv").read_text().splitlines()
    table = ["frame,label,y,x"] + [",".join(row.split(",")[i] for i in (0, 1, 3, 4)) for row in cells[1:]]
    (tmp_path / "features.csv").write_text("\n".join(table))
    options = [
        "--features",
        str(tmp_path / "features.csv"),
        "--max-distance",
        "3",
        "--appear-cost",
        "4.5",
        "--method",
        "SM",
    ]
    embedded = [
        "track",
        str(movie),
        "-o",
        str(tmp_path / "two"),
        "-q",
        "--cost",
        "embedding",
        "--disappear-cost",
        "4.5",
        "--calibration",
        "none",
    ]
    assert run([*embedded, *options]) == 0
    plain = ["--max-distance", "3", "--method", "SM", "--calibration", "none"]
    assert run(["track", str(movie), "-o", str(tmp_path / "three"), "-q", *plain]) == 0
    edges = [(tmp_path / name / "edges.csv").read_text() for name in ("two", "three")]
    assert edges[0] == edges[1]  # the places as features are the distance cost
    assert "only --cost embedding compares features" in complaint(
        capsys, "track", movie, "-o", tmp_path / "x", "--features", tmp_path / "features.csv"
    )


def test_methods_and_perturbations_are_chosen_by_name(movie: Path, tmp_path: Path) -> None:
    options = ["--method", "FP", "--samples", "3", "--perturbation", "shift", "--cost", "overlap"]
    assert run(["track", str(movie), "-o", str(tmp_path / "out"), "-q", *options]) == 0
    about = json.loads((tmp_path / "out" / "run.json").read_text())["parameters"]
    assert (about["method"], about["method_parameters"]) == ("FP", {"samples": 3})
    assert (about["perturbation"], about["perturbation_parameters"]) == ("shift", {"amplitude": 1})


@pytest.mark.parametrize("place", ["edges.csv", "ctc", "tracks.geff"])
def test_links_from_any_format_are_judged_end_to_end(movie: Path, tmp_path: Path, place: str) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    own = ["--ctc", "--method", "SM", "--max-distance", "2.5"]
    assert run(["track", str(movie), "-o", str(first), "-q", *own]) == 0
    judge = ["--links", str(first / place), "--method", "MC", "--samples", "50", "--max-distance", "2.5"]
    assert run(["track", str(movie), "-o", str(second), *judge]) == 0
    columns = [[row.split(",") for row in (out / "edges.csv").read_text().splitlines()[1:]] for out in (first, second)]
    links = [{tuple(row[:4]) for row in rows if row[6] == "1"} for rows in columns]
    assert links[0] == links[1]
    assert any(row[5] not in ("0", "1") for row in columns[1] if row[6] == "1")
    assert json.loads((second / "run.json").read_text())["parameters"]["links_unmatched"] == 0


def test_links_that_all_fail_are_refused(movie: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "links.csv").write_text("mother_frame,mother,frame,daughter\n0,77,1,1\n")
    line = complaint(capsys, "track", movie, "-o", tmp_path / "out", "--links", tmp_path / "links.csv")
    assert "none of its 1 links could be matched; the first: 77 in frame 0" in line


def test_an_output_around_the_movie_is_refused(movie: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "run.json").write_text('{"dunno": "0"}')
    line = complaint(capsys, "track", movie, "-o", tmp_path, "--overwrite")
    assert "holds the movie itself" in line
    assert movie.is_dir()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_being_ended_keeps_what_is_finished(tmp_path: Path, number: int, code: int) -> None:
    simulate(cells=30, frames=3).save(tmp_path / "01")
    for t in range(3, 2000):
        for place, name in (("01", "t"), ("01_GT/TRA", "man_track")):
            os.link(tmp_path / place / f"{name}{t % 3:03d}.tif", tmp_path / place / f"{name}{t:03d}.tif")
    command = [
        sys.executable,
        "-m",
        "dunno",
        "track",
        str(tmp_path / "01"),
        "-o",
        str(tmp_path / "out"),
        "--method",
        "SM",
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    await_block(tmp_path / "out.partial")
    process.send_signal(number)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == code
    assert "Traceback" not in errors
    assert sorted(os.listdir(tmp_path)) == ["01", "01_GT", "out.log", "out.partial"]


def test_an_ensemble_has_the_members_that_are_named(
    movie: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tifffile.imwrite(tmp_path / "other.tif", np.stack(COLONY), photometric="minisblack")
    options = ["--method", "FP", "--perturbation", "ensemble", "--samples", "2", "--calibration", "none", "-q"]
    members = ["--members", str(movie), "--members", str(tmp_path / "other.tif")]
    assert run(["track", str(movie), "-o", str(tmp_path / "out"), *options, *members]) == 0
    assert json.loads((tmp_path / "out" / "run.json").read_text())["parameters"]["perturbation"] == "ensemble"
    line = complaint(capsys, "track", movie, "-o", tmp_path / "no", *options)
    assert "the ensemble has no members; name them with --members" in line
    line = complaint(capsys, "track", movie, "-o", tmp_path / "no", *members)
    assert "only --perturbation ensemble has members" in line


def test_parameters_of_costs_and_perturbations_are_options(
    movie: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--method", "FP", "--calibration", "none", "-q", "--precision", "0.25"]
    for n, (name, strength, parameters) in enumerate(
        (("gaussian", "0.3", {"variance": 0.3}), ("border", "2", {"amplitude": 2}), ("shift", "3", {"amplitude": 3}))
    ):
        chosen = ["--perturbation", name, "--strength", strength]
        assert run(["track", str(movie), "-o", str(tmp_path / f"{n}"), *options, *chosen]) == 0
        about = json.loads((tmp_path / f"{n}" / "run.json").read_text())["parameters"]
        assert about["perturbation_parameters"] == parameters
        assert about["cost_parameters"]["precision"] == 0.25
    for wrong, message in (
        (["--strength", "1"], "name the --perturbation that it belongs to"),
        (["--strength", "1", "--perturbation", "ensemble"], "ensemble has no variance or amplitude or rate"),
        (["--cost", "overlap", "--precision", "2"], "--precision 2: overlap has no precision"),
        (["--precision", "2"], "would have no effect: self-calibration fits it"),
        (["--precision", "nan", "--calibration", "none"], "precision is nan"),
    ):
        assert message in complaint(capsys, "track", movie, "-o", tmp_path / "no", *wrong)


def test_what_somebody_elses_links_leave_out_is_expected_to_be_missing(
    movie: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "links.csv").write_text("mother_frame,mother,frame,daughter\n0,1,1,1\n")
    options = ["--max-distance", "2.5", "--calibration", "none"]
    out = tmp_path / "out"
    assert run(["track", str(movie), "-o", str(out), "--links", str(tmp_path / "links.csv"), *options]) == 0
    assert "true links" in capsys.readouterr().out
    edges = np.genfromtxt(out / "edges.csv", delimiter=",", names=True)
    missing = json.loads((out / "run.json").read_text())["summary"]["expected_missing_links"]
    assert missing == pytest.approx(edges["probability"][edges["selected"] == 0].sum(), abs=1e-6)
    assert missing > 1
    assert run(["track", str(movie), "-o", str(tmp_path / "own"), *options]) == 0
    assert "true links" not in capsys.readouterr().out
    assert json.loads((tmp_path / "own" / "run.json").read_text())["summary"]["expected_missing_links"] is None


def test_divisions_that_somebody_elses_links_leave_out_are_expected_to_be_missing(
    movie: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--max-distance", "9", "--calibration", "none", "--precision", "0.1"]
    header, link = "mother_frame,mother,frame,daughter\n", "0,1,1,1\n"
    assert run(["track", str(movie), "-o", str(tmp_path / "plain"), *options]) == 0
    cells = np.genfromtxt(tmp_path / "plain" / "detections.csv", delimiter=",", names=True)
    edges = np.genfromtxt(tmp_path / "plain" / "edges.csv", delimiter=",", names=True)
    mother = cells[np.nanargmax(cells["p_divide"])]
    own = edges[(edges["mother_frame"] == mother["frame"]) & (edges["mother"] == mother["label"])][:2]
    both = "".join(f"{e['mother_frame']:.0f},{e['mother']:.0f},{e['frame']:.0f},{e['daughter']:.0f}\n" for e in own)
    missing = {}
    for name, links in (("one", link), ("division", both)):
        (tmp_path / f"{name}.csv").write_text(header + links)
        given = ["--links", str(tmp_path / f"{name}.csv")]
        assert run(["track", str(movie), "-o", str(tmp_path / name), *given, *options]) == 0
        assert re.search(r"true links and \S+ divisions are not among these", capsys.readouterr().out)
        missing[name] = json.loads((tmp_path / name / "run.json").read_text())["summary"]["expected_missing_divisions"]
    everybody = np.nansum(cells["p_divide"])
    divides = mother["p_divide"]
    assert missing["one"] == pytest.approx(everybody, abs=1e-5)
    assert missing["division"] == pytest.approx(everybody - divides, abs=1e-5)
    assert divides > 0.01
    softmax = ["--method", "SM", "--links", str(tmp_path / "one.csv")]
    assert run(["track", str(movie), "-o", str(tmp_path / "softmax"), *softmax, *options]) == 0
    printed = capsys.readouterr().out
    assert "true links are not among these" in printed


@dataclass(frozen=True)
class Reckless(Activity):
    """Activity with another floor than by default, for the command line."""

    floor: float = 0.99


def test_a_parameter_of_a_cost_changes_what_comes_out_by_default(tmp_path: Path) -> None:
    simulate(cells=20, frames=8, motion=0.3, seed=2).save(tmp_path / "01")
    tables = {}
    for cost in ("activity", "tests.cli.test_track:Reckless"):
        out = tmp_path / cost.rpartition(":")[2]
        masks = ["--masks", str(tmp_path / "01_GT" / "TRA")]
        assert run(["track", str(tmp_path / "01"), *masks, "-o", str(out), "--cost", cost, "-q"]) == 0
        parameters = json.loads((out / "run.json").read_text())["parameters"]
        tables[parameters["cost_parameters"]["floor"]] = np.genfromtxt(out / "edges.csv", delimiter=",", names=True)
    usual, reckless = tables[0.1], tables[0.99]
    shared = {tuple(row.tolist()[:4]): row["probability"] for row in usual}
    moved = [abs(shared[key] - row["probability"]) for row in reckless if (key := tuple(row.tolist()[:4])) in shared]
    assert len(moved) > 100
    assert max(moved) > 0.05


def test_cells_that_are_known_not_to_divide_are_said_not_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = simulate(cells=20, frames=12, motion=0.2, seed=1)
    made.save(tmp_path / "01")
    masks = tmp_path / "01_GT" / "TRA"
    assert (
        run(["track", str(tmp_path / "01"), "--masks", str(masks), "-o", str(tmp_path / "out"), "--no-divisions"]) == 0
    )
    about = json.loads((tmp_path / "out" / "run.json").read_text())
    assert about["summary"]["divisions"] == 0 and about["parameters"]["divisions"] is False
    with (tmp_path / "out" / "edges.csv").open() as file:
        links = [row for row in csv.DictReader(file) if row["selected"] == "1"]
    assert len(links) == len({(row["mother_frame"], row["mother"]) for row in links}) > 200
    capsys.readouterr()
    line = complaint(capsys, "calibrate", tmp_path / "01", "-o", tmp_path / "c.json", "--no-divisions")
    assert "--no-divisions is for dunno track" in line
