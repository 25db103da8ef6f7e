"""A real Dask cluster of two processes on this machine."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import dunno
from benchmarks.crowd import Crowd
from dunno import Tracker
from dunno.cli import run
from dunno.runs.run import track_into
from dunno.work.schedule import open_pool

from .test_run import content
from .test_same_bytes import KINDS, save_spoiled, tracker

distributed = pytest.importorskip("distributed")


class LocalCluster:
    """A scheduler and two workers, each a process of its own, as somebody would start them on three machines."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = file = folder / "scheduler.json"
        self.scheduler = self.start("scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", file)
        self.workers = [self.start_worker() for _ in range(2)]
        deadline = time.monotonic() + 60
        while not file.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        self.address: str = json.loads(file.read_text())["address"]

    def start_worker(self) -> "subprocess.Popen[bytes]":
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", self.folder)
        return self.start("worker", *options, "--scheduler-file", self.file, "--death-timeout", "60")

    def start(self, what: str, *options: object) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "distributed.cli.dask_" + what, *map(str, options)]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder)

    def mend(self) -> None:
        """Replace workers that were killed, and wait until both are there."""
        self.workers = [each if each.poll() is None else self.start_worker() for each in self.workers]
        with distributed.Client(self.address, timeout=60, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=60)

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], LocalCluster]]:
    """The cluster that all tests share; another one when its scheduler was killed."""
    started: list[LocalCluster] = []

    def running() -> LocalCluster:
        if not started or started[-1].scheduler.poll() is not None:
            started.append(LocalCluster(tmp_path_factory.mktemp("cluster")))
        return started[-1]

    yield running
    for cluster in started:
        cluster.close()


@pytest.fixture
def cluster(clusters: Callable[[], LocalCluster]) -> LocalCluster:
    """A cluster of two workers, whatever the tests before did to it."""
    cluster = clusters()
    cluster.mend()
    return cluster


@pytest.fixture(scope="module")
def zarr(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("movie") / "crowd.zarr"
    Crowd(60, 320).save(path)
    return path


@pytest.fixture(scope="module")
def here(zarr: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The movie tracked without a cluster."""
    out = tmp_path_factory.mktemp("here") / "out"
    track_into(Tracker(method="SM", workers=1), dunno.read(zarr), out)
    return out


def command_for(zarr: Path, out: Path) -> list[str]:
    return [sys.executable, "-m", "dunno", "track", str(zarr), "-o", str(out), "--method", "SM"]


def track_and_kill(
    command: list[str], cluster: LocalCluster, victim: "subprocess.Popen[bytes]", out: Path
) -> tuple[int, str]:
    """Track on the cluster, kill a part of it when three blocks are done, and say how the run ended."""
    process = subprocess.Popen([*command, "--dask", cluster.address], stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while len(list(out.parent.glob(f"{out.name}.partial/pairs/*.npz"))) < 3 and time.monotonic() < deadline:
        time.sleep(0.005)
    victim.send_signal(signal.SIGKILL)
    _, errors = process.communicate(timeout=120)
    return process.returncode, errors


def test_a_cluster_that_loses_a_worker_midway_gives_the_same_bytes(
    cluster: LocalCluster, zarr: Path, here: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    code, errors = track_and_kill(command_for(zarr, out), cluster, cluster.workers[0], out)
    assert code == 0, errors
    assert "Traceback" not in errors
    assert content(out) == content(here)


def test_a_calibration_fitted_on_a_cluster_is_the_same(cluster: LocalCluster, tmp_path: Path) -> None:
    Crowd(15, 40).save(tmp_path / "small.zarr")
    movie = dunno.read(tmp_path / "small.zarr")
    with open_pool(1, cluster.address) as pool:
        track_into(Tracker(executor=pool), movie, tmp_path / "there")
    track_into(Tracker(workers=1), movie, tmp_path / "here")
    assert content(tmp_path / "there") == content(tmp_path / "here")


@pytest.mark.parametrize("kind", KINDS)
def test_gaps_and_judged_masks_are_the_same_on_a_cluster(cluster: LocalCluster, tmp_path: Path, kind: str) -> None:
    movie = dunno.read(save_spoiled(kind, tmp_path))
    with open_pool(1, cluster.address) as pool:
        track_into(tracker(kind, executor=pool), movie, tmp_path / "there")
    track_into(tracker(kind, workers=1), movie, tmp_path / "here")
    assert content(tmp_path / "there") == content(tmp_path / "here")


def test_a_plate_is_tracked_on_a_cluster(cluster: LocalCluster, tmp_path: Path) -> None:
    for well in ("A1", "A2", "A3"):
        Crowd(12, 20).save(tmp_path / "plate" / f"{well}.zarr")
    here = os.getcwd()
    os.chdir(tmp_path)  # workers have folders of their own
    try:
        command = ["track", "plate/*.zarr", "-o", "out", "--method", "SM", "--dask", str(cluster.file), "-q"]
        assert run(command) == 0
        assert run(["track", "plate/A2.zarr", "-o", "alone", "--method", "SM", "-q"]) == 0
    finally:
        os.chdir(here)
    edges = [(tmp_path / place / "edges.csv").read_bytes() for place in ("out/A2", "alone")]
    assert edges[0] == edges[1]


def test_a_plate_loses_one_of_two_workers_and_has_the_same_bytes(cluster: LocalCluster, tmp_path: Path) -> None:
    wells = ("A1", "A2", "A3", "A4")
    for k, well in enumerate(wells):
        Crowd(30, 120, seed=k).save(tmp_path / "plate" / f"{well}.zarr")
    command = [sys.executable, "-m", "dunno", "track", *(str(tmp_path / "plate" / f"{well}.zarr") for well in wells)]
    command += ["--method", "SM", "-q", "-o"]
    killed, alone = tmp_path / "killed", tmp_path / "alone"
    there = subprocess.Popen([*command, str(killed), "--dask", cluster.address], stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not list(killed.glob("*.partial/cells/*")) and time.monotonic() < deadline:
        time.sleep(0.005)
    cluster.workers[0].send_signal(signal.SIGKILL)
    _, errors = there.communicate(timeout=240)
    assert there.returncode == 0, errors
    assert "Traceback" not in errors
    subprocess.run([*command, str(alone), "--workers", "1"], check=True)
    assert [content(killed / well) for well in wells] == [content(alone / well) for well in wells]


def test_a_lost_scheduler_ends_a_run_with_one_line_and_it_continues_without(
    cluster: LocalCluster, zarr: Path, here: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    code, errors = track_and_kill(command_for(zarr, out), cluster, cluster.scheduler, out)
    assert code == 2
    assert "--resume continues there" in errors
    assert errors.strip().splitlines()[-1].startswith("dunno: ")
    assert run([*command_for(zarr, out)[3:], "--resume", "-q"]) == 0
    assert content(out) == content(here)
