from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dunno import Tracker, evaluation, read
from dunno.benchmark.datasets import find_datasets
from dunno.benchmark.folds import open_folds
from dunno.benchmark.measure import LEAST_LINKS, Bench, measure, timed
from dunno.benchmark.rows import Row
from dunno.benchmark.units import Setup, Unit, plan_units
from dunno.calibration import TemperatureScaling
from dunno.truth import true_mothers

pytestmark = pytest.mark.filterwarnings("ignore:masks are taken from")


def unit(root: Path, dataset: str, cost: str, method: str, step: int = 1, **more: float) -> Unit:
    setup = Setup(costs=(cost,), methods=(method,), steps=(step,), **more)  # type: ignore[arg-type]
    return next(each for each in plan_units(find_datasets(root), setup)[0] if each.dataset == dataset)


def by_scaling(rows: list[Row]) -> dict[str, Row]:
    return {row.scaling: row for row in rows}


def test_a_row_is_what_tracking_calibrating_and_scoring_by_hand_give(root: Path) -> None:
    found = by_scaling(measure(unit(root, "pair", "distance", "SM")))
    (train, train_truth), (movie, truth) = (read(root / "pair" / name, truth=True) for name in ("01", "02"))
    tracker = Tracker("distance", "SM", calibration=None)
    fitted_on, tracking = tracker.track(train), tracker.track(movie)
    scaling = TemperatureScaling.fit(fitted_on, train_truth)
    for name, expected in (("none", tracking), ("temperature", scaling(tracking))):
        scores, row = evaluation.score(expected, truth), found[name]
        assert (row.n_links, row.accuracy, row.ece, row.nll) == (
            scores.n_links, scores.accuracy, scores.ece, scores.nll,
        )  # fmt: skip
        assert row.gain_entropy == evaluation.sparsification(expected, truth, by="entropy").gain
    assert found["temperature"].temperature == scaling.temperature
    assert found["none"].temperature is None
    assert found["none"].overhead == 1.0
    squares = []
    for pair in fitted_on.pairs:
        mother = true_mothers(train_truth, pair).mother
        for daughter in np.flatnonzero(mother >= 0):
            squares.append(np.sum((pair.daughters.centroid[daughter] - pair.mothers.centroid[mother[daughter]]) ** 2))
    assert found["none"].mean_squared_displacement == pytest.approx(np.mean(squares))


def test_halves_are_calibrated_on_each_other_and_scored_together(root: Path) -> None:
    found = by_scaling(measure(unit(root, "single", "distance", "SM")))
    movie, truth = read(root / "single" / "01", truth=True)
    tracker = Tracker("distance", "SM", calibration=None)
    halves = [(tracker.track(movie.part(half)), truth.part(half)) for half in (slice(0, 4), slice(4, None))]
    fits = [TemperatureScaling.fit(*half) for half in halves]
    assert found["temperature"].temperature == pytest.approx(np.sqrt(fits[0].temperature * fits[1].temperature))
    assert found["none"].n_pairs == 6
    links = sum(evaluation.score(*half).n_links for half in halves)
    assert found["none"].n_links == found["temperature"].n_links == links


def test_jp_is_also_self_calibrated_and_fitted_with_truth_and_never_scored_across_the_cut(root: Path) -> None:
    found = by_scaling(measure(unit(root, "single", "distance", "JP")))
    assert list(found) == ["none", "temperature", "self", "events"]
    assert {row.n_pairs for row in found.values()} == {6}
    assert found["self"].trusted is not None
    assert found["self"].temperature is None
    bench = Bench(unit(root, "single", "distance", "JP"))
    (fold,) = open_folds(bench.unit)
    pairs = [(pair.mother_frame, pair.daughter_frame) for pair in bench._self_calibrated(fold).tracking.pairs]
    assert (3, 4) not in pairs
    assert pairs == [(0, 1), (1, 2), (2, 3), (4, 5), (5, 6), (6, 7)]


