from pathlib import Path

import numpy as np
import pytest

from dunno import Movie, read
from dunno.errors import InputError, MovieError
from dunno.io import read_links

from ...conftest import COLONY
from ..movies import write_frames
from .colony import as_set

NAMES = [f"mask{t:03d}.tif" for t in range(3)]
AS_TRACKS = [np.array([0, 1, 2, 3]), np.array([0, 1, 3, 2, 4]), np.array([0, 1, 3, 5, 2])]
"""The track of each label, frame by frame."""

TABLE = "1 0 2 0\n2 0 2 0\n3 0 2 0\n4 1 1 0\n5 2 2 0\n"


def example(folder: Path, movie: Movie) -> Path:
    return result(folder / "01_RES", TABLE)


def result(folder: Path, table: str, frames: list[np.ndarray] | None = None) -> Path:
    tracks = [names[masks].astype(np.uint16) for names, masks in zip(AS_TRACKS, COLONY, strict=True)]
    write_frames(folder, NAMES, frames or tracks)
    (folder / "res_track.txt").write_text(table)
    return folder


def test_a_daughter_comes_from_her_mothers_last_cell(colony: Movie, tmp_path: Path) -> None:
    links = read_links(result(tmp_path / "r", "1 0 0 0\n2 0 1 0\n3 0 2 0\n4 1 1 1\n5 2 2 4\n"), colony)
    assert as_set(links) == {(0, 2, 1, 3), (0, 3, 1, 2), (1, 2, 2, 2), (0, 1, 1, 4), (1, 4, 2, 3)}
    assert links.unmatched == ()


def test_a_track_that_is_not_seen_for_a_frame_has_a_gap(colony: Movie, tmp_path: Path) -> None:
    tracks = [names[masks].astype(np.uint16) for names, masks in zip(AS_TRACKS, COLONY, strict=True)]
    tracks[1][tracks[1] == 2] = 0
    links = read_links(result(tmp_path / "r", TABLE, tracks), colony)
    assert as_set(links) == {(0, 1, 1, 1), (1, 1, 2, 1), (0, 3, 1, 2), (1, 2, 2, 2), (0, 2, 2, 4)}
    assert links.unmatched == ()
    assert links.longest_gap == 1


def test_a_label_may_have_several_rows_which_are_tracks_of_their_own(colony: Movie, tmp_path: Path) -> None:
    links = read_links(result(tmp_path / "r", "1 0 0 0\n1 1 2 0\n2 0 2 0\n3 0 2 0\n4 1 1 0\n5 2 2 0\n"), colony)
    assert as_set(links) == {(1, 1, 2, 1), (0, 2, 1, 3), (1, 3, 2, 4), (0, 3, 1, 2), (1, 2, 2, 2)}


def test_a_mother_that_no_detection_shows_and_a_mask_beside_every_cell_are_listed(
    colony: Movie, tmp_path: Path
) -> None:
    tracks = [names[masks].astype(np.uint16) for names, masks in zip(AS_TRACKS, COLONY, strict=True)]
    tracks[0][0, 0] = 9
    links = read_links(result(tmp_path / "r", TABLE.replace("4 1 1 0", "4 1 1 9"), tracks), colony)
    assert len(links) == 6
    assert links.unmatched == (
        "9 in mask000.tif: no detection covers more than half of it",
        "track 4 comes from track 9, which matches no detection",
    )


def test_a_missing_mask_or_one_of_another_shape_is_named(colony: Movie, tmp_path: Path) -> None:
    folder = result(tmp_path / "r", TABLE)
    write_frames(folder, [NAMES[2]], [np.zeros((3, 3), np.uint16)])
    with pytest.raises(MovieError, match=r"mask002.tif: a frame of shape \(3, 3\); the movie's have \(6, 12\)"):
        read_links(folder, colony)
    (folder / NAMES[2]).unlink()
    with pytest.raises(InputError, match="has no mask for frame 2"):
        read_links(folder, colony)


@pytest.mark.filterwarnings("ignore:masks are taken from")
def test_the_challenges_own_truth_is_a_source_of_links(data: Path) -> None:
    movie = read(data / "Fluo-N2DL-HeLa/01")
    links = read_links(data / "Fluo-N2DL-HeLa/01_GT/TRA", movie)
    assert int((links.gap == 0).sum()) == 8518
    assert len(links) == 8526
    assert len(links.unmatched) == 37  # the eight across gaps are links now
    assert any("no detection covers more than half of it" in problem for problem in links.unmatched)
