"""What is measured where some tracks are debris, and where links are odd."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dunno
from dunno.biology import measure
from dunno.biology.results_folder import write_biology
from dunno.cli import run
from dunno.runs.run import track_into
from dunno.simulate import colony
from tests.repaired import repaired

__all__ = ["repaired"]


def test_debris_is_not_measured_unless_asked_for(
    repaired: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tracks, cells = (pd.read_csv(repaired / f"{name}.csv") for name in ("tracks", "detections"))
    is_cell = tracks[tracks.p_cell >= 0.5]
    for options, mine in (((), is_cell), (("--with-debris",), tracks)):
        folder = tmp_path / f"m{len(options)}"
        assert run(["measure", str(repaired), "-o", str(folder), "--samples", "5", *options]) == 0
        told = capsys.readouterr().out
        assert f"{len(tracks) - len(is_cell)} of {len(tracks)} tracks are taken for debris" in told
        assert ("--with-debris measures them" in told) == (not options)
        found = pd.read_csv(folder / "tracks.csv")
        assert set(found.track) == set(mine.track)  # under the numbers of the output's own table
        rows = found.set_index("track").loc[mine.track]
        np.testing.assert_allclose(rows.confidence, mine.confidence, rtol=1e-6)
        own = cells[cells.track.isin(mine.track)].set_index(["frame", "label"])
        each = pd.read_csv(folder / "cells.csv").set_index(["frame", "label"])
        assert len(each) == len(own)
        assert (each.track.sort_index() == own.track.sort_index()).all()
        np.testing.assert_allclose(each.p_cell.sort_index(), own.p_cell.sort_index(), atol=1e-6)


def test_every_value_lies_in_its_interval(repaired: Path) -> None:
    found = measure(dunno.open(repaired), samples=40)
    assert found.draws
    for each in found.figures:
        for low, high in ((each.low, each.high), (each.low_cells, each.high_cells)):
            assert np.isnan(low) or low <= each.value <= high
    for name in ("divisions", "appearing", "lost"):
        columns = found.tables["frames"]
        assert (columns[f"{name}_low"] <= columns[name]).all() and (columns[name] <= columns[f"{name}_high"]).all()


def test_a_run_of_several_blocks_is_measured_like_one(tmp_path: Path) -> None:
    """The reported lineage is that of the output's tables, wherever blocks begin."""
    movie = colony(cells=6, frames=140, motion=0.2, cycle=60, seed=3).movie
    track_into(dunno.Tracker(workers=1, evidence="places"), movie, tmp_path / "out")
    tracking = dunno.Tracking(movie, *_blocks_and_about(tmp_path / "out"))
    assert len(tracking.blocks) > 1
    found = {each.name: each.reported for each in measure(tracking, samples=0).figures}
    tracks = pd.read_csv(tmp_path / "out" / "tracks.csv")
    assert found["divisions"] == (tracks.ending == "division").sum()
    born = tracks.mother_track > 0
    assert found["complete_cycles"] == (born & (tracks.ending == "division")).sum()


def _blocks_and_about(folder: Path) -> tuple:
    from dunno.io.block_files import linked_blocks
    from dunno.io.output import read_run

    return tuple(linked_blocks(folder)), read_run(folder)


def test_mothers_of_three_and_cells_of_two_mothers_are_measured(tmp_path: Path) -> None:
    """Links that nobody should make, and programs do: every table is written."""
    tracking = dunno.Tracker(workers=1, evidence="places").track(colony(cells=12, frames=8, motion=0.4, seed=1).movie)
    block = tracking.block
    selected = block.selected.copy()
    into = np.flatnonzero(block.frame_of[block.daughter] == 3)
    crowded = np.bincount(block.mother[into]).argmax()
    selected[into[block.mother[into] == crowded][:3]] = True
    shared = np.bincount(block.daughter[into]).argmax()
    selected[into[block.daughter[into] == shared][:2]] = True
    assert np.bincount(block.mother[selected]).max() == 3 and np.bincount(block.daughter[selected]).max() >= 2
    odd = replace(tracking, blocks=(replace(block, selected=selected),))
    write_biology(measure(odd, samples=3), tmp_path / "out")
    table = pd.read_csv(tmp_path / "out" / "tracks.csv")
    assert table.confidence.notna().all() and table.track.is_unique
