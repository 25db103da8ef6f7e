"""Truth that is no annotated masks: tables and graphs of who is whose mother, for points as for masks."""

from pathlib import Path

import numpy as np
import pytest

from dunno import Movie, Tracker, evaluation, read
from dunno.cli import run
from dunno.errors import TruthError
from dunno.io.truths import read_truth
from dunno.runs.run import track_into
from dunno.simulate import Colony
from dunno.simulate import colony as simulate


@pytest.fixture(scope="module")
def simulated() -> Colony:
    return simulate(cells=12, frames=10, motion=0.15, seed=4)


@pytest.fixture(scope="module")
def folder(simulated: Colony, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The colony's centres, and who is whose mother, as tables."""
    folder, movie, truth = tmp_path_factory.mktemp("truth"), simulated.movie, simulated.truth
    spots, mothers, tracks = ["frame,id,y,x"], ["frame,id,mother_frame,mother"], ["track_id,frame,y,x,parent_track_id"]
    label_of: dict[tuple[int, int], int] = {}
    for t in range(len(movie)):
        cells = movie.detections(t)
        for label, track, (y, x) in zip(cells.label, truth.tracks[t], cells.centroid.tolist(), strict=True):
            label_of[t, int(track)] = int(label)
            row = int(np.searchsorted(truth.track, track))
            before = int(track) if truth.first[row] < t else int(truth.mother[row])
            mother = f"{t - 1},{label_of[t - 1, before]}" if before else ","
            spots.append(f"{t},{label},{y},{x}")
            mothers.append(f"{t},{label},{mother}")
            tracks.append(f"{track},{t},{y},{x},{truth.mother[row] or ''}")
    for name, lines in (("spots.csv", spots), ("truth.csv", mothers), ("tracks.csv", tracks)):
        (folder / name).write_text("\n".join(lines) + "\n")
    return folder


@pytest.mark.parametrize("name", ["truth.csv", "tracks.csv"])
@pytest.mark.parametrize("step", [1, 3])
def test_points_are_judged_as_masks_are(simulated: Colony, folder: Path, name: str, step: int) -> None:
    points = read(folder / "spots.csv").every(step)
    truth, annotated = read_truth(folder / name, points), simulated.truth.every(step)
    tracking = Tracker(calibration=None).track(points)
    found, expected = (evaluation.score(tracking, each) for each in (truth, annotated))
    scores, others = found.to_dict(), expected.to_dict()
    tracks = (
        scores.pop("tracks"),
        others.pop("tracks"),
    )  # a cell of whose daughters one is never seen goes on, in a table
    assert scores == others
    assert tracks[0]["followed"] == tracks[1]["followed"] and 0 <= tracks[1]["cells"] - tracks[0]["cells"] <= 1
    assert found.accuracy > 0.9
    assert found.divisions.true == expected.divisions.true > 0


def test_a_geff_is_truth_by_the_places_of_its_nodes(folder: Path, tmp_path: Path) -> None:
    points = read(folder / "spots.csv")
    tracking = track_into(Tracker(calibration=None), points, tmp_path / "out")
    truth = read_truth(tmp_path / "out" / "tracks.geff", points)
    assert evaluation.score(Tracker(calibration=None).track(points), truth).accuracy == 1.0
    assert tracking.summary.links == sum(int((each > 0).sum()) for each in truth.tracks) - len(
        truth.track[truth.mother == 0]
    )


def test_the_command_evaluates_points(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "out")
    assert run(["track", str(folder / "spots.csv"), "-o", out, "-q", "--calibration", "none"]) == 0
    assert run(["evaluate", out, "--truth", str(folder / "truth.csv"), "--bootstrap", "0"]) == 0
    told = capsys.readouterr().out
    assert "links that are right" in told and "masks beside" not in told


def test_somebody_s_links_of_points_are_judged(folder: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    assert run(["track", str(folder / "spots.csv"), "-o", out, "-q", "--links", str(folder / "tracks.csv")]) == 0
    assert (tmp_path / "out" / "edges.csv").exists()


def test_a_cell_without_a_mother_begins_and_one_that_is_not_told_of_is_not_known(tmp_path: Path) -> None:
    movie = Movie(np.array([[[1, 0, 2, 0, 3]], [[1, 0, 2, 0, 3]]]))
    path = tmp_path / "truth.csv"
    path.write_text("frame,id,mother_frame,mother\n1,1,0,2\n1,2,,\n")
    truth = read_truth(path, movie)
    assert [each.tolist() for each in truth.tracks] == [[0, 1, 0], [1, 2, 0]]
    assert truth.mother.tolist() == [0, 0]


def test_a_link_that_skips_frames_begins_a_track_and_a_division_two(tmp_path: Path) -> None:
    movie = Movie(np.array([[[1, 0, 0]], [[1, 0, 2]], [[0, 0, 2]], [[1, 0, 2]]]))
    path = tmp_path / "truth.csv"
    path.write_text("frame,id,mother_frame,mother\n1,1,0,1\n1,2,0,1\n2,2,1,2\n3,2,2,2\n3,1,1,1\n")
    truth = read_truth(path, movie)
    assert [each.tolist() for each in truth.tracks] == [[1], [2, 3], [3], [4, 3]]
    assert truth.mother.tolist() == [0, 1, 1, 2]
    assert (truth.first.tolist(), truth.last.tolist()) == ([0, 1, 1, 3], [0, 1, 3, 3])


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        (["1,1,0,1", "1,1,0,2"], "cell 1 in frame 1 has two mothers"),
        (["1,1,1,2"], "the mother of cell 1 in frame 1 is not in an earlier frame"),
        (["1,one,0,1"], "line 2: expected whole numbers, not frame '1' and id 'one'"),
        (["1,77,0,78"], "names no cell of"),
    ],
)
def test_what_no_cell_can_have_is_refused(tmp_path: Path, rows: list[str], problem: str) -> None:
    movie = Movie(np.array([[[1, 0, 2]], [[1, 0, 2]]]))
    path = tmp_path / "truth.csv"
    path.write_text("\n".join(["frame,id,mother_frame,mother", *rows]) + "\n")
    with pytest.raises(TruthError, match=problem):
        read_truth(path, movie)


def test_a_table_without_the_columns_says_what_it_expects(tmp_path: Path) -> None:
    path = tmp_path / "truth.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(TruthError, match="has the columns a, b; expected the columns frame, id, mother_frame, mother"):
        read_truth(path, Movie(np.array([[[1]], [[1]]])))
