"""Whole runs on two tiny datasets: complete, resumed, killed, broken, on a cluster."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dunno.benchmark import Row, Setup, read_rows, run_benchmark
from dunno.benchmark.rows import COLUMNS
from dunno.benchmark.run import Finished
from dunno.cli import run

SMALL = Setup(costs=("distance",), methods=("SM", "AS"), steps=(1, 2))


def untimed(rows: list[Row]) -> list[Row]:
    return [replace(row, seconds=None, overhead=None) for row in rows]


class Watch:
    """Counts the units that are really done."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def __call__(self, finished: Iterator[Finished], total: int) -> Iterator[Finished]:
        self.total = total
        for unit, result in finished:
            self.done.append(str(unit))
            yield unit, result


@pytest.fixture(scope="module")
def finished(root: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Row]]:
    """A run that went through."""
    folder = tmp_path_factory.mktemp("finished") / "out"
    return folder, run_benchmark(root, folder, SMALL, workers=2).rows


def test_the_command_leaves_a_table_figures_and_a_page(root: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = ["benchmark", str(root), "-o", str(out), "--costs", "distance,activity", "--methods", "SM,FP+A,JP"]
    command += ["--every", "1,2", "-q"]
    assert run(command) == 0
    rows = read_rows(out / "results.csv")
    assert (out / "results.csv").read_text().splitlines()[0] == ",".join(COLUMNS)
    # two datasets, two costs, two steps, and 3 + 3 + 4 scalings of the three methods
    assert len(rows) == 2 * 2 * 2 * 10
    assert all(row.is_measured or row.reason for row in rows)
    assert {row.sequence for row in rows if row.dataset == "pair"} == {"02"}
    assert {path.name for path in out.iterdir()} == {"results.csv", "index.html", "figures", "units", "run.json"}
    names = {path.stem for path in (out / "figures").iterdir()}
    assert names == {
        "ece", "temperatures", "sparsification", "sparsification_curves", "overhead", "motion", "calibration_curves",
    }  # fmt: skip
    assert len(list((out / "figures").iterdir())) == 2 * len(names)
    page = (out / "index.html").read_text()
    assert all(f'src="figures/{name}.svg"' in page for name in names)
    assert "not calibrated" in page


def test_a_second_run_does_only_what_is_missing(root: Path, finished: tuple[Path, list[Row]], tmp_path: Path) -> None:
    shutil.copytree(finished[0], tmp_path / "out")
    units = sorted((tmp_path / "out" / "units").iterdir())
    assert len(units) == 8
    units[0].unlink()
    units[3].write_text("half a fi")
    watch = Watch()
    outcome = run_benchmark(root, tmp_path / "out", SMALL, workers=1, progress=watch)
    assert (watch.total, len(watch.done), outcome.n_reused) == (2, 2, 6)
    assert untimed(outcome.rows) == untimed(finished[1])
    again = Watch()
    assert run_benchmark(root, tmp_path / "out", SMALL, progress=again).rows == outcome.rows
    assert again.done == []


def test_another_method_is_added_without_doing_the_others_again(
    root: Path, finished: tuple[Path, list[Row]], tmp_path: Path
) -> None:
    shutil.copytree(finished[0], tmp_path / "out")
    watch = Watch()
    run_benchmark(root, tmp_path / "out", replace(SMALL, methods=("SM", "AS", "MC")), workers=1, progress=watch)
    assert sorted(watch.done) == [f"{d}, distance, MC, every {s}" for d in ("pair", "single") for s in (1, 2)]
    less = run_benchmark(root, tmp_path / "out", replace(SMALL, methods=("MC",)), workers=1)
    assert (less.n_units, less.n_reused, less.n_others) == (4, 4, 8)


def begin(root: Path, out: Path, units: int) -> subprocess.Popen[str]:
    """Start the command on its own, and wait until some units are there."""
    options = ["--costs", "distance", "--methods", "SM,AS", "--every", "1,2", "--workers", "1"]
    command = [sys.executable, "-m", "dunno", "benchmark", str(root), "-o", str(out), *options]
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    started = subprocess.Popen(command, text=True, start_new_session=True, **pipes)
    deadline = time.monotonic() + 60
    while len(list(out.glob("units/*.json"))) < units and time.monotonic() < deadline and started.poll() is None:
        time.sleep(0.02)
    return started


def test_a_stopped_run_ends_at_once_in_one_line(root: Path, tmp_path: Path) -> None:
    started = begin(root, tmp_path / "out", 1)
    os.killpg(started.pid, signal.SIGINT)  # as a terminal does: to the command and its processes
    _, words = started.communicate(timeout=30)
    assert started.returncode == 130
    assert words.splitlines()[-1:] == ["dunno: stopped; nothing was left half-written"]
    assert "Traceback" not in words
    assert not list((tmp_path / "out").glob("**/*.partial"))


def test_a_killed_run_goes_on_where_it_was(root: Path, finished: tuple[Path, list[Row]], tmp_path: Path) -> None:
    out = tmp_path / "out"
    started = begin(root, out, 2)
    os.killpg(started.pid, signal.SIGKILL)
    started.communicate()
    survived = len(list(out.glob("units/*.json")))
    assert 2 <= survived < 8
    watch = Watch()
    outcome = run_benchmark(root, out, SMALL, workers=2, progress=watch)
    assert outcome.n_reused == survived
    assert len(watch.done) == 8 - survived
    assert untimed(outcome.rows) == untimed(finished[1])


def test_a_broken_dataset_is_reported_and_does_not_stop_the_others(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(root / "pair", tmp_path / "data" / "good")
    shutil.copytree(root / "pair", tmp_path / "data" / "broken")
    mask = tmp_path / "data" / "broken" / "02_GT" / "TRA" / "man_track003.tif"
    mask.write_bytes(b"no image")
    command = ["benchmark", str(tmp_path / "data"), "-o", str(tmp_path / "out"), "--costs", "distance"]
    command += ["--methods", "SM,AS", "--every", "1", "--workers", "1"]
    assert run(command) == 2
    problems = [line for line in capsys.readouterr().err.splitlines() if line.startswith("dunno: ")]
    assert len(problems) == 3
    assert problems[0].startswith("dunno: failed: broken, distance, SM, every 1: ")
    assert "man_track003.tif" in problems[0]
    assert problems[2].startswith("dunno: 2 units failed; mend them")
    rows = read_rows(tmp_path / "out" / "results.csv")
    assert [row.reason for row in rows if row.dataset == "good" and row.scaling != "self"] == [None] * 4
    assert all((row.reason or "").startswith("failed: ") for row in rows if row.dataset == "broken")
    shutil.copy(root / "pair" / "02_GT" / "TRA" / mask.name, mask)
    watch = Watch()
    outcome = run_benchmark(tmp_path / "data", tmp_path / "out", replace(SMALL, steps=(1,)), workers=1, progress=watch)
    assert watch.done == ["broken, distance, SM, every 1", "broken, distance, AS, every 1"]
    assert outcome.failures == {}


def test_a_folder_that_is_not_a_benchmark_is_left_alone(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    assert run(["benchmark", str(root), "-o", str(tmp_path)]) == 2
    assert "is not an earlier benchmark's folder" in capsys.readouterr().err
    assert os.listdir(tmp_path) == ["thesis.txt"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--every", "1,two"], "--every 1,two: expected values separated by commas"),
        (["--workers", "0"], "--workers 0: expected at least 1"),
        (["--costs", "nearest"], "there is no cost 'nearest'"),
        (["--dropout", "a"], "--dropout a"),
        (["--costs", "transformer"], "there is nothing to measure; cost transformer is left out: it needs a model"),
    ],
)
def test_a_wrong_option_is_named(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], words: str
) -> None:
    assert run(["benchmark", str(root), "-o", str(tmp_path / "out"), *options]) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A Dask scheduler and two workers, a process each: its address, and the workers."""
    distributed = pytest.importorskip("distributed")
    where = tmp_path / "scheduler.json"

    def start(program: str, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.{program}", "--scheduler-file", str(where), *options]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=tmp_path)

    scheduler = start("dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    workers = [start("dask_worker", "--nthreads", "1", "--no-nanny", "--no-dashboard") for _ in range(2)]
    try:
        deadline = time.monotonic() + 120
        while not where.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        address = json.loads(where.read_text())["address"]
        with distributed.Client(address, timeout=120, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=120)
        yield address, workers
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()


def test_a_run_on_a_cluster_survives_a_killed_worker_and_gives_the_same(
    root: Path, finished: tuple[Path, list[Row]], tmp_path: Path, cluster: tuple[str, list[subprocess.Popen[bytes]]]
) -> None:
    address, workers = cluster

    def kill_one(finished: Iterator[Finished], total: int) -> Iterator[Finished]:
        for number, item in enumerate(finished):
            if number == 1:
                workers[0].kill()
            yield item

    outcome = run_benchmark(root, tmp_path / "out", SMALL, dask=address, progress=kill_one)
    assert [worker.poll() for worker in workers] == [-signal.SIGKILL, None]
    assert outcome.failures == {}
    assert untimed(outcome.rows) == untimed(finished[1])
