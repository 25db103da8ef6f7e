"""Points without masks: places are all that is known."""

import json
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from dunno import Tracker, read
from dunno.cli import run
from dunno.errors import MovieError, OutputError
from dunno.runs.run import track_into
from dunno.simulate import colony as simulate

from ...conftest import COLONY


def example(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        f"{t},{label},{','.join(map(str, np.argwhere(frame == label).mean(axis=0)))}"
        for t, frame in enumerate(COLONY)
        for label in np.unique(frame[frame > 0])
    ]
    (folder / "spots.csv").write_text("frame,label,y,x\n" + "\n".join(lines) + "\n")
    return folder / "spots.csv"


def test_a_table_of_points_is_a_movie_of_places(tmp_path: Path) -> None:
    movie = read(example(tmp_path), scale=(2.0, 0.5))
    assert (len(movie), movie.n_dimensions, movie.has_masks) == (3, 2, False)
    cells = movie.detections(0)
    assert cells.label.tolist() == [1, 2, 3]
    assert cells.centroid.tolist() == [[3.0, 0.75], [3.0, 4.75], [9.0, 2.5]]
    assert cells.covariance is None
    assert len(set(cells.area.tolist())) == 1
    with pytest.raises(MovieError, match="spots.csv, frame 0: has points and no masks; give masks, or leave out"):
        movie.masks(0)
    assert movie.notes == ("points without masks: places are the only evidence",)


def spots_of(movie: object, folder: Path, header: str = "t,z,y,x") -> Path:
    rows = []
    for t in range(len(movie)):  # type: ignore[arg-type]
        for y, x in movie.detections(t).centroid:  # type: ignore[attr-defined]
            rows.append(f"{t},{(7 * y + x) % 13},{y},{x}")
    (folder / "points.csv").write_text("\n".join([header, *rows]) + "\n")
    return folder / "points.csv"


def test_points_are_tracked_resumed_and_opened_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = spots_of(simulate(cells=12, frames=10, motion=0.1).movie, tmp_path)
    command = ["track", str(path), "-o", str(tmp_path / "out"), "--scale", "0.1,1,1"]
    assert run(command) == 0
    assert "note: points without masks: places are the only evidence" in capsys.readouterr().err
    content = json.loads((tmp_path / "out" / "run.json").read_text())
    assert content["summary"]["links"] > 80
    assert run([*command, "--resume", "-q"]) == 0
    assert run(["report", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / "report.html").read_text().count("<img ") > 10  # points are drawn as discs
    assert run(["review", str(tmp_path / "out"), "--export", str(tmp_path / "reviewed")]) == 0
    assert (tmp_path / "reviewed" / "tracks.geff").exists()
    assert not (tmp_path / "reviewed" / "ctc").exists()
    path.write_text(path.read_text().replace("\n3,", "\n3,1", 1))
    assert run([*command, "--resume", "-q"]) == 2
    assert "frame 3: the masks have changed since they were measured" in capsys.readouterr().err


def test_points_find_the_links_that_masks_find(tmp_path: Path) -> None:
    simulated = simulate(cells=12, frames=6, motion=0.1).movie
    rows = [
        f"{t},{label},{y},{x}"
        for t in range(6)
        for label, (y, x) in zip(simulated.detections(t).label, simulated.detections(t).centroid, strict=True)
    ]
    (tmp_path / "p.csv").write_text("\n".join(["frame,label,y,x", *rows]))
    options = {"calibration": None, "max_distance": 15.0}
    first, second = (Tracker(**options).track(each) for each in (simulated, read(tmp_path / "p.csv")))
    for mine, theirs in zip(first.pairs, second.pairs, strict=True):
        np.testing.assert_array_equal(mine.selected, theirs.selected)
        np.testing.assert_allclose(mine.probability, theirs.probability, atol=1e-9)


def test_trackmates_spots_and_flat_volumes_are_read(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text(
        "LABEL,ID,TRACK_ID,POSITION_X,POSITION_Y,POSITION_Z,FRAME,RADIUS\n"
        "Label,Spot ID,Track ID,X,Y,Z,Frame,Radius\nLabel,Spot ID,Track ID,X,Y,Z,Frame,R\n,,,(micron),(micron),(micron),,(micron)\n"
        "ID7,7,0,2.5,1.5,0,0,3\nID9,9,0,2.5,2.5,0,2,3\n"
    )
    movie = read(tmp_path / "s.csv")
    assert movie.frames.tolist() == [0, 2]
    assert movie.detections(0).label.tolist() == [1]  # LABEL holds no numbers
    assert movie.detections(1).centroid.tolist() == [[2.5, 2.5]]
    assert movie.detections(0).diameter == pytest.approx([6.0])
    assert "all points have the same z, which is left out" in movie.notes


def test_a_geff_is_read_by_its_nodes(tmp_path: Path) -> None:
    import geff

    graph = nx.DiGraph()
    for t in range(3):
        graph.add_node(t, t=t, z=1.0 + t, y=2.0, x=3.5)
    geff.write(graph, tmp_path / "g.geff", axis_names=["t", "z", "y", "x"])
    movie = read(tmp_path / "g.geff")
    assert (len(movie), movie.n_dimensions) == (3, 3)
    assert movie.detections(2).centroid.tolist() == [[3.0, 2.0, 3.5]]
    assert movie.detections(2).label.tolist() == [3]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,2\n", "p.csv: has the columns a, b; expected the columns frame, .z,. y, x in pixels"),
        ("", r"p.csv: has the columns \(none\); expected"),
        ("frame,y,x\n", "p.csv: has no points"),
        ("frame,y,x\n0,1,one\n", "p.csv: row 0 has 'one' as x; expected a number"),
        ("frame,y,x\n0,1,nan\n", "p.csv: row 0 has no place"),
        ("frame,y,x\n0,1,1\n1,1,1\n99999999,1,1\n", "p.csv: 3 points would be in 100,000,000 frames; is 99999999 a fr"),
        ("frame,y,x\n0.5,1,1\n", "p.csv: row 0 has the frame 0.5; expected whole numbers from 0"),
    ],
)
def test_tables_that_are_no_points_say_what_came(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "p.csv").write_text(content)
    with pytest.raises(MovieError, match=message):
        read(tmp_path / "p.csv")


