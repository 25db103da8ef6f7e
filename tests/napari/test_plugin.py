"""The plugin in a real viewer, in a process of its own: if Qt crashes, one test fails and the others go on."""

import csv
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dunno.simulate import colony
from tests.review.outputs import tracked

MISSING = [name for name in ("napari", "PySide6") if importlib.util.find_spec(name) is None]
needs_window = pytest.mark.skipif(
    bool(MISSING) or shutil.which("xvfb-run") is None,
    reason=f"needs xvfb-run and a Qt ({', '.join(MISSING) or 'xvfb-run'} is missing); .ci/run installs them",
)
SLOW = 900


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tracked(colony(cells=12, frames=6, motion=0.35, seed=3), tmp_path_factory.mktemp("napari"))


def drive(step: str, output: Path, screenshots: Path) -> dict[str, Any]:
    """Run one step of `drive.py` under a virtual screen."""
    environment = {**os.environ, "QT_API": "pyside6", "NAPARI_CONFIG": "", "LIBGL_ALWAYS_SOFTWARE": "1"}
    environment["PYTHONPATH"] = str(Path(__file__).parents[2])
    screen = ["xvfb-run", "-a", "-s", "-screen 0 1400x900x24 +extension GLX"]
    command = [*screen, sys.executable, "-m", "tests.napari.drive", step, str(output), str(screenshots)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SLOW, env=environment, check=False)
    line = next((line for line in done.stdout.splitlines() if line.startswith("RESULT ")), None)
    assert line is not None, f"{done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return json.loads(line.removeprefix("RESULT "))


@needs_window
@pytest.mark.timeout(SLOW + 60)
def test_track_runs_in_the_background_and_review_goes_on_from_it(tmp_path: Path) -> None:
    found = drive("track", tmp_path / "out", tmp_path)
    assert found["refused"] == "max gap two: expected a number"
    assert found["cancelled"] == "cancelled"
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    links, wrong = run["summary"]["links"], run["summary"]["expected_wrong_links"]
    assert found["told"].startswith(f"{links:,} links, {wrong:,.1f} of them expected to be wrong (probabilities ")
    about = run["parameters"]
    assert (about["scale"], about["max_distance"], about["max_gap"]) == ([0.5, 0.5], 7.5, 3)
    assert not about["divisions"] and run["summary"]["divisions"] == 0
    assert found["scales"] == [[1.0, 0.5, 0.5]] * 3
    assert found["answered"] == 1  # opened in one step, and answered by a key although a layer was chosen
    assert found["squeezed"] == []
    assert found["frames"] == list(range(70))
    assert found["tracks"] == run["summary"]["cells"]
    assert (tmp_path / "out" / "tracks.geff").is_dir()
    assert (tmp_path / "napari-track.png").stat().st_size > 10_000


@needs_window
@pytest.mark.timeout(SLOW + 60)
def test_review_says_the_same_as_the_page(output: Path, tmp_path: Path) -> None:
    found = drive("review", output, tmp_path)
    assert found["names"] == ["image", "masks", "tracks", "doubtful"]
    assert found["begins"] == 0
    assert found["napari's own"] == [3, []]  # its keys work beside the review's, which are given back
    assert found["button"] == f"Enter: {found['default']}"
    assert found["same"]  # undo asks the same cell again
    assert found["at"][0] == found["at"][1]
    assert found["frames"] == list(range(6))
    kinds = [said["kind"] for _, said in found["said"]]
    assert kinds[1:4] == ["no cell", "two cells", "missing"]
    assert {who for who, _ in found["said"]} == {"nina"}
    assert [found["said"][0][1][name] for name in ("frame", "label")] == found["first"]
    assert "comes from" in found["clicked"] or "already" in found["clicked"]
    before, after, hottest, expected = found["heat"]
    assert (before, after) == (False, True)
    assert abs(hottest - expected) < 1e-3
    assert found["doubtful"]  # a click on the heat map goes to the most doubtful cell there
    assert found["went"][0] == found["went"][1] in found["drawn"]  # and one on the family's tree to its cell
    exported = Path(found["exported"].removeprefix("written to ").split(",")[0])
    assert exported.name == f"{output.name}-reviewed"
    with (exported / "statements.csv").open() as file:
        kinds = [row["kind"] for row in csv.DictReader(file)]
    assert kinds[1:3] == ["two cells", "missing"]  # which took the place of "no cell"


@needs_window
@pytest.mark.timeout(SLOW + 60)
def test_sample_data_and_a_refusal(output: Path, tmp_path: Path) -> None:
    found = drive("read", output, tmp_path)
    assert found["names"] == ["image", "masks", "tracks", "doubtful"]
    assert found["begins"] == 0
    assert found["asked"]
    assert "is no output of dunno track" in found["refused"]
