"""A small colony whose masks were made by a careless program, tracked with its masks repaired."""

from pathlib import Path

import pytest

import dunno
from dunno.runs.run import track_into
from dunno.simulate import colony


@pytest.fixture(scope="session")
def repaired(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output; some masks are cut, joined and left out, and some tracks are taken for debris."""
    folder = tmp_path_factory.mktemp("repaired")
    shares = {"merged": 0.04, "false": 0.04, "split": 0.03}
    colony(cells=16, frames=14, motion=0.12, seed=2, cycle=9.0, **shares).save(folder / "01")
    movie = dunno.read(folder / "01", masks=folder / "01_RES")
    run = track_into(dunno.Tracker(repair=True, workers=1), movie, folder / "out", ctc=True)
    assert set(run.summary.repairs) == {"split", "joined", "left out"} and run.summary.debris_tracks
    return folder / "out"
