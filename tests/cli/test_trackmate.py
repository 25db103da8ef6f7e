"""TrackMate's files in, TrackMate's files out. Fiji itself does not run here: its side is read from its source (8.1.2)."""

import csv
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile

from dunno import Movie, read
from dunno.cli import run
from dunno.io import read_links
from dunno.simulate import colony

MADE = colony(cells=12, frames=12, motion=0.2, cycle=8, seed=3)


@pytest.fixture
def call(tmp_path: Path) -> list[str]:
    """What TrackMate's Trackastra tracker writes, and what it calls (TrackastraTracker, TrackastraCLI, CommandBuilder)."""
    folders = {name: tmp_path / f"TrackMate-Trackastra-{name}s_12" for name in ("mask", "img")}
    for name, frames in (("mask", MADE.movie.masks), ("img", MADE.movie.images)):
        folders[name].mkdir()
        for t in range(len(MADE.movie)):
            path = folders[name] / f"colony-{name}-t{t + 1:04d}.tif"
            tifffile.imwrite(path, frames(t).astype(np.uint16), imagej=True)
    (folders["mask"] / "trackastra-log.txt").write_text("")
    options = {"--model-pretrained": "general_2d", "--mode": "greedy", "--device": "cpu"}
    options |= {"--imgs": str(folders["img"]), "--masks": str(folders["mask"])}
    options |= {"--output-edge-table": str(folders["mask"] / "trackastra-edge-table.csv")}
    return ["trackastra", "track", *(part for option in options.items() for part in option)]


def edges_of(table: str) -> dict[tuple[int, int, int, int], float]:
    """As TrackastraImporter reads them: a header, then four whole numbers and a weight; each edge once."""
    with Path(table).open() as file:
        rows = list(csv.reader(file))[1:]
    found = {(int(a), int(b), int(c), int(d)): float(weight) for a, b, c, d, weight in rows}
    assert len(found) == len(rows)
    return found


def check_edges(found: dict[tuple[int, int, int, int], float]) -> None:
    labels = [set(MADE.movie.detections(t).label.tolist()) for t in range(len(MADE.movie))]
    assert all(
        early < late and mother in labels[early] and daughter in labels[late] for early, mother, late, daughter in found
    )
    assert all(0 <= weight <= 1 for weight in found.values())
    n_cells = sum(map(len, labels))
    assert len(found) > 0.8 * n_cells


def test_the_call_of_trackmates_trackastra_tracker_is_understood(
    call: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["trackmate", *call[2:]]) == 0
    found = edges_of(call[-1])
    check_edges(found)
    mothers = [edge[:2] for edge in found]
    assert len(mothers) > len(set(mothers))  # some divide
    again = ["greedy_nodiv" if each == "greedy" else each for each in call[2:]]
    assert run(["trackmate", *again, "--overwrite"]) == 0
    mothers = [edge[:2] for edge in edges_of(call[-1])]
    assert len(mothers) == len(set(mothers)) > 100
    trackastra = pytest.importorskip("trackastra.cli")  # the program that TrackMate means takes the very same
    taken: list[Any] = []
    monkeypatch.setattr(trackastra, "_track_from_disk", taken.append)
    monkeypatch.setattr(sys, "argv", call)
    trackastra.cli()
    assert str(taken[0].output_edge_table) == call[-1]


def test_trackmate_runs_dunno_where_it_would_run_trackastra(call: list[str], tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "tools.md").read_text()
    script = page.split("```sh\n#!/bin/sh\n")[1].split("```")[0]
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "trackastra").write_text(f"#!/bin/sh\n{script}")
    (tmp_path / "bin" / "trackastra").chmod(0o755)
    path = os.pathsep.join([str(tmp_path / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
    subprocess.run(call, env={**os.environ, "PATH": path}, check=True, capture_output=True, timeout=200)
    check_edges(edges_of(call[-1]))


def test_one_command_leads_from_xml_to_xml(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spots = xml_of_spots(tmp_path / "spots.xml")
    assert run(["trackmate", str(spots), "-o", str(tmp_path / "tracked.xml")]) == 0
    said = capsys.readouterr().out
    assert "expected to be wrong (probabilities " in said and said.rstrip().endswith("tracked.xml")
    movie, tracked = read(spots), read(tmp_path / "tracked.xml")
    assert tracked.scale == movie.scale == (0.5, 0.5)
    for t in range(len(movie)):
        np.testing.assert_allclose(tracked.detections(t).centroid, movie.detections(t).centroid, atol=1e-6)
        np.testing.assert_allclose(tracked.detections(t).area, movie.detections(t).area, rtol=1e-6)
    links = read_links(tmp_path / "tracked.xml", scaled())
    assert not links.unmatched
    assert len(links) > 100


def test_what_to_read_and_to_write_must_be_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["trackmate", str(tmp_path)]) == 2
    assert "say what to write: -o TRACKED.xml, or --output-edge-table LINKS.csv" in capsys.readouterr().err
    assert run(["trackmate", "-o", str(tmp_path / "t.xml")]) == 2
    assert "give a MOVIE (TrackMate's SPOTS.xml, or masks), or --masks DIR" in capsys.readouterr().err


def scaled() -> Movie:
    """The colony at half a micrometre per pixel."""
    return Movie([MADE.movie.masks(t) for t in range(len(MADE.movie))], scale=0.5)


def xml_of_spots(path: Path) -> Path:
    """TrackMate's file after detection: spots and no tracks."""
    frames = []
    for t in range(len(MADE.movie)):
        cells = MADE.movie.detections(t)
        spots = [
            f'<Spot ID="{100 * t + i}" name="ID{i}" QUALITY="1" POSITION_T="{t}" FRAME="{t}" RADIUS="2.5" VISIBILITY="1" '
            f'POSITION_X="{x / 2}" POSITION_Y="{y / 2}" POSITION_Z="0.0" />'
            for i, (y, x) in enumerate(cells.centroid.tolist())
        ]
        frames.append(f'<SpotsInFrame frame="{t}">{"".join(spots)}</SpotsInFrame>')
    path.write_text(
        '<?xml version="1.0" encoding="UTF-8"?><TrackMate version="8.1.2"><Model spatialunits="micron" timeunits="sec">'
        f"<AllSpots>{''.join(frames)}</AllSpots><AllTracks /><FilteredTracks /></Model><Settings>"
        '<ImageData filename="a.tif" pixelwidth="0.5" pixelheight="0.5" voxeldepth="1.0" timeinterval="300.0" nslices="1"/>'
        "</Settings></TrackMate>"
    )
    return path
