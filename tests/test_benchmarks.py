"""The benchmarks still run; what they measure is for people to read."""

import runpy
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from benchmarks import growth, scale
from benchmarks.crowd import Crowd
from dunno.simulate import colony

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.mark.parametrize(("name", "lines"), [("solve", 3), ("k_best", 20), ("marginals", 44)])
def test_the_benchmarks_of_the_core_run(
    name: str, lines: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", [name, "--quick"])
    import_module(f"benchmarks.{name}").main()
    assert len(capsys.readouterr().out.splitlines()) == lines


def test_the_memory_benchmark_runs() -> None:
    done = subprocess.run(
        [sys.executable, BENCHMARKS / "memory.py", "--frames", "20"], check=True, capture_output=True, text=True
    )
    assert done.stdout.splitlines()[-1].startswith("ratio")


def test_the_benchmark_of_measuring_runs(tmp_path: Path) -> None:
    Crowd(9, 3).save(tmp_path / "masks.zarr")
    command = [sys.executable, "-m", "benchmarks.cells", str(tmp_path / "masks.zarr")]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=BENCHMARKS.parent)
    assert len(done.stdout.splitlines()) == 10


@pytest.mark.parametrize(("name", "lines"), [("frames", 15), ("million", 5), ("stall", 4), ("well", 6), ("workers", 4)])
def test_the_benchmarks_of_scale_run(
    name: str, lines: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(sys, "argv", ["scale", name, "--quick"])
    scale.main(sys.argv[1:])
    assert len(capsys.readouterr().out.splitlines()) == lines


def test_the_benchmark_of_growth_runs(capsys: pytest.CaptureFixture[str]) -> None:
    growth.main(["cells", "gate", "aims", "--quick"])
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| ") and line[2].isdigit()]
    assert len(rows) == 12
    candidates = [int(row.split("|")[5].replace(",", "")) for row in rows]
    assert candidates[:4] == sorted(candidates[:2]) + sorted(candidates[2:4])
    assert all(row.rsplit("|", 2)[1].strip().isdigit() for row in rows)  # none was refused


def test_a_run_is_measured_in_a_process_of_its_own() -> None:
    found = scale.measured({"cells": 10, "frames": 20, "method": "SM"})
    assert 150 < found["cells"] <= 200
    assert found["processor"] > 0
    assert 20 < found["peak"] < 1000  # megabytes, of no other run


@pytest.mark.parametrize(
    "script",
    [
        "benchmarks/temperature.py",
        "docs/figures/make_calibration.py",
        "docs/figures/make_review.py",
    ],
)
def test_what_needs_real_movies_says_so(script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.delenv("DUNNO_DATA", raising=False)
    with pytest.raises(SystemExit, match="^needs real movies: set DUNNO_DATA"):
        runpy.run_path(str(BENCHMARKS.parent / script), run_name="__main__")


def test_the_temperature_benchmark_runs(data: Path) -> None:
    done = subprocess.run(
        [sys.executable, BENCHMARKS / "temperature.py", "--speed"], check=True, capture_output=True, text=True
    )
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["score", "fit"]


def test_a_division_that_the_annotation_lacks_is_found(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from benchmarks.lacking import draw, lacking

    made = colony(cells=10, frames=20, motion=0.05, seed=1, cycle=15.0)
    truth = made.truth
    assert lacking(made.movie, truth) == []
    mother = int(truth.mother[truth.mother > 0][0])
    forgotten = replace(truth, mother=np.where(truth.mother == mother, 0, truth.mother))
    found = lacking(made.movie, forgotten)
    assert [each.mother for each in found] == [mother]
    assert found[0].daughters == tuple(truth.track[truth.mother == mother].tolist())
    draw(made.movie, found, tmp_path / "lacking.png")
    assert (tmp_path / "lacking.png").stat().st_size > 1000
