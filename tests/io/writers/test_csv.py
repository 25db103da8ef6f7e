import csv
from pathlib import Path

import numpy as np

from dunno import Movie, Tracker
from dunno.tracking import Tracking

from .conftest import n_cells


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def test_csv_holds_every_edge_and_every_cell(tracking: Tracking, tmp_path: Path) -> None:
    tracking.to_csv(tmp_path / "csv")
    edges, cells = rows_of(tmp_path / "csv" / "edges.csv"), rows_of(tmp_path / "csv" / "detections.csv")
    assert list(edges[0]) == ["mother_frame", "mother", "frame", "daughter", "cost", "probability", "selected"]
    assert list(cells[0]) == "frame label track y x area entropy p_appear p_disappear p_divide p_segment p_cell".split()
    assert len(cells) == n_cells(tracking)
    np.testing.assert_allclose(
        [float(row["probability"]) for row in edges],
        np.concatenate([pair.probability for pair in tracking.pairs]),
        rtol=1e-8,
    )
    assert cells[0]["entropy"] == cells[-1]["p_divide"] == ""
    assert cells[-1]["entropy"] != ""


def test_volumes_have_three_axes(tmp_path: Path) -> None:
    masks = np.zeros((2, 4, 5, 6), int)
    masks[:, 1:3, 2, 2] = 9
    Tracker().track(Movie(masks, scale=(2, 1, 1))).to_csv(tmp_path / "csv")
    cell = rows_of(tmp_path / "csv" / "detections.csv")[0]
    assert (cell["z"], cell["y"], cell["x"], cell["area"]) == ("3", "2", "2", "4")


def test_a_movie_without_cells_has_headers_alone(tmp_path: Path) -> None:
    Tracker().track(Movie(np.zeros((3, 4, 5), int))).to_csv(tmp_path / "csv")
    for name in ("edges", "detections", "tracks"):
        assert len((tmp_path / "csv" / f"{name}.csv").read_text().splitlines()) == 1
