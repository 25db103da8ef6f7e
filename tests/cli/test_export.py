from pathlib import Path
from xml.etree import ElementTree

import pytest

from dunno import rooms
from dunno.cli import run
from dunno.runs.run import track_into
from dunno.simulate import colony
from dunno.tracking.tracker import Tracker


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export")
    simulated = colony(cells=12, frames=8, motion=0.4, cycle=6)
    simulated.save(folder / "01")
    simulated.movie.path = str(folder / "01")
    track_into(Tracker("distance", "SM", calibration=None), simulated.movie, folder / "out")
    return folder / "out"


@pytest.mark.parametrize("name", rooms.members("io.writers"))
def test_every_format_can_be_asked_for(
    name: str, output: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["export", str(output), "--to", name, "-o", str(tmp_path / "x")]) == 0
    assert (tmp_path / "x").exists()
    assert f"tracks as {name}" in capsys.readouterr().out


def test_what_is_left_out_is_told(output: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    everything, some = tmp_path / "all.xml", tmp_path / "some.xml"
    assert run(["export", str(output), "--to", "trackmate", "-o", str(everything), "-q"]) == 0
    assert capsys.readouterr().out == ""
    limits = ["--min-probability", "0.8", "--min-length", "3"]
    assert run(["export", str(output), "--to", "trackmate", "-o", str(some), *limits]) == 0
    told = capsys.readouterr().out
    before, after = (ElementTree.parse(path).getroot() for path in (everything, some))
    edges = [float(edge.get("PROBABILITY", "nan")) for edge in before.iter("Edge")]
    assert f"cut: {sum(p < 0.8 for p in edges)} links below 0.8" in told
    assert "tracks with fewer than 3 cells" in told
    assert min(float(edge.get("PROBABILITY", "nan")) for edge in after.iter("Edge")) >= 0.8
    cells = [len(list(root.iter("Spot"))) for root in (before, after)]
    assert f"({cells[0] - cells[1]} cells)" in told


def test_mistakes_are_one_line(output: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = str(tmp_path / "x")
    assert run(["export", str(output), "--to", "mp4", "-o", target]) == 2
    assert run(["export", str(tmp_path), "--to", "geff", "-o", target]) == 2
    assert run(["export", str(output), "--to", "geff", "-o", target, "--min-probability", "90"]) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 3
    assert "there is no writer 'mp4'" in lines[0]
    assert "90: expected a probability, from 0 to 1" in lines[2]


def test_writers_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["list", "writers"]) == 0
    assert "trackmate" in capsys.readouterr().out
