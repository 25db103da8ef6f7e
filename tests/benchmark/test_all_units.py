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
from pandas import DataFrame
from pandas.testing import assert_frame_equal

from dunno.benchmark import Experiment, read_table, run_benchmark
from dunno.benchmark.all_units import BenchmarkOutcome
from dunno.benchmark.datasets import find_datasets
from dunno.benchmark.models import train_models
from dunno.cli import run
from dunno.training.checkpoint import Epoch

SMALL = Experiment(costs=("distance",), methods=("SM", "AS"), steps=(1, 2))


def same(one: DataFrame, other: DataFrame) -> None:
    left_out = ["seconds", "overhead"]
    assert_frame_equal(one.drop(columns=left_out), other.drop(columns=left_out))


class Watch:
    """Notes how many units are to be done, and how many were."""

    done = total = 0

    def __call__(self, stage: str, done: int, total: int) -> None:
        self.done, self.total = done, total


@pytest.fixture(scope="module")
def finished(root: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, DataFrame]:
    """A run that went through."""
    folder = tmp_path_factory.mktemp("finished") / "out"
    return folder, run_benchmark(find_datasets(root), folder, SMALL, workers=1).table


def test_the_command_leaves_a_table_figures_and_a_page(root: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = ["benchmark", str(root), "-o", str(out), "--setup", "paper,user", "--costs", "distance,activity"]
    command += ["--methods", "SM,FP+A,JP,LapTrack", "--every", "1,2", "--workers", "1", "-q"]
    assert run(command) == 0
    table = read_table(out / "results.csv")
    # two datasets and steps: in both set-ups two costs, two methods with three scalings and JP with four; LapTrack once
    assert len(table) == 2 * 2 * (2 * 2 * (2 * 3 + 4) + 1)
    assert (table.n_links.notna() | table.reason.notna()).all()
    assert set(table[table.dataset == "pair"].sequence) == {"02"}
    assert (table.version.notna() | table.n_links.isna()).all()
    assert {path.name for path in out.iterdir()} == {"results.csv", "index.html", "figures", "units", "run.json"}
    names = {path.stem for path in (out / "figures").iterdir()}
    common = {
        "ece", "temperatures", "sparsification", "sparsification-edge", "sparsification-entropy", "overhead", "motion",
        "calibration",
    }  # fmt: skip
    assert names >= {f"{setup}-{name}" for setup in ("paper", "user") for name in common}
    page = (out / "index.html").read_text()
    assert all(f'src="figures/{name}.svg"' in page for name in names)
    assert page.index("As in the paper") < page.index("As a user gets it")
    assert "Without scaling, FP+A and AS sparsify better than SM and FP." in page


def test_a_second_run_does_only_what_is_missing(root: Path, finished: tuple[Path, DataFrame], tmp_path: Path) -> None:
    shutil.copytree(finished[0], tmp_path / "out")
    units = sorted((tmp_path / "out" / "units").iterdir())
    assert len(units) == 4
    units[0].unlink()
    units[3].write_text("half a fi")
    watch = Watch()
    outcome = run_benchmark(find_datasets(root), tmp_path / "out", SMALL, workers=1, tell=watch)
    assert (watch.done, watch.total, outcome.n_measured) == (2, 2, 2)
    same(outcome.table, finished[1])
    assert run_benchmark(find_datasets(root), tmp_path / "out", SMALL).n_measured == 0


def test_another_method_is_added_and_one_is_measured_again_without_the_others(
    root: Path, finished: tuple[Path, DataFrame], tmp_path: Path
) -> None:
    shutil.copytree(finished[0], tmp_path / "out")
    more = run_benchmark(find_datasets(root), tmp_path / "out", replace(SMALL, methods=("SM", "AS", "MC")), workers=1)
    assert more.n_measured == 4
    before = more.table.set_index(["dataset", "step", "method", "scaling"])
    again = run_benchmark(
        find_datasets(root), tmp_path / "out", replace(SMALL, methods=("SM", "MC")), again=("MC",), workers=1
    )
    after = again.table.set_index(["dataset", "step", "method", "scaling"])
    assert set(again.table.method) == {"SM", "MC"}
    seconds = {
        name: (before.xs(name, level="method").seconds - after.xs(name, level="method").seconds)
        for name in ("SM", "MC")
    }
    assert (seconds["SM"].dropna() == 0).all()
    assert (seconds["MC"].dropna() != 0).all()
    assert len(seconds["MC"].dropna()) > 4
    assert run_benchmark(find_datasets(root), tmp_path / "out", SMALL).n_measured == 0  # AS is still kept


def begin(root: Path, out: Path, units: int) -> subprocess.Popen[str]:
    """Start the command on its own, and wait until some units are there."""
    options = ["--costs", "distance", "--methods", "SM,AS", "--every", "1,2", "--workers", "1"]
    command = [sys.executable, "-m", "dunno", "benchmark", str(root), "-o", str(out), *options]
    started = subprocess.Popen(
        command, text=True, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + 120
    while len(list(out.glob("units/*.json"))) < units and time.monotonic() < deadline and started.poll() is None:
        time.sleep(0.02)
    return started


def test_a_stopped_run_ends_at_once_in_one_line(root: Path, tmp_path: Path) -> None:
    started = begin(root, tmp_path / "out", 1)
    os.killpg(started.pid, signal.SIGINT)  # as a terminal does: to the command and its processes
    _, words = started.communicate(timeout=60)
    assert started.returncode == 130
    assert words.splitlines()[-1:] == ["dunno: stopped; nothing was left half-written"]
    assert "Traceback" not in words
    assert not list((tmp_path / "out").glob("**/*.partial"))


def test_a_killed_run_goes_on_where_it_was(root: Path, finished: tuple[Path, DataFrame], tmp_path: Path) -> None:
    out = tmp_path / "out"
    started = begin(root, out, 1)
    os.killpg(started.pid, signal.SIGKILL)
    started.communicate()
    survived = len(list(out.glob("units/*.json")))
    assert 1 <= survived < 4
    outcome = run_benchmark(find_datasets(root), out, SMALL, workers=1)
    assert outcome.n_measured == 4 - survived
    same(outcome.table, finished[1])


def test_a_broken_dataset_is_reported_and_does_not_stop_the_others(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(root / "pair", tmp_path / "data" / "good")
    shutil.copytree(root / "pair", tmp_path / "data" / "broken")
    mask = sorted((tmp_path / "data" / "broken" / "02_GT" / "TRA").glob("*.tif"))[3]
    mask.write_bytes(b"not a TIFF")
    options = ["--costs", "distance", "--methods", "SM,AS", "--every", "1", "--workers", "1", "-q"]
    assert run(["benchmark", str(tmp_path / "data"), "-o", str(tmp_path / "out"), *options]) == 2
    told = capsys.readouterr().err
    assert "failed: broken, distance, every 1" in told
    table = read_table(tmp_path / "out" / "results.csv")
    assert table[table.dataset == "broken"].reason.str.startswith("failed: ").all()
    assert table[table.dataset == "good"].n_links.notna().all()
    shutil.copy(root / "pair" / "02_GT" / "TRA" / mask.name, mask)
    outcome = run_benchmark(find_datasets(tmp_path / "data"), tmp_path / "out", replace(SMALL, steps=(1,)), workers=1)
    assert (outcome.n_measured, outcome.failures) == (1, {})


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
        (["--datasets", "Hela"], "holds no Hela; there are pair, single"),
        (["--train", "a"], "--train a: expected values separated by commas"),
        (["--costs", "transformer"], "cost transformer needs models: --model DIR, or --train"),
    ],
)
def test_a_wrong_option_is_named(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], words: str
) -> None:
    assert run(["benchmark", str(root), "-o", str(tmp_path / "out"), *options]) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_transformers_are_trained_on_the_first_parts_once(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("trackastra")
    from dunno.benchmark import models

    for name, value in (("EPOCHS", 2), ("WINDOWS", 8), ("LARGEST_STEP", 2)):
        monkeypatch.setattr(models, name, value)
    epochs: list[Epoch] = []

    def watch(stream: Iterator[Epoch], total: int) -> Iterator[Epoch]:
        for epoch in stream:
            epochs.append(epoch)
            yield epoch

    found = train_models(find_datasets(root), tmp_path / "models", [0.5, 0.25], watch)
    assert [each.name for each in found] == ["dropout-0.5", "dropout-0.25"]
    assert len(epochs) == 4
    assert "cells:\n- " in (found[0] / "train_config.yaml").read_text()
    assert train_models(find_datasets(root), tmp_path / "models", [0.5, 0.25], watch) == found
    assert len(epochs) == 4


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
    root: Path, finished: tuple[Path, DataFrame], tmp_path: Path, cluster: tuple[str, list[subprocess.Popen[bytes]]]
) -> None:
    address, workers = cluster

    def kill_one(stage: str, done: int, total: int) -> None:
        if done == 1:
            workers[0].kill()

    outcome: BenchmarkOutcome = run_benchmark(find_datasets(root), tmp_path / "out", SMALL, dask=address, tell=kill_one)
    assert [worker.poll() for worker in workers] == [-signal.SIGKILL, None]
    assert outcome.failures == {}
    same(outcome.table, finished[1])
