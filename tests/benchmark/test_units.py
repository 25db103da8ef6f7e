from dataclasses import replace
from pathlib import Path

import pytest

from dunno.benchmark.datasets import find_datasets
from dunno.benchmark.results_table import COLUMN_MEANINGS, beside_others, read_table, table_of, write_table
from dunno.benchmark.units import Experiment, Unit, plan_units
from dunno.errors import InputError
from tests.transformer.tiny import tiny_model

MODELS = ("a", "b")


def test_every_dataset_cost_model_and_step_is_a_unit(root: Path) -> None:
    units = plan_units(find_datasets(root), Experiment(steps=(1, 10), models=MODELS))
    assert len(set(units)) == len(units) == 2 * (3 + 2) * 2
    assert [unit.model for unit in units if unit.step == 1][:5] == [None, None, None, "a", "b"]


def test_the_halves_of_a_single_movie_stand_for_two_sequences(root: Path) -> None:
    pair, single = find_datasets(root)
    assert [part.sequence for part in pair.parts()] == ["01", "02"]
    assert [(part.sequence, len(part)) for part in single.parts()] == [("01, first half", 4), ("01, second half", 5)]
    assert single.parts()[1].every(2).movie.frames.tolist() == [4, 6, 8]
    assert single.parts()[1].every(2).truth.frames.tolist() == [4, 6, 8]


def test_a_root_may_be_one_dataset_and_one_without_truth_is_refused(root: Path, tmp_path: Path) -> None:
    assert [each.name for each in find_datasets(root / "pair")] == ["pair"]
    with pytest.raises(InputError, match="holds no annotated movies; expected .*/DATASET/01_GT/TRA/man_track.txt"):
        find_datasets(tmp_path)
    assert [each.name for each in find_datasets(root, ["single"])] == ["single"]
    with pytest.raises(InputError, match="there is no such folder"):
        find_datasets(tmp_path / "nowhere")


def unit_of(root: Path) -> Unit:
    return plan_units(find_datasets(root), Experiment(costs=("distance",), steps=(1,)))[0]


def test_what_was_measured_is_known_by_its_parameters_and_its_annotations(root: Path, tmp_path: Path) -> None:
    unit = unit_of(root)
    rows = [unit.row("user", "02", "SM", n_links=3, ece=0.25, curves={"edge": [1]})]
    unit.keep(rows, tmp_path)
    assert unit.kept(tmp_path) == rows
    for other in (replace(unit, seed=1), replace(unit, step=2), replace(unit, stamp="0:0"), replace(unit, samples=3)):
        assert other.kept(tmp_path) == []
    (tmp_path / unit.file_name).write_text("{")
    assert unit.kept(tmp_path) == []


def test_another_model_under_the_same_name_is_another_unit(root: Path, tmp_path: Path) -> None:
    model = str(tiny_model(tmp_path / "model"))
    (unit,) = plan_units(find_datasets(root)[:1], Experiment(costs=("transformer",), steps=(1,), models=(model,)))
    before = unit.file_name
    tiny_model(tmp_path / "model", seed=1)
    assert unit.file_name != before


def test_names_are_spelt_as_the_rooms_do() -> None:
    made = Experiment(costs=("Distance", "distance"), methods=("jp", "fp+a", "LapTrack"))
    assert (made.costs, made.methods) == (("distance",), ("JP", "FP+A", "LapTrack"))
    assert Experiment(costs=("dunno.costs.overlap:Overlap",)).costs == ("dunno.costs.overlap:Overlap",)


def test_peers_stand_beside_one_cost_in_the_users_set_up() -> None:
    made = Experiment(setups=("paper", "user"), methods=("SM", "LapTrack", "Trackastra"), models=MODELS)
    assert made.asked("distance") == [("paper", "SM"), ("user", "SM"), ("user", "LapTrack")]
    assert made.asked("transformer") == [("paper", "SM"), ("user", "SM"), ("user", "Trackastra")]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"costs": ("nearest",)}, "there is no cost 'nearest'"),
        ({"costs": ("transformer",)}, "cost transformer needs models: --model DIR, or --train"),
        ({"methods": ("XX",)}, "there is no method 'XX'"),
        ({"setups": ("mine",)}, "--setup mine: expected paper, user"),
        ({"steps": (0,)}, "--every 0: expected frame steps of 1 or more"),
        ({"steps": ()}, "at least one"),
        ({"samples": 0}, "--samples 0"),
        ({"n_bins": 0}, "0 bins of confidence; expected a whole number from 1"),
    ],
)
def test_what_cannot_be_tried_is_named(wrong: dict[str, tuple[str, ...]], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Experiment(**{"costs": ("distance",), **wrong})  # type: ignore[arg-type]


def test_the_table_reads_as_it_was_written_and_times_are_over_those_of_sm(root: Path, tmp_path: Path) -> None:
    unit = unit_of(root)
    rows = [
        unit.row("user", "02", "SM", n_links=5, ece=0.125, seconds=2.0, version="1", curves={"edge": [1]}),
        unit.row("user", "02", "AS", n_links=5, seconds=3.0, reason="no, really", version="1"),
        unit.row("paper", "02", "AS", n_links=5, seconds=3.0),
    ]
    table = table_of(rows)
    assert table.overhead.fillna(0).tolist() == [1.0, 1.5, 0.0]
    write_table(table, tmp_path / "t.csv")
    again = read_table(tmp_path / "t.csv")
    assert list(again.columns) == [*COLUMN_MEANINGS, "curves"]
    for name in ("setup", "sequence", "model", "step", "method", "reason", "seconds", "overhead", "ece", "seed"):
        assert [None if x != x else x for x in again[name]] == [None if x != x else x for x in table[name]], name
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="no table of this version"):
        read_table(tmp_path / "other.csv")


def test_anothers_rows_stand_beside_ones_own_and_do_not_replace_them(root: Path, tmp_path: Path) -> None:
    unit = unit_of(root)
    write_table(
        table_of([unit.row("user", "02", "SM", ece=0.5), unit.row("user", "02", "AS", ece=0.4)]), tmp_path / "t.csv"
    )
    mine = table_of([unit.row("user", "02", "SM", ece=0.1), unit.row("user", "02", "mine:Mine", ece=0.2)])
    found = beside_others(mine, tmp_path / "t.csv")
    assert dict(zip(found.method, found.ece, strict=True)) == {"SM": 0.1, "mine:Mine": 0.2, "AS": 0.4}
