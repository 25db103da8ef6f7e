"""What the figures show, by what is in them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from dunno.benchmark.figures import Drawing, draw_all, drawings
from dunno.benchmark.figures.calibration_curves import pooled
from dunno.benchmark.rows import Row
from dunno.benchmark.style import look, nth

STEPS, METHODS = (1, 10), ("SM", "AS", "JP")
ERRORS = {("a", "none"): 0.1, ("b", "none"): 0.3, ("a", "temperature"): 0.04, ("b", "temperature"): 0.06}


def curves(accuracy: float) -> dict[str, dict[str, list[float | None]]]:
    removed = [k / 20 for k in range(20)]
    rest = [accuracy + (1 - accuracy) * share for share in removed]
    return {
        "calibration": {
            "count": [0] * 9 + [50],
            "confidence": [None] * 9 + [0.95],
            "accuracy": [None] * 9 + [accuracy],
        },
        "sparsification": {"removed": removed, "edge": rest, "entropy": rest},
    }  # type: ignore[dict-item]


@pytest.fixture
def rows() -> list[Row]:
    """Two datasets, two costs, two steps; the errors are ten times as large at every 10th frame."""
    made = []
    for dataset in ("a", "b"):
        for step in STEPS:
            for cost in ("distance", "overlap"):
                for method in METHODS:
                    for scaling in ("none", "temperature", "self"):
                        error = ERRORS.get((dataset, scaling), 0.01) * (step / 10)
                        made.append(
                            Row(
                                dataset, "02", step, cost, method, scaling, n_links=100, accuracy=0.8, confidence=0.9,
                                ece=error, gain_edge=0.02 * step, gain_entropy=0.01, oracle_gain=0.05 * step,
                                temperature=3.0 * step if scaling == "temperature" else None, dimensions=2,
                                mean_squared_displacement=6.0 * step, overhead={"SM": 1.0, "AS": 1.5, "JP": 4.0}[method],
                                trusted=True if scaling == "temperature" else None, curves=curves(0.8),
                            )
                        )  # fmt: skip
    return made


def named(name: str) -> Drawing:
    return next(each for each in drawings() if each.name == name)


def test_all_figures_but_dropout_are_drawn_as_svg_and_png(rows: list[Row], tmp_path: Path) -> None:
    drawn = draw_all(rows, tmp_path)
    names = [each.name for each in drawn]
    assert names == [each.name for each in drawings() if each.name != "dropout"]
    assert {path.name for path in tmp_path.iterdir()} == {f"{n}.{e}" for n in names for e in ("svg", "png")}
    assert all("nan" not in each.sentence for each in drawn)


def test_the_same_figure_is_the_same_file(rows: list[Row], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dunno.benchmark.figures.drawings", lambda: [named("motion")])
    for folder in ("one", "other"):
        draw_all(rows, tmp_path / folder)
    assert (tmp_path / "one" / "motion.svg").read_bytes() == (tmp_path / "other" / "motion.svg").read_bytes()


def test_nothing_is_drawn_of_a_table_without_numbers(tmp_path: Path) -> None:
    assert draw_all([Row("a", "02", 1, "distance", "SM", "none", reason="too few")], tmp_path) == []


def test_the_error_is_the_mean_over_datasets_with_its_standard_error(rows: list[Row]) -> None:
    figure = named("ece").draw(rows)
    plain, calibrated, without_truth = figure.axes[0], figure.axes[2], figure.axes[4]
    assert [ax.get_title(loc="left") for ax in figure.axes[:2]] == [
        "distance, as tracked (not calibrated)", "overlap, as tracked (not calibrated)",
    ]  # fmt: skip
    lines = {each.get_label(): each for each in plain.containers}
    assert list(lines) == list(METHODS)
    assert lines["SM"].lines[0].get_ydata() == pytest.approx([0.02, 0.2])
    assert [each.get_label() for each in calibrated.containers] == list(METHODS)
    assert calibrated.containers[0].lines[0].get_ydata() == pytest.approx([0.005, 0.05])
    assert without_truth.get_title(loc="left") == "distance, self, without truth"
    assert without_truth.containers[0].lines[0].get_ydata() == pytest.approx([0.001, 0.01])
    (bars,) = lines["SM"].lines[2]
    low, high = bars.get_segments()[1][:, 1]
    assert (low, high) == pytest.approx((0.1, 0.3))  # ± the standard error of 0.1 and 0.3
    assert plain.get_ylim()[0] == 0
    assert [text.get_text() for text in without_truth.get_xticklabels()] == ["1", "10"]
    sentence = named("ece").sentence(rows)
    assert (
        "0.020 to 0.200 as tracked, and from 0.005 to 0.050 with temperature scaling, and from 0.001 to 0.010 self"
        in sentence
    )
    assert "is 0.010 (SM self with distance)" in sentence


def test_temperatures_at_a_bound_are_left_out_of_the_boxes_and_counted(rows: list[Row]) -> None:
    rows[1] = replace(rows[1], temperature=1e-3, trusted=False)
    figure = named("temperatures").draw(rows)
    assert figure.axes[0].get_yscale() == "log"
    drawn = np.concatenate([line.get_ydata() for line in figure.axes[0].lines])
    assert min(drawn) >= 1
    sentence = named("temperatures").sentence(rows)
    assert "from 3 to 30 for distance" in sentence
    assert "1 fits that ran into a bound" in sentence


def test_three_temperatures_are_points_and_four_are_a_box(rows: list[Row]) -> None:
    fitted = [row for row in rows if (row.cost, row.method, row.scaling) == ("distance", "SM", "temperature")]
    others = [replace(row, dataset=name, temperature=5.0) for row in fitted[-1:] for name in ("c", "d")]
    ax = named("temperatures").draw([*fitted, *others]).axes[0]
    points = next(line for line in ax.lines if line.get_label() == "SM")
    assert points.get_ydata().tolist() == [3.0, 3.0]  # at every frame; every 10th has four, in a box
    (box,) = ax.patches
    assert box.get_path().vertices[:, 1].max() == pytest.approx(30.0)


def test_temperature_against_motion_has_its_diagonal_and_a_point_per_dataset_and_step(rows: list[Row]) -> None:
    ax = named("motion").draw(rows).axes[0]
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert ax.get_xlim() == ax.get_ylim()
    lines = {line.get_label(): line for line in ax.lines}
    assert list(lines) == ["T = MSD/d", "a", "b"]
    assert lines["a"].get_xdata() == pytest.approx([3.0, 30.0])
    assert lines["a"].get_ydata() == pytest.approx([3.0, 30.0])
    diagonal = lines["T = MSD/d"]
    assert np.array_equal(diagonal.get_xdata(), diagonal.get_ydata())
    sentence = named("motion").sentence(rows)
    assert sentence.startswith("T is 1 times MSD/d in the median, and within a factor of two of it in 4 of 4 fits")


def test_overhead_is_told_in_times_of_softmax(rows: list[Row]) -> None:
    ax = named("overhead").draw(rows).axes[0]
    assert [text.get_text() for text in ax.texts] == ["1.0×", "1.0×", "1.5×", "1.5×", "4.0×", "4.0×"]
    names = ["SM", "SM\nself", "AS", "AS\nself", "JP", "JP\nself"]
    assert [text.get_text() for text in ax.get_xticklabels()] == names
    assert "AS 1.5, AS self 1.5, JP 4.0, JP self 4.0" in named("overhead").sentence(rows)


def test_gains_are_bars_per_method_and_scaling(rows: list[Row]) -> None:
    figure = named("sparsification").draw(rows)
    assert len(figure.axes) == 4
    bars = [bar for bar in figure.axes[0].patches if not np.isnan(bar.get_height())]  # the others stand in the legend
    assert {round(bar.get_height(), 6) for bar in bars} == {0.11}  # the mean of 0.02 and 0.2
    hatched = [bar for bar in bars if bar.get_hatch()]
    assert len(hatched) == 6  # with truth and without, each in its way
    assert len({bar.get_hatch() for bar in hatched}) == 2
    assert "from 11.00 to 11.00 by the link's probability" in named("sparsification").sentence(rows)


def test_sparsification_in_detail_has_a_panel_per_method_step_and_criterion(rows: list[Row]) -> None:
    figure = named("sparsification_curves").draw(rows)
    assert len(figure.axes) == 3 * 2 * 2
    words = ["as tracked (not calibrated)", "temperature with truth (+TS)", "self, without truth"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == words
    lines = [line for line in figure.axes[0].lines if len(line.get_ydata())]
    assert [line.get_ydata()[0] for line in lines] == pytest.approx([0.8] * 3)
    assert [line.get_linestyle() for line in lines] == [":", "-", "--"]
    assert "by 4.0 percentage points" in named("sparsification_curves").sentence(rows)


def test_an_empty_panel_leaves_its_neighbours_ticks(rows: list[Row]) -> None:
    some = [row for row in rows if row.method != "JP" or row.step == 1]
    figure = named("sparsification_curves").draw(some)
    assert [text.get_text() for text in figure.axes[-1].texts] == ["no numbers"]
    assert len(figure.axes[4].get_yticks()) > 0


def test_calibration_curves_pool_links_and_show_the_diagonal(rows: list[Row]) -> None:
    other = replace(rows[0], curves=curves(0.5))
    count, confidence, accuracy = pooled([rows[0], other])
    assert (count[-1], confidence[-1], accuracy[-1]) == pytest.approx((100, 0.95, 0.65))
    assert np.isnan(accuracy[0])
    figure = named("calibration_curves").draw(rows)
    assert len(figure.axes) == 2 * 3
    assert figure.axes[0].get_lines()[0].get_xydata().tolist() == [[0, 0], [1, 1]]
    assert figure.axes[0].get_xlim() == (-0.02, 1.02)
    sentence = named("calibration_curves").sentence(rows)
    assert (
        "as tracked (not calibrated) in 24 of 24; with truth in 24 of 24; self, without truth in 24 of 24" in sentence
    )


def test_dropout_is_drawn_only_with_several_rates(rows: list[Row]) -> None:
    one = replace(rows[0], method="FP", cost="transformer", dropout=0.125, ece=0.1)
    assert not named("dropout").applies([one])
    both = [one, replace(one, dropout=0.5, ece=0.2)]
    assert named("dropout").applies(both)
    also = [replace(row, method="FP+A", ece=0.3) for row in both]
    axes = named("dropout").draw([*both, *also]).axes
    assert [ax.get_title(loc="left") for ax in axes[:2]] == ["FP", "FP+A"]
    assert axes[0].containers[0].lines[0].get_ydata() == pytest.approx([0.1, 0.2])
    assert axes[1].containers[0].lines[0].get_ydata() == pytest.approx([0.3, 0.3])
    assert [text.get_text() for text in axes[-1].get_xticklabels()] == ["0.125", "0.5"]
    assert "from 0.100 to 0.200" in named("dropout").sentence(both)


def test_scaled_and_unscaled_means_are_over_the_same_movies(rows: list[Row]) -> None:
    short = [replace(row, dataset="c", ece=0.9) for row in rows if row.dataset == "a" and row.scaling == "none"]
    lines = {each.get_label(): each for each in named("ece").draw([*rows, *short]).axes[0].containers}
    assert lines["SM"].lines[0].get_ydata() == pytest.approx([0.02, 0.2])
    alone = {each.get_label(): each for each in named("ece").draw(short).axes[0].containers}
    assert alone["SM"].lines[0].get_ydata() == pytest.approx([0.9, 0.9])


def test_a_method_looks_the_same_with_its_scaling_and_unlike_any_other() -> None:
    assert look("SM+TS") == look("SM")
    shown = [look(name) for name in ("SM", "FP", "FP+A", "AS", "MC", "JP", "JP self", "JP truth", "another")]
    assert len({each.marker for each in shown}) == len({each.colour for each in shown}) == len(shown)


def test_steps_are_told_in_words() -> None:
    assert [nth(step) for step in (1, 2, 3, 10, 11, 21)] == [
        "every frame", "every 2nd frame", "every 3rd frame", "every 10th frame", "every 11th frame", "every 21st frame",
    ]  # fmt: skip
