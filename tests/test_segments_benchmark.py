"""The benchmark of imperfect masks runs, is resumed, and compares with another judge."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import tifffile

from benchmarks import peer_links, segments
from dunno.io.ctc import write_masks
from dunno.simulate import FaultShares, colony, spoil


@pytest.fixture
def huh7(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A simulated colony in the place of one of the movies."""
    made = colony(cells=20, frames=14, motion=0.15, seed=3)
    path = tmp_path / "Fluo-C2DL-Huh7" / "01"
    made.save(path)
    write_masks(path.with_name("01_CSTQ"), spoil(made.movie, made.truth, FaultShares(merged=0.06, false=0.03), 1).movie)
    monkeypatch.setenv("DUNNO_DATA", str(tmp_path))
    return tmp_path


def labels_as_links(masks: Path, out: Path) -> None:
    """A peer that links masks of the same label."""
    out.mkdir(parents=True)
    frames = [np.unique(tifffile.imread(file)).tolist()[1:] for file in sorted(masks.glob("*.tif"))]
    cells = [(t, label) for t, labels in enumerate(frames) for label in labels]
    links = [((t, label), (t + 1, label)) for t, label in cells if (t + 1, label) in set(cells)]
    peer_links.write(out, cells, links)
    (out / "seconds").write_text("1.0")


def test_a_row_for_each_set_and_tool(
    huh7: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ctc_metrics")
    for reach in (25, 50, 80):
        labels_as_links(huh7 / "Fluo-C2DL-Huh7/01_CSTQ", huh7 / f"work/trackpy/Fluo-C2DL-Huh7-01-_CSTQ-{reach}")
    other = huh7 / "judge.py"
    told = {**dict.fromkeys(segments.SAME.values(), 0), "cycles": [0, 0], "whole": 2.0}
    other.write_text(f"import json\nprint(json.dumps({told!r}))\n")
    command = ["segments", "-o", str(huh7 / "work"), "--seeds", "0", "--peers", "trackpy", "--judge", str(other)]
    monkeypatch.setattr(sys, "argv", command)
    segments.main()
    lines = capsys.readouterr().out.split("\n")
    assert [line.split(" | ")[1] for line in lines[2:] if line] == ["dunno", "trackpy"]
    row = json.loads((huh7 / "work/rows/Fluo-C2DL-Huh7-01-_CSTQ-dunno.json").read_text())
    assert "whole" in row["judge"]  # the other judge says 2.0
    assert row["own"] > 0.5
    assert row["det"] >= row["det_given"]
    assert sum(each[2] for each in row["segments"]) > 200
    peer = json.loads((huh7 / "work/rows/Fluo-C2DL-Huh7-01-_CSTQ-trackpy.json").read_text())
    assert 0.3 < peer["own"] < 1
    assert peer["recall"] > 0.5
    (huh7 / "work/rows/Fluo-C2DL-Huh7-01-_CSTQ-trackpy.json").write_text(
        json.dumps({**row, "tool": "trackpy", "own": 0.123})
    )
    segments.main()
    assert "0.123" in capsys.readouterr().out  # kept, not made again


def test_bins_that_are_off_are_named() -> None:
    bins = [[0.0, 0.1, 60, 3.0, 20], [0.9, 1.0, 60, 58.0, 55], [0.5, 0.6, 40, 20.0, 0]]
    assert segments._off(bins, 50, 0.1) == "**0–0.1: 3 / 20 of 60**"
    assert segments._off(bins[1:], 50, 0.1) == "none"
