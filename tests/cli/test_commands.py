import json
import os
import subprocess
import sys
from importlib.metadata import metadata
from pathlib import Path
from typing import Any

import geff
import pytest

import dunno
from dunno.cli import run


def test_the_demo_leaves_a_valid_geff_and_a_ctc_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):  # a second time replaces the first
        assert run(["demo", "-o", str(tmp_path / "demo")]) == 0
    printed = capsys.readouterr().out
    assert "cells" in printed
    assert "The least certain cells" in printed
    assert "the simulation knows the truth" in printed
    report = tmp_path / "demo" / "tracks" / "report.html"
    assert f"the report: {report} (open it in any browser)" in printed and "what next" in printed
    assert report.read_text().count("<img ") == 48  # doubtful links
    assert "Beside the truth" in report.read_text()
    geff.validate_structure(tmp_path / "demo" / "tracks" / "tracks.geff")
    geff.validate_structure(tmp_path / "demo" / "tracks" / "tracks.geff" / "candidates")
    assert len(list((tmp_path / "demo" / "tracks" / "ctc").glob("mask*.tif"))) == 40
    assert len(list((tmp_path / "demo" / "01_RES").glob("mask*.tif"))) == 40
    assert os.listdir(tmp_path) == ["demo"]
    truth = tmp_path / "demo" / "01_GT" / "TRA"
    assert run(["evaluate", str(tmp_path / "demo" / "tracks"), "--truth", str(truth), "--bootstrap", "0"]) == 0
    assert run(["demo", "-o", str(tmp_path / "demo" / "tracks")]) == 2  # a tracking, not a demo


def test_the_demo_does_not_replace_what_is_not_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine").write_text("")
    assert run(["demo", "-o", str(tmp_path)]) == 2
    assert "exists already" in capsys.readouterr().err


