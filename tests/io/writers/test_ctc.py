from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tifffile

from dunno import Movie, Tracker
from dunno.errors import InputError
from dunno.io.writers import export
from dunno.tracking import Tracking


def test_ctc_results_obey_the_challenges_rules(tracking: Tracking, tmp_path: Path) -> None:
    tracking.to_ctc(tmp_path / "01_RES")
    rows = np.loadtxt(tmp_path / "01_RES" / "res_track.txt", dtype=int, ndmin=2)
    masks = [tifffile.imread(path) for path in sorted((tmp_path / "01_RES").glob("mask*.tif"))]
    assert len(masks) == len(tracking.movie)
    assert masks[0].dtype == np.uint16
    assert len(np.unique(rows[:, 0])) == len(rows)
    where = {label: [t for t, mask in enumerate(masks) if (mask == label).any()] for label in rows[:, 0]}
    assert {int(label) for mask in masks for label in np.unique(mask)} - {0} == set(rows[:, 0].tolist())
    for label, first, last, mother in rows:
        assert where[label] == list(range(first, last + 1))
        assert mother == 0 or where[mother][-1] == first - 1
    for t, mask in enumerate(masks):
        np.testing.assert_array_equal(mask > 0, tracking.movie.masks(t) > 0)


def test_ctc_counts_the_frames_of_a_coarser_movie_from_zero(tracking: Tracking, tmp_path: Path) -> None:
    Tracker().track(tracking.movie.every(3)).to_ctc(tmp_path / "res")
    names = sorted(path.name for path in (tmp_path / "res").glob("*.tif"))
    assert names == ["mask000.tif", "mask001.tif", "mask002.tif", "mask003.tif"]


def test_volumes_stay_volumes(tmp_path: Path) -> None:
    masks = np.zeros((2, 4, 5, 6), int)
    masks[:, 1:3, 2, 2] = 9
    Tracker().track(Movie(masks)).to_ctc(tmp_path / "ctc")
    assert tifffile.imread(tmp_path / "ctc" / "mask000.tif").shape == (4, 5, 6)


def test_a_movie_without_cells_has_an_empty_table(tmp_path: Path) -> None:
    Tracker().track(Movie(np.zeros((3, 4, 5), int))).to_ctc(tmp_path / "ctc")
    assert (tmp_path / "ctc" / "res_track.txt").read_text() == ""


def test_a_result_needs_the_movies_masks(tracking: Tracking, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is made of the movie's masks; say where they are with --masks"):
        export("ctc", tmp_path / "ctc", tracking.blocks, tracking.about)


def test_tracks_of_debris_are_left_out_as_a_whole(tmp_path: Path) -> None:
    """One that is rather a cell, though two of its objects are not; one of debris; and the daughters of that one."""
    frames = np.zeros((4, 20, 60), np.uint16)
    frames[:, 5:9, 5:9], frames[:2, 5:9, 30:34] = 1, 2
    frames[2:, 5:9, 26:30], frames[2:, 5:9, 34:38] = 3, 4
    tracking = Tracker("distance", "SM", calibration=None, max_distance=8).track(Movie(frames))
    assert [(row.first, row.last, row.mother) for row in tracking.tracks()] == [
        (0, 3, 0),
        (0, 1, 0),
        (2, 3, 2),
        (2, 3, 2),
    ]
    p_cell = np.array([0.4, 0.1, 0.9, 0.1, 0.9, 0.9, 0.9, 0.4, 0.9, 0.9])
    judged = replace(tracking, blocks=(replace(tracking.block, p_cell=p_cell),))
    assert [row.p_cell for row in judged.tracks()] == pytest.approx([0.65, 0.1, 0.9, 0.9])
    judged.to_ctc(tmp_path / "all", with_debris=True)
    assert len(np.loadtxt(tmp_path / "all" / "res_track.txt", int)) == 4
    judged.to_ctc(tmp_path / "out")
    rows = np.loadtxt(tmp_path / "out" / "res_track.txt", int).tolist()
    assert rows == [[1, 0, 3, 0], [2, 2, 3, 0], [3, 2, 3, 0]]
    for t in range(4):
        drawn = set(np.unique(tifffile.imread(tmp_path / "out" / f"mask{t:03d}.tif")).tolist()) - {0}
        assert drawn == {label for label, first, last, _ in rows if first <= t <= last}
