"""`dunno info`, and what `dunno track` says first."""

import json
from pathlib import Path

import numpy as np
import pytest
import tifffile

from dunno.cli import run
from dunno.simulate import colony as simulate

from ..conftest import COLONY


@pytest.fixture
def stack(tmp_path: Path) -> Path:
    """A stack with the size of a pixel, and images beside it."""
    options = {"photometric": "minisblack", "imagej": True, "resolution": (1 / 0.65, 1 / 0.65)}
    metadata = {"axes": "TYX", "unit": "um", "finterval": 300.0}
    tifffile.imwrite(tmp_path / "masks.tif", np.stack(COLONY), metadata=metadata, **options)
    tifffile.imwrite(tmp_path / "raw.tif", np.stack(COLONY) * 9, photometric="minisblack")
    return tmp_path / "masks.tif"


def test_info_says_what_a_path_is_taken_for(stack: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["info", str(stack)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "read as    a TIFF stack (.tif, .tiff)",
        f"masks      {stack}",
        "images     yes",
        "frames     3 (0 to 2)",
        "size       6 × 12 pixels (y, x)",
        "cells      11 masks, 3 to 4 in a frame",
        "scale      0.65 µm/pixel, 5 min between frames",
        f"note: images are taken from {stack.with_name('raw.tif')}, beside the masks",
        "note: 0.65 µm/pixel, 5 min between frames, from the file",
        "note: 2 of 11 masks are single pixels (label 4 in frame 1), and taken for cells; if they are dirt, remove them from "
        "the masks",
    ]
    assert run(["info", str(stack), "--json", "--frames", "1:", "--scale", "2"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert (content["frames"], content["cells"], content["scale"]) == ([1, 2], [4, 4], [2.0, 2.0])


def test_info_refuses_images_and_names_broken_frames(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    simulate(cells=8, frames=3).save(tmp_path / "01")
    images = (tmp_path / "01").rename(tmp_path / "pictures")
    assert run(["info", str(images)]) == 2
    assert "so this is an image, not masks; segment it first" in capsys.readouterr().err
    assert run(["track", str(images), "-o", str(tmp_path / "out")]) == 2
    assert "so this is an image, not masks; segment it first" in capsys.readouterr().err
    (images / "t001.tif").write_bytes(b"")
    assert run(["info", str(images)]) == 2
    assert "t001.tif: cannot be read" in capsys.readouterr().err


def test_track_says_first_what_it_found(stack: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["track", str(stack), "-o", str(tmp_path / "out"), "--max-distance", "3", "--verbose"]) == 0
    captured = capsys.readouterr()
    assert captured.err.splitlines()[:4] == [
        f"note: masks from {stack}",
        f"note: images are taken from {stack.with_name('raw.tif')}, beside the masks",
        "note: 0.65 µm/pixel, 5 min between frames, from the file",
        "note: 2 of 11 masks are single pixels (label 4 in frame 1), and taken for cells; if they are dirt, remove them from "
        "the masks",
    ]
    assert "3 µm" in captured.out


def test_binary_masks_are_tracked_as_pieces_if_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    masks = (np.stack(COLONY) > 0).astype(np.uint8) * 255
    tifffile.imwrite(tmp_path / "binary.tif", masks, photometric="minisblack")
    command = ["track", str(tmp_path / "binary.tif"), "-o", str(tmp_path / "out"), "--max-distance", "3"]
    assert run(command) == 2
    assert "--label-components makes a cell of every connected piece" in capsys.readouterr().err
    assert run([*command, "--label-components", "-q"]) == 0
    assert run(["report", str(tmp_path / "out")]) == 0  # the masks are opened again as they were
    content = json.loads((tmp_path / "out" / "run.json").read_text())
    assert content["parameters"]["opened_with"] == {"label_components": True}
    assert content["summary"]["cells"] == 11


def test_a_movie_with_gaps_and_its_parts_are_opened_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m").mkdir()
    for t, frame in zip((2, 6, 7, 9), [*COLONY, COLONY[0]], strict=True):
        tifffile.imwrite(tmp_path / "m" / f"t{t:03d}.tif", frame)
    options = ["--max-distance", "3", "--frames", "2:9", "--region", "0:6,0:12", "--every", "1"]
    assert run(["track", str(tmp_path / "m"), "-o", str(tmp_path / "out"), *options]) == 0
    said = capsys.readouterr().err
    assert "note: frames 3, 4, 5, 8 are missing; frames keep the numbers of their files" in said
    assert "note: frames 2 to 7 of 2 to 9" in said
    about = json.loads((tmp_path / "out" / "run.json").read_text())["parameters"]
    assert (about["frames"], about["step"]) == ([2, 6, 7], 1)
    edges = (tmp_path / "out" / "edges.csv").read_text().splitlines()
    assert {tuple(row.split(",")[:3:2]) for row in edges[1:]} == {("2", "6"), ("6", "7")}
    assert run(["report", str(tmp_path / "out")]) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--frames", "x"], "--frames x: expected A:B, such as 10:50 for frames 10 to 49"),
        (["--frames", "7:9"], "has no frames from 7 up to 9; its frames are 0 to 2"),
        (["--region", "5"], "--region 5: expected y0:y1,x0:x1 in pixels"),
        (["--region", "0:2,0:2,0:2"], "--region has 3 sides, but frames have 2 axes"),
        (["--axes", "TZYX"], "--axes TZYX names 4 axes, but the array has 3"),
        (["--channel", "1"], "--channel 1: neither the masks nor the images have several channels"),
        (["--images", "nowhere"], "nowhere: there is no such file or folder; --images"),
    ],
)
def test_options_that_cannot_be_get_one_line(
    stack: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    assert run(["info", str(stack), *options]) == 2
    assert message in capsys.readouterr().err


def test_the_shared_volumes_are_tracked(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stack = str(data / "Fluo-N3DH-CHO_02_masks.tif")
    assert run(["track", stack, "-o", str(tmp_path / "out")]) == 2
    assert "--axes, such as TZYX" in capsys.readouterr().err
    assert run(["track", stack, "-o", str(tmp_path / "out"), "--axes", "TZYX", "-q"]) == 0
    edges = np.genfromtxt(tmp_path / "out" / "edges.csv", delimiter=",", names=True)
    links = edges[edges["selected"] == 1]
    assert (links["mother"] == links["daughter"]).mean() > 0.9  # labels persist over time


def test_truth_one_level_too_high_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    simulate(cells=6, frames=5).save(tmp_path / "01")
    assert run(["track", str(tmp_path / "01"), "-o", str(tmp_path / "out"), "-q"]) == 0
    for place in ("01_GT", "01"):
        assert run(["evaluate", str(tmp_path / "out"), "--truth", str(tmp_path / place), "--bootstrap", "0"]) == 0
    assert run(["info", str(tmp_path)]) == 2
    assert f"did you mean {tmp_path / '01'}?" in capsys.readouterr().err


def test_info_counts_points(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.csv").write_text("frame,y,x\n0,1,1\n0,5,5\n1,1,1\n")
    assert run(["info", str(tmp_path / "p.csv")]) == 0
    assert "cells      3 points, 1 to 2 in a frame" in capsys.readouterr().out


def test_one_thing_is_said_once_for_all_frames(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frames = np.stack([COLONY[0]] * 1000).astype(float)
    frames[3:] *= 0.01 * np.arange(1, 998)[:, None, None]
    frames[7] = -1.0 * COLONY[0]
    np.save(tmp_path / "m.npy", frames)
    assert run(["info", str(tmp_path / "m.npy")]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert "is not a whole number, so these are no labels" in lines[0]
    assert lines[0].endswith(" frames: 3, 4, 5, 6, 8, 9 …)")
    assert "frame 7: a negative label" in lines[1]
    frames[11:] = COLONY[0]
    np.save(tmp_path / "n.npy", frames[:60])
    assert run(["track", str(tmp_path / "n.npy"), "-o", str(tmp_path / "out"), "--method", "SM"]) == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("dunno: ")]
    assert len(lines) == 2
    assert lines[0].endswith("(7 frames: 3, 4, 5, 6, 8, 9 …; no links lead to them or from them)")
    assert lines[1].endswith("(frame 7; no links lead to it or from it)")


def test_a_volume_that_is_short_of_slices_is_named_with_the_cure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for t in range(8):
        volume = np.stack([COLONY[0]] * 5)
        tifffile.imwrite(tmp_path / f"t{t:03d}.tif", volume[:3] if t == 4 else volume, photometric="minisblack")
    assert run(["info", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "t004.tif: a frame of shape (3, 6, 12), but the movie's first one has (5, 6, 12)" in said
    assert "fill up its missing slices with empty ones, or take the frame away" in said
    (tmp_path / "t004.tif").unlink()  # as it says; cells are linked across it
    assert run(["track", str(tmp_path), "-o", str(tmp_path / "out"), "--method", "SM", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["summary"]["links"] == 18