def test_simulate_writes_a_sequence_with_its_parameters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "sim" / "01"
    assert run(["simulate", str(path), "--cells", "5", "--frames", "4", "--motion", "0.1", "--seed", "9"]) == 0
    assert "4 frames with" in capsys.readouterr().out
    about = json.loads((tmp_path / "sim" / "01_GT" / "simulation.json").read_text())
    assert about["parameters"]["cells"] == 5
    assert about["parameters"]["seed"] == 9
    assert run(["simulate", str(path)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert run(["simulate", str(tmp_path / "x"), "--cells", "-1"]) == 2
    assert "cells is -1; expected at least 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "told"),
    [(MemoryError("std::bad_alloc"), "(std::bad_alloc)"), (MemoryError(), "(no more could be had)")],
)
def test_memory_that_is_not_enough_is_one_line(
    error: MemoryError, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def read(*some: object, **more: object) -> None:
        raise error

    monkeypatch.setattr("dunno.io.read", read)
    for command in (["info", "a"], ["track", "a", "-o", str(tmp_path / "out")]):
        assert run(command) == 2
        line = capsys.readouterr().err
        assert line.startswith(f"dunno: the memory is not enough {told}; what helps: a smaller part (--region")
        assert line.count("\n") == 1


def test_list_names_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["list", "costs"]) == 0
    assert "distance" in capsys.readouterr().out
    assert run(["list", "methods"]) == 0
    assert "SM" in capsys.readouterr().out
    assert run(["list", "colours"]) == 2
    assert "nothing called 'colours' to list; expected costs or methods or perturbations" in capsys.readouterr().err


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"dunno {dunno.__version__}\n"


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from dunno.cli import run; run(['--help']); run(['track', '--help']);"
        "heavy = {'scipy', 'numpy', 'zarr', 'geff', 'tifffile', 'matplotlib', 'pandas', 'torch'} & set(sys.modules);"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize("method", ["SM", "JP"])
def test_a_movie_is_tracked_without_importing_what_takes_long(method: str, tmp_path: Path) -> None:
    assert run(["simulate", f"{tmp_path}/sim", "--cells", "30", "--frames", "12", "--motion", "0.5"]) == 0
    code = (
        f"import sys; from dunno.cli import run; done = run(['track', '{tmp_path}/sim', '-o', '{tmp_path}/out', "
        f"'--method', '{method}', '-q']); heavy = {{'scipy', 'geff', 'zarr'}} & set(sys.modules);"
        "sys.exit(str(heavy) if heavy else done)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize(("asked", "expected"), [(None, "1"), ("3", "3")])
def test_numpy_gets_no_threads_of_its_own_unless_asked_for(asked: str | None, expected: str) -> None:
    code = (
        "import atexit, os, sys; sys.argv = ['dunno', '--version']; from dunno.cli import main;"
        "atexit.register(lambda: print(os.environ['OPENBLAS_NUM_THREADS'])); main()"
    )
    given = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    given |= {} if asked is None else {"OPENBLAS_NUM_THREADS": asked}
    told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=given)
    assert told.stdout.split()[-1] == expected


def test_without_a_command_the_help_is_shown_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    expected = capsys.readouterr().out
    assert run([]) == 0
    captured = capsys.readouterr()
    assert captured.out == expected
    assert captured.err == ""
    assert len(expected.splitlines()) > 10


OF_DEVELOPERS = {"all", "test", "readers", "docs", "oracles", "benchmark"}


def test_the_doctor_says_what_there_is_and_what_is_missing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["doctor"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"dunno {dunno.__version__}, Python 3")
    assert " cores, " in printed
    assert "needs    numpy 2" in printed
    monkeypatch.setattr("dunno.cli.doctor._version", lambda name: "" if name == "h5py" else "1")
    assert run(["doctor"]) == 0
    printed = capsys.readouterr().out
    assert "h5py         h5py missing  → for ilastik's files (.h5): pip install 'dunno[h5py]'" in printed
    monkeypatch.setattr("dunno.cli.doctor._version", lambda name: "")
    assert run(["doctor"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if " → for " in line]
    assert {line.split()[0] for line in lines} == set(metadata("dunno").get_all("Provides-Extra")) - OF_DEVELOPERS


def test_shells_complete_commands() -> None:
    environment = {**os.environ, "_DUNNO_COMPLETE": "complete_bash", "COMP_WORDS": "dunno in", "COMP_CWORD": "1"}
    code = "import sys; sys.argv = ['dunno']; from dunno.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.stdout.split() == ["info"]


@pytest.mark.parametrize(
    "twice", [["--masks", "a", "--masks", "b"], ["--masks=a", "--masks", "b"], ["-o", "a", "--output", "b"]]
)
def test_an_option_with_one_value_is_refused_twice(twice: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["track", "movie", *twice]) == 2
    name = twice[-2]
    assert capsys.readouterr().err == f"dunno: {name} is given 2 times; it has one value, so give it once\n"


def test_several_movies_and_options_between_them(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}
    monkeypatch.setattr("dunno.cli.many.track_many", lambda job, movies, *others: seen.update(job=job, movies=movies))
    line = ["one", "--seed", "3", "two", "-o", "out", "--members", "a", "three", "--members", "b", "--divide-cost=-1"]
    assert run(["track", *line]) == 0
    assert seen["movies"] == [Path("one"), Path("two"), Path("three")]
    assert seen["job"].choices.members == [Path("a"), Path("b")]
    assert (seen["job"].choices.seed, seen["job"].choices.divide_cost) == (3, -1.0)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (["one", "-o", "out", "--sampls", "3"], "No such option: --sampls"),
        (["one", "-o", "out", "--samples", "many"], "Invalid value for '--samples'"),
        (["one"], "Missing option '--output'"),
        (["-o", "out"], "Missing argument 'movie'"),
    ],
)
def test_a_mistake_is_one_line(line: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["track", *line]) == 2
    said = capsys.readouterr().err
    assert said.startswith("dunno: ") and told in said and said.count("\n") == 1
