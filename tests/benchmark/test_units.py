import os
from dataclasses import replace
from pathlib import Path

import pytest

from dunno.benchmark.datasets import find_datasets
from dunno.benchmark.rows import COLUMNS, LATER, Row, read_rows, write_rows
from dunno.benchmark.units import Setup, keep, kept, plan_units
from dunno.errors import InputError

ISSUE = (
    "dataset sequence step cost method scaling n_links accuracy ece ece_floor recall daughter_accuracy ece_daughters "
    "nll brier auroc aurc "
    "gain_edge gain_entropy temperature mean_squared_displacement seconds reason dunno seed"
)


def test_every_dataset_cost_method_and_step_is_a_unit(root: Path) -> None:
    units, left_out = plan_units(find_datasets(root), Setup(methods=("SM", "JP"), steps=(1, 10)))
    assert len(set(units)) == len(units) == 2 * 3 * 2 * 2
    assert len({unit.file_name for unit in units}) == len(units)
    assert left_out == ["cost transformer is left out: it needs a model (--model DIR)"]


def test_activity_is_left_out_where_there_are_no_images(root: Path, tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()
    os.symlink(root / "pair" / "01_GT", tmp_path / "bare" / "01_GT")
    units, left_out = plan_units(find_datasets(tmp_path), Setup(costs=("distance", "activity"), steps=(1,)))
    assert {unit.cost for unit in units} == {"distance"}
    assert left_out == ["cost activity is left out for bare: it has no images"]


def test_a_finished_unit_is_known_by_its_parameters_and_its_annotations(root: Path, tmp_path: Path) -> None:
    (unit, *_), _ = plan_units(find_datasets(root), Setup(costs=("distance",), methods=("SM",), steps=(1,)))
    row = Row("pair", "02", 1, "distance", "SM", "none", n_links=3, ece=0.25, curves={"a": [1]})
    keep(unit, [row], tmp_path)
    assert kept(unit, tmp_path) == [row]
    for other in (replace(unit, seed=1), replace(unit, version="0"), replace(unit, stamp="0:0")):
        assert kept(other, tmp_path) is None
    (tmp_path / unit.file_name).write_text("{")
    assert kept(unit, tmp_path) is None


def test_only_perturbing_methods_with_a_model_try_dropout_rates(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dunno.benchmark.units.LEARNT", ("overlap",))
    setup = Setup(costs=("overlap",), methods=("SM", "FP"), steps=(1,), models=("m", "n"), dropout=(0.5, 0.25))
    units, _ = plan_units(find_datasets(root / "pair"), setup)
    assert [(unit.method, unit.dropout, unit.model) for unit in units] == [
        ("SM", None, "m"), ("SM", None, "n"), ("FP", 0.5, "m"), ("FP", 0.25, "m"), ("FP", 0.5, "n"), ("FP", 0.25, "n"),
    ]  # fmt: skip


def test_names_are_spelt_as_the_rooms_do() -> None:
    setup = Setup(costs=("Distance", "distance"), methods=("jp", "fp+a"))
    assert (setup.costs, setup.methods) == (("distance",), ("JP", "FP+A"))
    assert Setup(costs=("dunno.costs.overlap:Overlap",)).costs == ("dunno.costs.overlap:Overlap",)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"costs": ("nearest",)}, "there is no cost 'nearest'"),
        ({"methods": ("XX",)}, "there is no method 'XX'"),
        ({"steps": (0,)}, "--every 0: expected frame steps of 1 or more"),
        ({"steps": ()}, "at least one"),
        ({"samples": 0}, "--samples 0"),
        ({"max_distance": -1.0}, "-1"),
        ({"n_bins": 0}, "0 bins of confidence; expected a whole number from 1"),
    ],
)
def test_what_cannot_be_tried_is_named(wrong: dict[str, tuple[str, ...]], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Setup(**wrong)  # type: ignore[arg-type]


def test_the_table_has_the_columns_that_were_asked_for_and_reads_as_it_was_written(tmp_path: Path) -> None:
    assert set(ISSUE.split()) <= set(COLUMNS)
    rows = [
        Row(
            "a", "02", 10, "distance", "JP", "self", n_links=5, ece=0.125, trusted=False, reason="no, really", dunno="1"
        ),
        Row("a", "02", 10, "distance", "JP", "none", seconds=1e-7, trusted=True, dunno="1", seed=3),
    ]
    write_rows(rows, tmp_path / "t.csv")
    assert read_rows(tmp_path / "t.csv") == rows
    header, *lines = (tmp_path / "t.csv").read_text().splitlines()
    kept = [i for i, name in enumerate(header.split(",")) if name not in LATER]
    old = [
        ",".join(line.replace("no, really", "no").replace('"', "").split(",")[i] for i in kept)
        for line in (header, *lines)
    ]
    (tmp_path / "old.csv").write_text("\n".join(old) + "\n")  # of version 0.1
    assert [row.ece for row in read_rows(tmp_path / "old.csv")] == [0.125, None]
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="no table of this version"):
        read_rows(tmp_path / "other.csv")
