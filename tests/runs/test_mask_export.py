"""The masks of an output alone."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import tifffile

import dunno
from dunno.cli import run
from dunno.runs.run import track_into
from dunno.simulate import colony
from tests.repaired import repaired

__all__ = ["repaired"]


def test_the_masks_are_those_of_the_output_without_debris(
    repaired: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["repair", str(repaired), "-o", str(tmp_path / "masks")]) == 0
    told = capsys.readouterr().out
    summary = json.loads((repaired / "run.json").read_text())["summary"]
    every = summary["tracks"] + summary["debris_tracks"]
    assert f"{summary['debris_tracks']} of {every} tracks are taken for debris; --with-debris writes them" in told
    assert f"{summary['cells']:,} masks in 14 frames" in told
    assert f"{summary['repairs']['split']} were cut in two or three" in told
    cells, tracks = (pd.read_csv(repaired / f"{name}.csv") for name in ("detections", "tracks"))
    debris = cells[cells.track.isin(tracks.track[tracks.p_cell < 0.5])]
    for t in range(14):
        mine = tifffile.imread(tmp_path / "masks" / f"mask{t:03d}.tif")
        theirs = tifffile.imread(repaired / "masks" / f"mask{t:03d}.tif")
        gone = np.isin(theirs, debris.label[debris.frame == t])
        assert (mine[gone] == 0).all() and (mine[~gone] == theirs[~gone]).all()
    assert len(debris)


def test_with_debris_nothing_is_left_out(repaired: Path, tmp_path: Path) -> None:
    assert run(["repair", str(repaired), "-o", str(tmp_path / "masks"), "--with-debris", "-q"]) == 0
    for path in sorted((repaired / "masks").glob("*.tif")):
        np.testing.assert_array_equal(tifffile.imread(tmp_path / "masks" / path.name), tifffile.imread(path))


def test_masks_that_were_not_repaired_are_written_as_they_were(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    simulated = colony(cells=5, frames=4)
    simulated.save(tmp_path / "01")
    movie = dunno.read(tmp_path / "01", masks=tmp_path / "01_GT" / "TRA")
    track_into(dunno.Tracker("distance", "SM", calibration=None), movie, tmp_path / "out")
    assert run(["repair", str(tmp_path / "out"), "-o", str(tmp_path / "masks")]) == 0
    assert "none was repaired" in capsys.readouterr().out
    for t in range(4):
        np.testing.assert_array_equal(tifffile.imread(tmp_path / "masks" / f"mask{t:03d}.tif"), movie.masks(t))
    assert run(["repair", str(tmp_path / "out"), "-o", str(tmp_path / "masks")]) == 2
    assert run(["repair", str(tmp_path / "out"), "-o", str(tmp_path / "masks"), "--overwrite"]) == 0
