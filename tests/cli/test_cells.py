"""`dunno cells`."""

import csv
import os
from pathlib import Path

import numpy as np
import pytest
import tifffile

import dunno
from benchmarks.crowd import Crowd
from dunno.cli import run
from dunno.simulate import colony as simulate
from dunno.types import Cells


def table(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text().splitlines()))


@pytest.fixture
def sequence(tmp_path: Path) -> Path:
    """A colony of 20 frames with images."""
    simulate(cells=8, frames=20, seed=1).save(tmp_path / "01")
    return tmp_path / "01"


@pytest.mark.parametrize("workers", ["1", "3"])
def test_the_table_has_a_row_per_cell_with_what_was_measured(sequence: Path, tmp_path: Path, workers: str) -> None:
    masks = tmp_path / "01_GT" / "TRA"
    command = ["cells", str(sequence), "--masks", str(masks), "--every", "3", "--scale", "2,0.5", "--interval", "5"]
    assert run([*command, "-o", str(tmp_path / "cells.csv"), "--workers", workers, "-q"]) == 0
    rows = table(tmp_path / "cells.csv")
    movie = dunno.read(sequence, masks=masks, scale=(2.0, 0.5)).every(3)
    columns = Cells.of([movie.detections(t) for t in range(len(movie))]).columns()
    assert list(rows[0]) == list(columns)
    for name, values in columns.items():
        np.testing.assert_allclose([float(row[name]) for row in rows], values, rtol=1e-8, err_msg=name)
    assert {row["frame"] for row in rows} == {str(t) for t in range(0, 20, 3)}


def test_without_images_there_is_no_brightness(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    volume = np.zeros((2, 3, 8, 8), np.uint8)
    volume[:, :, 2:4, 1:7] = 5
    tifffile.imwrite(tmp_path / "masks.tif", volume, photometric="minisblack", metadata={"axes": "TZYX"})
    assert run(["cells", str(tmp_path / "masks.tif"), "-o", str(tmp_path / "cells.csv")]) == 0
    printed = capsys.readouterr()
    assert "2 cells in 2 frames are in" in printed.out
    assert "there are no images" in printed.err
    row = table(tmp_path / "cells.csv")[1]
    assert (row["frame"], row["label"], row["z"], row["y"], row["x"]) == ("1", "5", "1", "2.5", "3.5")
    assert [row[name] for name in ("brightness", "total", "texture", "background")] == [""] * 4
    assert (row["elongation"], row["orientation_x"], row["pieces"]) == ("3", "1", "1")
    assert (row["begin_z"], row["end_z"], row["begin_x"], row["end_x"]) == ("0", "3", "1", "7")


def test_a_table_is_replaced_only_if_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Crowd(9, 3).save(tmp_path / "masks.zarr")
    command = ["cells", str(tmp_path / "masks.zarr"), "-o", str(tmp_path / "cells.csv"), "-q"]
    assert run(command) == 0
    assert run(command) == 2
    assert "cells.csv: exists already" in capsys.readouterr().err
    assert run([*command, "--overwrite"]) == 0


def test_a_broken_frame_is_named_and_the_rest_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "masks").mkdir()
    for t in range(5):
        tifffile.imwrite(tmp_path / "masks" / f"{t}.tif", Crowd(9, 5)[t], compression="zlib")
    broken = tmp_path / "masks" / "3.tif"
    broken.write_bytes(broken.read_bytes()[:200])
    assert run(["cells", str(tmp_path / "masks"), "-o", str(tmp_path / "cells.csv"), "-q"]) == 2
    assert "3.tif: cannot be read" in capsys.readouterr().err
    assert {row["frame"] for row in table(tmp_path / "cells.csv")} == {"0", "1", "2", "4"}


def test_a_movie_of_which_nothing_can_be_read_leaves_no_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "masks").mkdir()
    for t in range(2):
        tifffile.imwrite(tmp_path / "masks" / f"{t}.tif", np.array([[0.5, 1.0]]))
    assert run(["cells", str(tmp_path / "masks"), "-o", str(tmp_path / "cells.csv"), "-q"]) == 2
    assert "0.tif: 0.5 is not a whole number" in capsys.readouterr().err
    assert os.listdir(tmp_path) == ["masks"]
