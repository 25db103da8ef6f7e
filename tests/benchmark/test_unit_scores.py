"""Rows beside the same thing done by hand."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dunno import Movie, Tracker, evaluation, read
from dunno.benchmark import unit_scores as measuring
from dunno.benchmark.datasets import Part, find_datasets
from dunno.benchmark.one_pass import Remembered, track_together
from dunno.benchmark.results_table import Row
from dunno.benchmark.unit_scores import make_cost, make_method, measure
from dunno.benchmark.units import METHODS, SETUPS, Experiment, Unit, plan_units
from dunno.calibration import TemperatureScaling
from dunno.costs.overlap import Overlap
from dunno.tracking import Tracking
from dunno.truth import true_mothers
from tests.transformer.tiny import tiny_model

pytestmark = pytest.mark.filterwarnings("ignore:masks are taken from")


def unit_of(root: Path, dataset: str, cost: str, step: int = 1, **more: Any) -> Unit:
    experiment = Experiment(costs=(cost,), steps=(step,), **more)
    return next(each for each in plan_units(find_datasets(root), experiment) if each.dataset.name == dataset)


def rows_of(root: Path, dataset: str, cost: str, method: str, setup: str = "user", **more: Any) -> dict[str, Row]:
    return {row["scaling"]: row for row in measure(unit_of(root, dataset, cost, **more), [(setup, method)])}


def same(one: Tracking, other: Tracking) -> None:
    for a, b in zip(one.pairs, other.pairs, strict=True):
        np.testing.assert_allclose(a.log_probability, b.log_probability, rtol=1e-6)
        np.testing.assert_array_equal(a.selected, b.selected)


def test_a_row_is_what_tracking_calibrating_and_scoring_by_hand_give(root: Path) -> None:
    found = rows_of(root, "pair", "distance", "SM")
    (train, train_truth), (movie, truth) = (read(root / "pair" / name, truth=True) for name in ("01", "02"))
    tracker = Tracker("distance", "SM", calibration=None)
    fitted_on, tracking = tracker.track(train), tracker.track(movie)
    scaling = TemperatureScaling.fit(fitted_on, train_truth)
    own = Tracker("distance", "SM").track(movie)
    for name, expected in (("none", tracking), ("temperature", scaling(tracking)), ("self", own)):
        scores, row = evaluation.score(expected, truth), found[name]
        for column in (
            "n_links",
            "accuracy",
            "ece",
            "ece_floor",
            "nll",
            "auroc",
            "aurc",
            "promised_wrong",
            "found_wrong",
        ):
            assert row[column] == pytest.approx(getattr(scores, column), rel=1e-9), column
        assert row["gain_entropy"] == evaluation.sparsification(expected, truth, by="entropy").gain
        assert row["curves"]["count"] == evaluation.calibration_curve(expected, truth).count.tolist()
    assert found["temperature"]["temperature"] == scaling.temperature
    assert found["self"]["temperature"] == own.about["calibration"]["temperature"]
    assert found["self"]["verdict"] == own.about["verdict"]
    squares = []
    for pair in fitted_on.pairs:
        mother = true_mothers(train_truth, pair).mother
        for daughter in np.flatnonzero(mother >= 0):
            squares.append(np.sum((pair.daughters.centroid[daughter] - pair.mothers.centroid[mother[daughter]]) ** 2))
    assert found["none"]["squared_displacement"] == pytest.approx(np.mean(squares))


def test_the_second_half_is_calibrated_on_the_first(root: Path) -> None:
    found = rows_of(root, "single", "distance", "SM")
    movie, truth = read(root / "single" / "01", truth=True)
    tracker = Tracker("distance", "SM", calibration=None)
    first, second = ((tracker.track(movie.part(half)), truth.part(half)) for half in (slice(0, 4), slice(4, None)))
    assert found["temperature"]["temperature"] == TemperatureScaling.fit(*first).temperature
    assert found["none"]["n_pairs"] == 4
    assert found["none"]["ece"] == evaluation.score(*second).ece
    assert found["none"]["sequence"] == "01, second half"


@pytest.mark.parametrize("setup", SETUPS)
@pytest.mark.parametrize("cost", ["distance", "overlap", "transformer"])
def test_methods_track_together_as_they_do_alone(root: Path, tmp_path: Path, cost: str, setup: str) -> None:
    models = (str(tiny_model(tmp_path / "model")),) if cost == "transformer" else ()
    unit = unit_of(root, "pair", cost, models=models)
    movie = read(root / "pair" / "02").part(slice(0, 4))
    methods = {name: make_method(unit, name) for name in METHODS}
    remembered = make_cost(unit)
    together = track_together(methods, movie, remembered, seed=3, **SETUPS[setup])
    asked = getattr(remembered, "_cost", remembered)
    for name in METHODS:
        alone = Tracker(asked, name, samples=10, seed=3, calibration=None, **SETUPS[setup]).track(movie)
        same(together[name].tracking, alone)
        assert together[name].tracking.about["method"] == name
    assert together["FP"].seconds > together["SM"].seconds > 0


def test_a_remembered_cost_is_asked_once_and_its_time_is_still_counted(root: Path) -> None:
    calls = []

    class Counted(Overlap):
        def __call__(self, *given: Any) -> Any:
            calls.append(1)
            return super().__call__(*given)

    movie = read(root / "pair" / "02").part(slice(0, 3))
    cost = Remembered(Counted())
    first = track_together({"FP": make_method(unit_of(root, "pair", "overlap"), "FP")}, movie, cost)
    asked = len(calls)
    again = track_together({"FP": make_method(unit_of(root, "pair", "overlap"), "FP")}, movie, cost)
    assert (asked, len(calls)) == (2 * 11, asked)
    assert cost.saved > 0
    assert again["FP"].seconds > 0.2 * first["FP"].seconds
    same(first["FP"].tracking, again["FP"].tracking)


def test_jp_is_also_fitted_with_truth_and_counts_divisions(root: Path) -> None:
    found = rows_of(root, "pair", "distance", "JP")
    assert list(found) == ["none", "temperature", "self", "events"]
    movie, truth = read(root / "pair" / "02", truth=True)
    expected = evaluation.score(Tracker().track(movie), truth)
    assert found["self"]["ece"] == expected.ece
    assert expected.divisions is not None
    assert (found["self"]["divisions"], found["self"]["divisions_true"]) == (
        expected.divisions.reported,
        expected.divisions.true,
    )
    assert found["events"]["n_links"] > 0


def test_jp_with_a_remembered_cost_that_is_no_motion_model_is_what_it_is_alone(root: Path) -> None:
    found = rows_of(root, "pair", "overlap", "JP")
    assert list(found) == ["none", "temperature", "self"]
    movie, truth = read(root / "pair" / "02", truth=True)
    own = Tracker("overlap", "JP").track(movie)
    assert found["self"]["nll"] == pytest.approx(evaluation.score(own, truth).nll, rel=1e-6)
    assert found["self"]["temperature"] == own.about["calibration"]["temperature"]
    assert "reason" not in rows_of(root, "pair", "overlap", "JP", "paper")["none"]


def test_where_no_true_mother_is_a_candidate_there_is_a_reason(root: Path) -> None:
    movie, truth = (each.part(slice(0, 2)) for each in read(root / "pair" / "02", truth=True))
    tracking = Tracker("distance", "SM", max_distance=1e-9, calibration=None).track(movie)
    with pytest.raises(measuring.TooFewError, match="nothing to fit on"):
        measuring._fitted(TemperatureScaling.fit, tracking, Part("02", movie, truth))


def test_in_the_papers_set_up_every_mother_is_a_candidate_and_there_is_no_other_choice(root: Path) -> None:
    found = rows_of(root, "pair", "distance", "JP", "paper")
    movie, truth = read(root / "pair" / "02", truth=True)
    choices = {"calibration": None, "max_distance": np.inf, "no_mother": False}
    expected = evaluation.score(Tracker("distance", "JP", **choices).track(movie), truth)
    assert (found["none"]["nll"], found["none"]["ece"]) == (expected.nll, expected.ece)
    assert "has a gate and a ⊥ of its own" in found["self"]["reason"]
    assert "n_links" not in found["self"]


def test_calibration_errors_have_as_many_bins_as_asked_for(root: Path) -> None:
    found = rows_of(root, "pair", "distance", "SM", n_bins=4)
    movie, truth = read(root / "pair" / "02", truth=True)
    tracking = Tracker("distance", "SM", calibration=None).track(movie)
    assert found["none"]["ece"] == evaluation.calibration_curve(tracking, truth, 4).ece


def test_a_users_own_cost_is_measured_too(root: Path) -> None:
    found = rows_of(root, "pair", "dunno.costs.overlap:Overlap", "AS")
    own = rows_of(root, "pair", "overlap", "AS")
    assert {name: row["ece"] for name, row in found.items()} == {name: row["ece"] for name, row in own.items()}


def test_too_few_frames_or_links_make_rows_with_the_reason(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for row in rows_of(root, "pair", "distance", "SM", step=50).values():
        assert row["reason"] == "no links to evaluate (1 frame at this step); at least 20 are needed"
        assert "ece" not in row
    monkeypatch.setattr(measuring, "LEAST_LINKS_SCORED", 100_000)
    found = rows_of(root, "pair", "distance", "SM")
    assert found["none"]["reason"].endswith("links to evaluate; at least 100000 are needed")
    assert "true links to calibrate on" in found["temperature"]["reason"]
    assert found["self"]["reason"] == found["none"]["reason"]


def test_a_cost_that_needs_images_has_a_reason_where_there_are_none(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Movie, "has_images", False)
    (row,) = measure(unit_of(root, "pair", "activity"), [("user", "SM")])
    assert (row["sequence"], row["method"], row["reason"]) == ("02", "SM", "no images")
