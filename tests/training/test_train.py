import gc
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from dunno import Movie, Tracker, evaluation
from dunno.cli import run as command
from dunno.costs.transformer import TransformerCost
from dunno.errors import OutputError
from dunno.simulate import Colony
from dunno.simulate import colony as simulate
from dunno.training.checkpoint import Epoch
from dunno.training.settings import Settings
from dunno.training.train import train
from dunno.transformer.model_folder import FILES

torch = pytest.importorskip("torch")
pytest.importorskip("trackastra")

QUICK = Settings.small(width=32, layers=1, windows=16, epochs=4)


@pytest.fixture(scope="module")
def simulated() -> Colony:
    return simulate(cells=20, frames=12, motion=0.3, seed=2)


@pytest.fixture(scope="module")
def sequence(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A movie with truth on disk."""
    folder = tmp_path_factory.mktemp("sim") / "01"
    assert command(["simulate", str(folder), "--cells", "20", "--frames", "8", "--seed", "1"]) == 0
    return folder


def weights(folder: Path) -> dict[str, np.ndarray]:
    return {name: value.numpy() for name, value in torch.load(folder / "model.pt", weights_only=True).items()}


def assert_same(one: Path, other: Path) -> None:
    a, b = weights(one), weights(other)
    assert a.keys() == b.keys()
    for name in a:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)


def movies(simulated: Colony) -> list[tuple[Movie, object]]:
    return [(simulated.movie, simulated.truth)]


@pytest.fixture(scope="module")
def easy() -> Colony:
    """Cells that move little."""
    return simulate(cells=20, frames=12, motion=0.1, seed=2)


@pytest.fixture(scope="module")
def trained(easy: Colony, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Epoch]]:
    """A model that has learnt enough to track them, and its training."""
    folder = tmp_path_factory.mktemp("trained") / "model"
    settings = Settings.small(width=32, layers=1, windows=96, epochs=12, patience=12, learning_rate=3e-3)
    return folder, train(movies(easy), folder, settings)


def test_training_learns_to_link(easy: Colony, trained: tuple[Path, list[Epoch]]) -> None:
    folder, history = trained
    assert history[-1].loss < 0.5 * history[0].loss
    tracking = Tracker(TransformerCost(folder), "SM", calibration=None).track(easy.movie)
    assert evaluation.score(tracking, easy.truth).daughter_accuracy > 0.9


def test_trackastra_itself_tracks_with_the_model(easy: Colony, trained: tuple[Path, list[Epoch]]) -> None:
    from trackastra.model import Trackastra

    masks = np.stack([easy.movie.masks(t) for t in range(6)]).astype(np.int32)
    images = np.stack([easy.movie.images(t) for t in range(6)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = Trackastra.from_folder(trained[0], device="cpu")
        graph, tracked = model.track(images, masks, mode="greedy")
        gc.collect()
    assert graph.number_of_edges() > 50
    assert tracked.shape == masks.shape


def test_a_seed_repeats_and_leaves_torchs_own_generator_alone(simulated: Colony, tmp_path: Path) -> None:
    state = torch.get_rng_state()
    for name, seed in (("one", 0), ("again", 0), ("other", 1)):
        train(movies(simulated), tmp_path / name, Settings.small(width=32, layers=1, windows=8, epochs=2, seed=seed))
    assert torch.equal(torch.get_rng_state(), state)
    assert_same(tmp_path / "one", tmp_path / "again")
    assert any((weights(tmp_path / "one")[n] != w).any() for n, w in weights(tmp_path / "other").items())


class Stopped(Exception):
    pass


def stop_after(n: int) -> object:
    def watch(epochs: Iterator[Epoch], total: int) -> Iterator[Epoch]:
        for epoch in epochs:
            yield epoch
            if epoch.number + 1 == n:
                raise Stopped

    return watch


@pytest.mark.parametrize("after", [1, 3])
def test_a_stopped_training_goes_on_to_the_same_result(simulated: Colony, tmp_path: Path, after: int) -> None:
    whole = train(movies(simulated), tmp_path / "whole", QUICK)
    with pytest.raises(Stopped):
        train(movies(simulated), tmp_path / "stopped", QUICK, progress=stop_after(after))
    assert not (tmp_path / "stopped").exists()
    assert (tmp_path / "stopped.checkpoint").exists()
    resumed = train(movies(simulated), tmp_path / "stopped", QUICK)
    assert resumed == whole
    assert_same(tmp_path / "whole", tmp_path / "stopped")
    assert not (tmp_path / "stopped.checkpoint").exists()


def test_a_killed_command_goes_on_to_the_same_result(sequence: Path, tmp_path: Path) -> None:
    arguments = ["transformer", "train", str(sequence), "--small", "--epochs", "4", "--windows", "8", "--threads", "1"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    killed = tmp_path / "killed"
    process = subprocess.Popen(
        [sys.executable, "-m", "dunno", *arguments, "-o", str(killed)], env=environment, stderr=subprocess.DEVNULL
    )
    checkpoint = tmp_path / "killed.checkpoint"
    deadline = time.monotonic() + 120
    while not checkpoint.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert checkpoint.exists()
    assert not killed.exists()
    for output in (killed, tmp_path / "whole"):
        assert command([*arguments, "-o", str(output), "-q"]) == 0
    assert_same(killed, tmp_path / "whole")


def test_a_checkpoint_of_another_training_is_refused(simulated: Colony, tmp_path: Path) -> None:
    with pytest.raises(Stopped):
        train(movies(simulated), tmp_path / "model", QUICK, progress=stop_after(1))
    other = Settings.small(width=32, layers=1, windows=16, epochs=4, dropout=0.5)
    with pytest.raises(
        OutputError, match=r"model.checkpoint: is the checkpoint of another training \(dropout differ\)"
    ):
        train(movies(simulated), tmp_path / "model", other)
    (tmp_path / "model.checkpoint").write_bytes(b"nonsense")
    with pytest.raises(OutputError, match="is no checkpoint that can be read"):
        train(movies(simulated), tmp_path / "model", QUICK)


def test_it_stops_when_nothing_gets_better(simulated: Colony, tmp_path: Path) -> None:
    settings = Settings.small(width=32, layers=1, windows=8, epochs=30, patience=2, learning_rate=0.0)
    history = train(movies(simulated), tmp_path / "model", settings)
    assert len(history) == 3
    assert [epoch.is_best for epoch in history] == [True, False, False]


def test_the_best_epoch_is_what_is_kept(simulated: Colony, tmp_path: Path) -> None:
    """A learning rate that wrecks the network after its first epoch."""
    settings = Settings.small(width=32, layers=1, windows=32, epochs=5, patience=5, learning_rate=0.3)
    history = train(movies(simulated), tmp_path / "model", settings)
    best = next(epoch for epoch in reversed(history) if epoch.is_best)
    assert best.validation_loss == min(epoch.validation_loss for epoch in history)
    text = (tmp_path / "model" / "train_config.yaml").read_text()
    assert f"best_epoch: {best.number}\n" in text


def test_movies_without_images_make_a_model_that_wants_none(simulated: Colony, tmp_path: Path) -> None:
    bare = Movie([simulated.movie.masks(t) for t in range(12)])
    train([(bare, simulated.truth)], tmp_path / "model", Settings.small(width=32, layers=1, windows=8, epochs=1))
    assert len(Tracker(TransformerCost(tmp_path / "model"), "SM", calibration=None).track(bare).pairs) == 11


def test_a_model_of_movies_with_and_without_images_tracks_both(simulated: Colony, tmp_path: Path) -> None:
    bare = Movie([simulated.movie.masks(t) for t in range(12)])
    settings = Settings.small(width=32, layers=1, windows=8, epochs=1)
    train([(bare, simulated.truth), *movies(simulated)], tmp_path / "model", settings)
    cost = TransformerCost(tmp_path / "model")
    one, other = (Tracker(cost, "SM", calibration=None).track(movie) for movie in (bare, simulated.movie))
    assert (one.pairs[0].cost != other.pairs[0].cost).any()


def test_the_command_writes_a_model_that_tracks(sequence: Path, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    model, out = tmp_path / "model", tmp_path / "out"
    options = ["--small", "--epochs", "2", "--windows", "8", "--dropout", "0.5", "--largest-step", "2"]
    assert command(["transformer", "train", str(sequence), "-o", str(model), *options]) == 0
    told = capsys.readouterr()
    assert f"use it with: dunno track MOVIE -o OUT --cost transformer --model {model}" in told.out
    assert "epoch 2 of 2: loss" in told.err
    assert {*FILES, "training.csv", "run.json"} == {path.name for path in model.iterdir()}
    tracking = [
        "track",
        str(sequence),
        "-o",
        str(out),
        "--cost",
        "transformer",
        "--model",
        str(model),
        "--method",
        "FP",
    ]
    assert command([*tracking, "--samples", "3", "--verbose"]) == 0
    told = capsys.readouterr()
    assert "transformer cost, method FP" in told.out
    assert "untested" in told.out or "contradicted" in told.out or "supported" in told.out
    assert "INFO" not in told.err


def test_a_dataset_stands_for_its_annotated_sequences(sequence: Path, tmp_path: Path) -> None:
    options = ["--small", "--epochs", "1", "--windows", "8", "-q"]
    for name, given in (("one", sequence), ("all", sequence.parent)):
        assert command(["transformer", "train", str(given), "-o", str(tmp_path / name), *options]) == 0
    assert_same(tmp_path / "one", tmp_path / "all")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--dropout", "1"], "the dropout rate is 1.0"),
        (["--epochs", "0"], "epochs is 0; expected at least 1"),
        (["--window", "9"], "the longest movie has 8 frames; a window has 9"),
        (["--window", "1"], "the window is 1; expected at least 2 frames"),
        (["--threads", "0"], "--threads 0: expected at least 1"),
        (["--device", "abacus"], "--device abacus: cannot compute there"),
    ],
)
def test_wrong_options_give_one_line(
    sequence: Path, tmp_path: Path, options: list[str], message: str, capsys: pytest.CaptureFixture
) -> None:
    assert command(["transformer", "train", str(sequence), "-o", str(tmp_path / "model"), "--small", *options]) == 2
    *notes, told = capsys.readouterr().err.splitlines()
    assert told.startswith("dunno: ")
    assert message in told
    assert all(line.startswith("note: ") for line in notes)
    assert list(tmp_path.iterdir()) == []


def test_a_model_for_another_cost_is_refused(sequence: Path, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    assert command(["track", str(sequence), "-o", str(tmp_path / "out"), "--model", "general_2d"]) == 2
    assert "--model general_2d: only --cost transformer has a model, not distance" in capsys.readouterr().err
