import csv
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from dunno.biology import measure
from dunno.cli import run
from dunno.simulate import colony
from dunno.tracking.tracker import Tracker

TABLES = ("cells", "tracks", "cycles", "families", "frames", "figures", "survival")


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def written(plate: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("measure") / "bio"
    assert run(["measure", str(plate / "out" / "A2"), "-o", str(folder), "--samples", "30", "-q"]) == 0
    return folder


def test_every_table_has_its_rows(written: Path, plate: Path) -> None:
    tables = {name: rows_of(written / f"{name}.csv") for name in TABLES}
    assert len(tables["cells"]) == len(rows_of(plate / "out" / "A2" / "detections.csv"))
    assert len(tables["tracks"]) == len(tables["cycles"]) == len(rows_of(plate / "out" / "A2" / "tracks.csv"))
    assert len(tables["frames"]) == 14
    assert {row["family"] for row in tables["cells"]} == {row["family"] for row in tables["families"]}
    assert float(tables["frames"][2]["time"]) == 10
    complete = [float(row["duration"]) for row in tables["cycles"] if row["complete"] == "1"]
    median = next(row for row in tables["figures"] if row["name"] == "median_cycle")
    assert float(median["reported"]) == np.median(complete)
    assert median["unit"] == "minutes"
    for each in tables["figures"]:
        if each["low"]:
            assert float(each["low"]) <= float(each["value"]) <= float(each["high"])


def test_pictures_are_files_of_their_own(written: Path) -> None:
    for name in ("survival", "rates", "cells", "trees"):
        root = ElementTree.parse(written / "figures" / f"{name}.svg").getroot()
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert "var(" not in (written / "figures" / f"{name}.svg").read_text()


def test_to_pandas_has_named_frames() -> None:
    pytest.importorskip("pandas")
    found = measure(Tracker(calibration=None).track(colony(cells=6, frames=8, cycle=5).movie), samples=5)
    frames = found.to_pandas()
    assert frames._fields == TABLES
    assert set(frames.cycles.columns) >= {"birth", "division", "duration", "event", "censored", "support"}
    assert frames.tracks.support.between(0, 1).all()


def test_without_a_posterior_there_are_no_intervals(tmp_path: Path) -> None:
    from dunno.biology.results_folder import write_biology

    found = measure(Tracker("distance", "SM", calibration=None).track(colony(cells=6, frames=8, cycle=5).movie))
    assert found.draws == () and "only results of method JP" in found.why_no_draws
    assert np.isnan(found.figures[0].low) and found.figures[0].value > 0
    page = write_biology(found, tmp_path / "bio").read_text()
    assert "There are no intervals" in page


def test_a_movie_without_cells_is_measured(tmp_path: Path) -> None:
    from dunno import Movie
    from dunno.biology.results_folder import write_biology

    found = measure(Tracker().track(Movie(np.zeros((3, 4, 5), int))), samples=3)
    assert found.figures[0].value == 0
    assert write_biology(found, tmp_path / "bio").exists()


def test_the_page_opens_in_a_browser(written: Path, visit: Any, screenshot: Any) -> None:
    page = visit(written / "biology.html")
    assert page.get_by_role("heading", level=2).all_inner_texts()[0] == "Figures and their doubt"
    assert page.locator("svg.chart").count() == 4
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    screenshot(page, "biology")


def test_groups_are_compared(plate: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "plate.csv").write_text("name,group\nA1,control\nA2,drug\n")
    target, table = tmp_path / "bio", str(tmp_path / "plate.csv")
    assert run(["measure", str(plate / "out"), "-o", str(target), "--groups", table, "--samples", "20"]) == 0
    told = capsys.readouterr().out
    assert "divisions per cell: drug differs by" in told
    rows = {(row["figure"], row["group"]): row for row in rows_of(target / "groups.csv")}
    rate = rows["division_rate", "drug"]
    assert float(rate["difference_low"]) > 0
    assert rate["holds"] == "links"
    assert (target / "A1" / "biology.html").exists()
    (tmp_path / "plate.csv").write_text("name,group\nB7,control\n")
    assert run(["measure", str(plate / "out"), "-o", str(tmp_path / "x"), "--groups", table]) == 2
    assert "B7: there is no such output" in capsys.readouterr().err