def test_what_needs_masks_is_refused(tmp_path: Path) -> None:
    movie = read(example(tmp_path))
    with pytest.raises(OutputError, match="has points and no masks, which a CTC result is made of; leave out --ctc"):
        track_into(Tracker(), movie, tmp_path / "out", ctc=True)
    with pytest.raises(MovieError, match="leave out --label-components"):
        read(tmp_path / "spots.csv", label_components=True)
    part = read(tmp_path / "spots.csv", region=((0, 3), (0, 12)))
    assert part.detections(0).label.tolist() == [1, 2]


def trackmate(path: Path, spots: str, unit: str = "micron", size: str = "0.5") -> Path:
    image = f'<ImageData pixelwidth="{size}" pixelheight="0.25" voxeldepth="2" timeinterval="120"/>'
    path.write_text(
        f'<TrackMate version="8.1.2"><Model spatialunits="{unit}" timeunits="sec"><AllSpots>{spots}</AllSpots></Model>'
        f"<Settings>{image}</Settings></TrackMate>"
    )
    return path


def spot(name: int, t: int, place: tuple[float, float, float], more: str = "") -> str:
    z, y, x = place
    return f'<Spot ID="{name}" FRAME="{t}" POSITION_X="{x}" POSITION_Y="{y}" POSITION_Z="{z}" RADIUS="1.5" {more}/>'


def test_trackmates_spots_are_points_with_their_radius(tmp_path: Path) -> None:
    spots = [
        spot(0, 0, (0, 2, 3)),
        spot(7, 0, (0, 5, 6)),
        spot(3, 2, (0, 2, 4)),
        spot(9, 2, (0, 8, 8), 'VISIBILITY="0"'),
    ]
    movie = read(trackmate(tmp_path / "s.xml", "".join(spots)))
    assert (movie.frames.tolist(), movie.scale, movie.interval) == ([0, 2], (0.25, 0.5), 2.0)
    cells = movie.detections(0)
    assert cells.label.tolist() == [1, 8]
    assert cells.centroid.tolist() == [[2.0, 3.0], [5.0, 6.0]]
    np.testing.assert_allclose(cells.area, np.pi * 1.5**2)
    assert len(movie.detections(1)) == 1  # what TrackMate hides is left out
    assert "0.25 × 0.5 µm/pixel, 2 min between frames, from the file" in movie.notes
    volume = read(trackmate(tmp_path / "v.xml", spot(1, 0, (4, 2, 3)) + spot(2, 1, (6, 2, 3))))
    assert volume.scale == (2.0, 0.25, 0.5)
    assert volume.detections(1).centroid.tolist() == [[6.0, 2.0, 3.0]]


def test_spots_in_pixels_have_no_scale(tmp_path: Path) -> None:
    movie = read(trackmate(tmp_path / "s.xml", spot(1, 0, (0, 2, 3)) + spot(2, 1, (0, 2, 3)), unit="pixel", size="1"))
    assert not movie.has_scale
    with pytest.raises(MovieError, match="s.xml: has pixels of size .* expected sizes above zero"):
        read(trackmate(tmp_path / "s.xml", spot(1, 0, (0, 2, 3)), size="0"))
    with pytest.raises(MovieError, match="s.xml: holds no TrackMate spots"):
        read(trackmate(tmp_path / "s.xml", ""))


def test_cocos_objects_may_overlap(tmp_path: Path) -> None:
    """Two discs that cross each other: a label image has no room for both."""
    images = [{"id": 50 - t, "file_name": f"img_{t}.png", "height": 60, "width": 60} for t in range(12)]
    rle = {"size": [60, 60], "counts": "not looked at"}
    objects = [
        {
            "id": 2 * t + k,
            "image_id": 50 - t,
            "bbox": [4 * t if k else 44 - 4 * t, 20 + 3 * k, 9, 9],
            "segmentation": rle,
        }
        for t in range(12)
        for k in (0, 1)
    ]
    path = tmp_path / "coco.json"
    path.write_text(json.dumps({"images": images, "annotations": objects, "categories": []}))
    movie = read(path)
    assert (len(movie), movie.has_masks) == (12, False)
    cells = movie.detections(5)
    assert cells.label.tolist() == [11, 12]
    assert cells.centroid.tolist() == [[24.0, 28.0], [27.0, 24.0]]  # the centres of their pixels
    assert cells.area[0] == pytest.approx(np.pi * 4.5**2)
    assert run(["track", str(path), "-o", str(tmp_path / "out"), "--method", "SM", "--max-distance", "8", "-q"]) == 0
    path.write_text(json.dumps({"images": images, "annotations": [{"id": 1, "image_id": 50, "segmentation": rle}]}))
    with pytest.raises(
        MovieError, match=r"cannot be read as COCO annotations \('bbox'\); expected images with a file_name, and"
    ):
        read(path)
    path.write_text(json.dumps({"images": images, "annotations": [{**objects[0], "bbox": [10**400, 1, 2, 2]}]}))
    with pytest.raises(MovieError, match="cannot be read as COCO annotations .*too large"):
        read(path)
