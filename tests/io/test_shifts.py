"""Tables of shifts, as programs that register movies write them."""

import re
from pathlib import Path

import numpy as np
import pytest

import dunno
from dunno import Movie, Tracker
from dunno.cli import run
from dunno.errors import DunnoWarning, InputError, MovieError
from dunno.io.frame_tables import read_shifts
from dunno.simulate import colony

FRAMES = [4, 6, 8]
STILL = colony(cells=5, frames=4, motion=0.1, cycle=60.0, seed=1).movie
MOVIE = Movie([np.eye(6, dtype=int)] * 3, frames=np.array(FRAMES))
EXPECTED = [[0.0, 0.0], [1.5, -2.0], [3.0, -4.0]]


@pytest.mark.parametrize(
    "text",
    [
        "frame,dy,dx\n4,0,0\n6,1.5,-2\n8,3,-4\n",
        "frame,dx,dy\n8,-4,3\n5,9,9\n6,-2,1.5\n4,0,0\n",
        "Frame,quality,shift_y,shift_x\n4,a,0,0\n6,b,1.5,-2\n8,c,3,-4\n",
        "4,0,0\n6,1.5,-2\n8,3,-4\n",
        "y,x\n0,0\n1.5,-2\n3,-4\n",
        "\ufeff0,0\n1.5,-2\n\n3,-4\n",
    ],
    ids=["named", "in another order, with more frames", "with more columns", "no names", "no frames", "numbers alone"],
)
def test_forms_of_a_table(text: str, tmp_path: Path) -> None:
    (tmp_path / "shifts.csv").write_text(text, encoding="utf-8")
    assert read_shifts(tmp_path / "shifts.csv", MOVIE).tolist() == EXPECTED


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it is empty; expected columns frame"),
        ("frame,rotation\n0,1\n", "has the columns frame, rotation; expected"),
        ("1,2,3,4\n", "has 4 columns and no names"),
        ("frame,dy,dx\n4,0,0\n6,1.5,north\n8,3,-4\n", "['6', '1.5', 'north'] came"),
        ("frame,dy,dx\n4,0,0\n8,3,-4\n", "says nothing of frame 6; expected a row for each of 3 frames"),
    ],
)
def test_what_is_no_table_of_shifts_is_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "shifts.csv").write_text(text)
    with pytest.raises(InputError, match=re.escape(message)):
        read_shifts(tmp_path / "shifts.csv", MOVIE)


def test_there_is_a_shift_for_each_frame_and_axis() -> None:
    with pytest.raises(MovieError, match=re.escape("shifts of shape (2, 2); expected (3, 2)")):
        MOVIE.with_shifts(EXPECTED[:2])
    timed = MOVIE.with_shifts(EXPECTED)
    assert timed.every(2).shifts is not None and timed.every(2).shifts.tolist() == EXPECTED[::2]
    assert MOVIE.shifts is None


def drifting() -> tuple[list[np.ndarray], np.ndarray]:
    """Few cells, of which nothing could be found by itself, and a stage that moves by more than they are apart."""
    place = np.array([[0, 0], [0, 41], [30, 11], [30, 60]])
    return [np.pad(STILL.masks(t), ((y, 60 - y), (x, 60 - x))) for t, (y, x) in enumerate(place.tolist())], -place


def test_links_count_from_where_the_table_puts_the_frames() -> None:
    frames, shifts = drifting()
    options = {"max_distance": 4.0, "workers": 1, "evidence": "places", "max_gap": 0}
    still = Tracker(**options).track(STILL)
    moved = Tracker(**options).track(Movie(frames, scale=1.0).with_shifts(shifts))
    for known, found in zip(still.pairs, moved.pairs, strict=True):
        assert found.mother.tolist() == known.mother.tolist() and len(found.mother)
        np.testing.assert_allclose(found.probability, known.probability, atol=0.02)
    assert len(Tracker(**options).track(Movie(frames)).edges) < len(moved.edges)


def test_the_command_line_takes_the_table_and_keeps_it(tmp_path: Path) -> None:
    frames, shifts = drifting()
    np.save(tmp_path / "masks.npy", np.stack(frames))
    np.savetxt(tmp_path / "shifts.csv", shifts, delimiter=",", header="dy,dx", comments="")
    told = ["track", str(tmp_path / "masks.npy"), "--axes", "TYX", "--shifts", str(tmp_path / "shifts.csv"), "-q"]
    assert run([*told, "-o", str(tmp_path / "out")]) == 0
    assert dunno.tracking.Tracking.read(tmp_path / "out").about.shifts == shifts.tolist()


def test_signs_that_are_the_other_way_round_are_noticed(tmp_path: Path) -> None:
    frames, shifts = drifting()
    np.save(tmp_path / "masks.npy", np.stack(frames))
    with pytest.warns(DunnoWarning, match="with the signs exchanged"):
        dunno.read(tmp_path / "masks.npy", axes="TYX", shifts=-shifts)
    dunno.read(tmp_path / "masks.npy", axes="TYX", shifts=shifts)
