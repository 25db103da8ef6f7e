"""A movie with gaps, and one whose masks are judged too: the same bytes for any workers, and for a run that was broken off."""

from pathlib import Path

import pytest
import tifffile

import dunno
from dunno import Movie, Tracker
from dunno.io.block_files import linked_blocks
from dunno.runs.run import track_into
from dunno.simulate import FaultShares, colony, spoil
from dunno.work.schedule import open_pool

from .test_run import Stops, content, stop_after

KINDS = ("gaps", "masks")
FAULTS = {"gaps": FaultShares(missed=0.04), "masks": FaultShares(missed=0.04, false=0.02, merged=0.03, split=0.02)}
CHOICES = {"gaps": {"evidence": "places"}, "masks": {"repair": True}}


def save_spoiled(kind: str, folder: Path) -> Path:
    """A small colony with faults as a stack of 36 frames, three blocks."""
    made = colony(cells=16, frames=36, motion=0.1, seed=4, cycle=30.0)
    movie = spoil(made.movie, made.truth, FAULTS[kind], seed=2).movie
    with tifffile.TiffWriter(folder / f"{kind}.tif") as stack:
        for t in range(len(movie)):
            stack.write(movie.masks(t).astype("uint16"), contiguous=True)
    return folder / f"{kind}.tif"


def tracker(kind: str, **more: object) -> Tracker:
    return Tracker(**CHOICES[kind], **more)  # type: ignore[arg-type]


@pytest.fixture(scope="module", params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def movie(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Movie:
    return dunno.read(save_spoiled(kind, tmp_path_factory.mktemp("spoiled")))


@pytest.fixture(scope="module")
def alone(kind: str, movie: Movie, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What one worker makes of it, without an accident."""
    out = tmp_path_factory.mktemp("alone") / "out"
    track_into(tracker(kind, workers=1), movie, out)
    return out


def test_the_movies_have_what_they_are_for(kind: str, alone: Path) -> None:
    pairs = [pair for block in linked_blocks(alone) for pair in block.pairs()]
    across = {t // 16 for t, pair in enumerate(pairs) if pair.earlier.selected.any()}
    assert len(across) > 1  # in several blocks
    repairs = (alone / "repairs.csv").read_text() if kind == "masks" else "split, left out"
    assert "split" in repairs and "left out" in repairs


def test_threads_give_the_same_bytes(kind: str, movie: Movie, alone: Path, tmp_path: Path) -> None:
    track_into(tracker(kind, workers=2), movie, tmp_path / "out")
    assert content(tmp_path / "out") == content(alone)


def test_processes_give_the_same_bytes(kind: str, movie: Movie, alone: Path, tmp_path: Path) -> None:
    with open_pool(2, processes=True) as pool:
        track_into(tracker(kind, executor=pool), movie, tmp_path / "out")
    assert content(tmp_path / "out") == content(alone)


@pytest.mark.parametrize("after", [1, 2])
def test_a_resumed_run_ends_with_the_same_bytes(
    kind: str, movie: Movie, alone: Path, tmp_path: Path, after: int
) -> None:
    with pytest.raises(Stops):
        track_into(tracker(kind, workers=1), movie, tmp_path / "out", tell=stop_after(after))
    assert not (tmp_path / "out").exists()
    track_into(tracker(kind, workers=2), movie, tmp_path / "out", resume=True)
    assert content(tmp_path / "out") == content(alone)


def test_the_same_in_memory_as_in_files(kind: str, movie: Movie, alone: Path) -> None:
    """`tracks.csv` of a run has the lines of `Tracking.to_csv`."""
    folder = alone.parent / "memory"
    tracker(kind, workers=2).track(movie).to_csv(folder, overwrite=True)
    for name in ("tracks.csv", "edges.csv", "detections.csv"):
        assert (folder / name).read_bytes() == (alone / name).read_bytes()
