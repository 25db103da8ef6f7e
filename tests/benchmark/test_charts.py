"""Figures of a table whose numbers are known."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from dunno.benchmark.charts import FIGURES, draw_all, of_datasets
from dunno.benchmark.results_table import table_of

CURVES = {
    "count": [50, 50],
    "confidence": [0.4, 0.9],
    "accuracy": [0.5, 0.8],
    "removed": [0.0, 0.5],
    "edge": [0.7, 0.9],
    "entropy": [0.7, 0.8],
}


def row(dataset: str, step: int, cost: str, method: str, scaling: str, **values: Any) -> dict[str, Any]:
    told = {
        "setup": "user",
        "sequence": "02",
        "n_links": 100,
        "dimensions": 2,
        "curves": CURVES,
        "overhead": 2.0,
        "seconds": 2.0,
    }
    numbers = {"ece": 0.1, "gain_edge": 0.02, "gain_entropy": 0.03, "promised_wrong": 10.0, "found_wrong": 12}
    fitted = {"temperature": 3.0, "squared_displacement": 8.0} if scaling == "temperature" else {}
    verdict = {"verdict": "supported"} if scaling == "self" else {}
    where = {"dataset": dataset, "step": step, "cost": cost, "method": method, "scaling": scaling}
    return {**told, **numbers, **fitted, **verdict, **where, **values}


@pytest.fixture
def table() -> Any:
    rows = [
        row(dataset, step, cost, method, scaling, model=model)
        for dataset in ("a", "b")
        for step in (1, 10)
        for cost, model in (("distance", ""), ("transformer", "dropout-0.5"), ("transformer", "dropout-0.25"))
        for method in ("SM", "FP", "FP+A", "JP", "mine:Mine")
        for scaling in ("none", "temperature", "self")
    ]
    return table_of(rows)


def test_every_figure_is_drawn_and_the_same_each_time(table: Any, tmp_path: Path) -> None:
    drawn = draw_all(table, tmp_path / "one")
    assert [name for _, _, name in drawn] == [f"user-{each.name}" for each in FIGURES]
    draw_all(table, tmp_path / "two")
    for each in FIGURES:
        one, two = ((tmp_path / folder / f"user-{each.name}.svg").read_bytes() for folder in ("one", "two"))
        assert one == two
        assert (tmp_path / "one" / f"user-{each.name}.png").is_file()


def test_what_was_not_measured_is_not_drawn(table: Any, tmp_path: Path) -> None:
    own = table[(table.cost == "distance") & (table.scaling == "none")]
    names = {name.removeprefix("user-") for _, _, name in draw_all(own, tmp_path)}
    assert names == {
        "ece",
        "sparsification",
        "sparsification-edge",
        "sparsification-entropy",
        "overhead",
        "calibration",
    }
    assert draw_all(table.assign(n_links=np.nan), tmp_path) == []


def test_means_are_over_datasets_each_counting_once() -> None:
    rows = [row("a", 1, "distance", "SM", "none", ece=each) for each in (0.1, 0.3)]
    rows.append(row("b", 1, "distance", "SM", "none", ece=0.8))
    found = of_datasets(table_of(rows), "step", "ece")
    assert found.loc[1, "mean"] == pytest.approx((0.2 + 0.8) / 2)
    assert found.loc[1, "sem"] == pytest.approx(np.std([0.2, 0.8], ddof=1) / np.sqrt(2))


def test_panels_are_costs_across_and_the_lines_are_the_tables(
    table: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, Figure] = {}
    monkeypatch.setattr(Figure, "savefig", lambda canvas, path, **more: seen.update({Path(path).name: canvas}))
    draw_all(table, tmp_path)
    titles = [ax.get_title("left") for ax in seen["user-ece.svg"].axes]
    assert titles == ["distance", "transformer", "distance, self, without truth", "transformer, self, without truth"]
    (line, *_) = seen["user-ece.svg"].axes[0].get_lines()
    assert line.get_ydata().tolist() == [0.1, 0.1]
    diagonal = seen["user-motion.svg"].axes[0].get_lines()[0]
    assert (diagonal.get_xdata()[0], diagonal.get_ydata()[0]) == (4.0, 3.0)  # squared displacement per axis, T


def test_a_bin_of_few_links_is_no_point_of_a_calibration_curve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Figure] = {}
    monkeypatch.setattr(Figure, "savefig", lambda canvas, path, **more: seen.update({Path(path).name: canvas}))
    curves = {**CURVES, "count": [9, 50]}
    draw_all(table_of(row("a", step, "distance", "SM", "none", curves=curves) for step in (1, 10)), tmp_path)
    assert seen["user-calibration.svg"].axes[0].get_lines()[0].get_xdata().tolist() == pytest.approx([0.9])