@pytest.mark.parametrize(("cost", "method"), [("overlap", "JP"), ("distance", "AS"), ("overlap", "SM")])
def test_every_cost_and_method_is_also_calibrated_without_truth(root: Path, cost: str, method: str) -> None:
    found = by_scaling(measure(unit(root, "pair", cost, method)))
    movie, truth = read(root / "pair" / "02", truth=True)
    tracking = Tracker(cost, method).track(movie)
    assert found["self"].ece == evaluation.score(tracking, truth).ece
    assert found["self"].temperature == tracking.about["calibration"]["temperature"]
    assert found["self"].trusted is tracking.about["calibrated"]
    assert found["self"].swaps == evaluation.score(tracking, truth).swaps


def test_calibration_errors_have_as_many_bins_as_asked_for(root: Path) -> None:
    found = by_scaling(measure(unit(root, "pair", "distance", "SM", n_bins=4)))
    movie, truth = read(root / "pair" / "02", truth=True)
    tracking = Tracker("distance", "SM", calibration=None).track(movie)
    assert found["none"].ece == evaluation.calibration_curve(tracking, truth, 4).ece
    assert len(found["none"].curves["calibration"]["count"]) == 4


def test_a_users_own_cost_is_measured_too(root: Path) -> None:
    found = by_scaling(measure(unit(root, "pair", "dunno.costs.overlap:Overlap", "JP")))
    own = by_scaling(measure(unit(root, "pair", "overlap", "JP")))
    assert found["temperature"].ece == own["temperature"].ece
    assert found["events"].reason == "event costs are fitted for dunno's own costs only"


def test_too_few_frames_make_a_row_with_the_reason(root: Path) -> None:
    for dataset, words in (("pair", "the movie has 1"), ("single", "a half of the movie has 0")):
        rows = measure(unit(root, dataset, "distance", "SM", step=50))
        assert [row.scaling for row in rows] == ["none", "temperature", "self"]
        for row in rows:
            assert row.n_links is None and row.ece is None
            assert row.reason is not None and words in row.reason


def test_self_calibration_needs_nothing_to_calibrate_on(root: Path) -> None:
    bench = Bench(unit(root, "pair", "distance", "JP"))
    (fold,) = open_folds(bench.unit)
    bare = replace(fold, calibrate=(fold.calibrate[0].part(slice(0, 1)),))
    assert bench.row(bare, "self").is_measured
    assert bench.row(bare, "none").is_measured
    for scaling in ("temperature", "events"):
        reason = "too few frames to calibrate on: the movie has 1 at this step, and a pair takes two"
        assert bench.row(bare, scaling).reason == reason


def test_too_few_links_make_a_row_with_the_reason(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dunno.benchmark.measure.LEAST_LINKS", 100_000)
    (row, scaled, own) = measure(unit(root, "pair", "distance", "SM"))
    assert row.reason is not None and row.reason.endswith("links to evaluate; at least 100000 are needed")
    assert scaled.reason is not None and "true links to calibrate on" in scaled.reason
    assert own.reason == row.reason
    assert LEAST_LINKS == 20


def test_without_the_class_of_no_mother_a_link_is_at_least_as_confident(root: Path) -> None:
    with_none = by_scaling(measure(unit(root, "pair", "overlap", "SM", step=3)))["none"]
    without = by_scaling(measure(unit(root, "pair", "overlap", "SM", step=3, mothers_only=True)))["none"]
    assert with_none.confidence is not None and without.confidence is not None
    assert with_none.accuracy == without.accuracy
    assert without.confidence >= with_none.confidence


def test_without_a_gate_no_true_mother_is_missed_and_the_links_are_those_of_such_a_tracker(root: Path) -> None:
    found = by_scaling(measure(unit(root, "pair", "distance", "SM", max_distance=float("inf"))))["none"]
    movie, truth = read(root / "pair" / "02", truth=True)
    expected = evaluation.score(
        Tracker("distance", "SM", calibration=None, max_distance=float("inf")).track(movie), truth
    )
    assert (found.nll, found.ece) == (expected.nll, expected.ece)


def test_quick_work_is_timed_several_times() -> None:
    calls = []
    result, seconds = timed(lambda value: calls.append(value) or len(calls), "x")
    assert (result, calls) == (3, ["x"] * 3)
    assert 0 <= seconds < 1
