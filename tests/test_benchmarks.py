"""The benchmarks still run; what they measure is for people to read."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.crowd import Crowd

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.mark.parametrize(("name", "lines"), [("solve", 3), ("k_best", 20), ("marginals", 29)])
def test_the_benchmarks_of_the_core_run(name: str, lines: int) -> None:
    command = [sys.executable, "-m", f"benchmarks.{name}", "--quick"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=BENCHMARKS.parent)
    assert len(done.stdout.splitlines()) == lines


def test_the_memory_benchmark_runs() -> None:
    done = subprocess.run(
        [sys.executable, BENCHMARKS / "memory.py", "--frames", "20"], check=True, capture_output=True, text=True
    )
    assert done.stdout.splitlines()[-1].startswith("ratio")


def test_the_benchmark_of_measuring_runs(tmp_path: Path) -> None:
    Crowd(9, 3).save(tmp_path / "masks.zarr")
    command = [sys.executable, "-m", "benchmarks.cells", str(tmp_path / "masks.zarr")]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=BENCHMARKS.parent)
    assert len(done.stdout.splitlines()) == 8


@pytest.mark.parametrize(("name", "lines"), [("frames", 15), ("million", 5), ("stall", 4), ("well", 6), ("workers", 4)])
def test_the_benchmarks_of_scale_run(name: str, lines: int) -> None:
    pytest.importorskip("distributed")
    command = [sys.executable, "-m", "benchmarks.scale", name, "--quick"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=BENCHMARKS.parent)
    assert len(done.stdout.splitlines()) == lines


@pytest.mark.parametrize(
    "script",
    [
        "benchmarks/temperature.py",
        "benchmarks/scaled_zeros.py",
        "docs/figures/make_calibration.py",
        "docs/figures/make_review.py",
    ],
)
def test_what_needs_real_movies_says_so(script: str) -> None:
    pytest.importorskip("matplotlib")
    bare = {name: value for name, value in os.environ.items() if name != "DUNNO_DATA"}
    done = subprocess.run([sys.executable, BENCHMARKS.parent / script], env=bare, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("needs real movies: set DUNNO_DATA")


def test_the_temperature_benchmark_runs(data: Path) -> None:
    done = subprocess.run(
        [sys.executable, BENCHMARKS / "temperature.py", "--speed"], check=True, capture_output=True, text=True
    )
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["score", "fit"]
