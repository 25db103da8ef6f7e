import json
from pathlib import Path

import numpy as np
import pytest

from dunno import Movie, Tracker, evaluation
from dunno.calibration import ModelCalibration, fit_event_costs, load_calibration
from dunno.costs.distance import Distance
from dunno.errors import DunnoWarning, InputError
from dunno.models.fit import FastEM
from dunno.simulate import colony as simulate


def test_a_movie_that_cannot_be_explained_is_not_to_be_trusted() -> None:
    rng = np.random.default_rng(0)
    masks = np.zeros((4, 300, 300), int)
    for frame in masks:  # cells anew at random places in every frame
        places = rng.integers(5, 295, (60, 2))
        frame[places[:, 0], places[:, 1]] = np.arange(1, 61)
    tracking = Tracker().track(Movie(masks))
    assert tracking.about["calibrated"] is False
    assert tracking.about["calibration"]["problems"]
    confidence = np.concatenate([pair.probability[pair.selected] for pair in tracking.pairs])
    assert confidence.mean() < 0.8


def test_an_outgrown_movie_says_why() -> None:
    simulated = simulate(cells=10, frames=31, cycle=8, motion=0.1, enter=0, room=20)
    tracking = Tracker().track(simulated.movie.every(15))
    assert any("times as many cells" in problem for problem in tracking.about["calibration"]["problems"])


@pytest.fixture(scope="module")
def free_colony() -> tuple:
    simulated = simulate(cells=100, frames=20, motion=0.2, cycle=40.0, seed=14)
    return simulated.movie, simulated.truth


def test_self_calibration_makes_probabilities_true_without_truth(free_colony: tuple) -> None:
    movie, truth = free_colony
    tracking = Tracker().track(movie)
    assert tracking.about["calibrated"] is True
    mine = evaluation.score(tracking, truth)
    plain = evaluation.score(Tracker("distance", "SM").track(movie), truth)
    assert mine.ece < max(0.02, 1.5 * mine.ece_floor)
    assert mine.ece_daughters < max(0.02, 1.5 * mine.ece_daughters_floor)
    assert mine.daughter_accuracy > plain.daughter_accuracy
    assert mine.nll < plain.nll


def test_a_fit_with_truth_is_calibrated_on_another_movie(free_colony: tuple, tmp_path: Path) -> None:
    movie, truth = free_colony
    other = simulate(cells=100, frames=12, motion=0.2, cycle=40.0, seed=7)
    part = slice(0, 8)
    fitted = fit_event_costs(Tracker(calibration=None).track(movie.part(part)), truth.part(part))
    assert isinstance(fitted, ModelCalibration)
    assert fitted.summary["loss_after"] <= fitted.summary["loss_before"]
    found = evaluation.score(Tracker(calibration=fitted).track(other.movie), other.truth)
    assert found.ece < max(0.02, 1.5 * found.ece_floor)
    fitted.save(tmp_path / "fit.json")
    assert load_calibration(tmp_path / "fit.json").model == fitted.model


def test_other_costs_get_a_tempering_and_event_costs(free_colony: tuple, tmp_path: Path) -> None:
    movie, truth = free_colony
    movie, truth = movie.part(slice(0, 8)), truth.part(slice(0, 8))
    plain = Tracker("overlap", "JP", calibration=None).track(movie)
    assert plain.about["verdict"] == "untested"
    fitted = fit_event_costs(plain, truth)
    assert fitted.loss_after < fitted.loss_before
    fitted.save(tmp_path / "fit.json")
    again = load_calibration(tmp_path / "fit.json")
    before, after = (
        evaluation.score(each, truth) for each in (plain, Tracker("overlap", "JP", calibration=again).track(movie))
    )
    assert after.nll < 0.5 * before.nll
    assert after.ece < 0.5 * before.ece


def test_it_applies_to_a_finished_tracking_as_while_tracking(free_colony: tuple) -> None:
    movie, _ = free_colony
    movie, gate = movie.part(slice(0, 5)), 30.0  # few candidates each: where they are many, tracking leaves some out
    tracker = Tracker(max_distance=gate)
    during = tracker.track(movie)
    fitted = tracker.plan(movie).calibration
    after = fitted(Tracker(max_distance=gate, calibration=None).track(movie))
    for one, other in zip(during.pairs, after.pairs, strict=True):
        np.testing.assert_allclose(one.probability, other.probability, atol=1e-9)
        np.testing.assert_array_equal(one.selected, other.selected)
    assert after.about["calibrated"] == during.about["calibrated"]


def test_what_contradicts_itself_is_refused() -> None:
    with pytest.raises(InputError, match="precision 50 of cost 'distance' would have no effect"):
        Tracker(Distance(50.0))
    with pytest.raises(InputError, match="expected a fitted calibration, 'self' or None"):
        Tracker(calibration="magic")
    assert Tracker(Distance(50.0), calibration=None).calibration is None


def test_a_motion_model_is_refused_for_another_cost_or_method(free_colony: tuple) -> None:
    movie = free_colony[0].part(slice(0, 3))
    fitted = Tracker().plan(movie).calibration
    with pytest.raises(InputError, match="calibrates method JP, not SM"):
        Tracker("distance", "SM", calibration=fitted).track(movie)
    with pytest.raises(InputError, match="fitted for cost 'distance', not for 'activity'"):
        Tracker("activity", "JP", calibration=fitted).track(movie)


def test_results_carry_parameters_with_intervals(free_colony: tuple) -> None:
    about = Tracker().track(free_colony[0]).about["calibration"]
    assert json.loads(json.dumps(about)) == about
    assert about["fitted"] == "self"
    low, high = about["intervals"]["motion_scale"]
    assert low < about["parameters"]["motion_scale"] < high
    assert about["summary"]["expected"]["divided"] > 0


@pytest.mark.parametrize("masks", [np.zeros((3, 9, 9), int), np.eye(9, dtype=int)[None].repeat(3, 0)])
def test_tiny_and_empty_movies_are_tracked(masks: np.ndarray) -> None:
    tracking = Tracker().track(Movie(masks))
    assert len(tracking.pairs) == 2
    assert all(np.isfinite(pair.entropy).all() for pair in tracking.pairs)


def test_activity_is_self_calibrated_too() -> None:
    simulated = simulate(cells=40, frames=10, motion=0.25)
    tracking = Tracker("activity").track(simulated.movie)
    found = evaluation.score(tracking, simulated.truth)
    assert found.daughter_accuracy > 0.8
    assert tracking.about["calibration"]["kind"] == "motion model"


def test_a_lonely_cell_is_linked() -> None:
    masks = np.zeros((6, 60, 60), int)
    for t in range(6):
        masks[t, 20 + 2 * t : 27 + 2 * t, 30:37] = 1
    tracking = Tracker().track(Movie(masks))
    assert [int(pair.selected.sum()) for pair in tracking.pairs] == [1] * 5


def test_another_scale_is_refused_and_another_step_is_told(free_colony: tuple) -> None:
    movie, truth = free_colony
    part = slice(0, 5)
    fitted = fit_event_costs(Tracker(calibration=None).track(movie.part(part)), truth.part(part))
    masks = [movie.masks(t) for t in range(3)]
    with pytest.raises(InputError, match="fitted for scale None"):
        Tracker(calibration=fitted).track(Movie(masks, scale=0.5))
    with pytest.warns(UserWarning, match="fitted at step 1, and is used at 2"):
        Tracker(calibration=fitted).track(movie.part(part).every(2))


def test_rates_are_told_per_hour_where_the_interval_is_known(free_colony: tuple) -> None:
    movie = free_colony[0].part(slice(0, 4))
    assert Tracker().track(movie).about["calibration"]["per_hour"] is None
    timed = Movie([movie.masks(t) for t in range(4)], interval=15.0)
    told = Tracker().track(timed).about["calibration"]
    assert told["per_hour"]["divisions_per_cell"] == pytest.approx(
        4 * told["parameters"]["p_divide"] * (1 - told["parameters"]["p_lost"])
    )
    assert told["per_hour"]["diffusion_coefficient"] == pytest.approx(2 * told["parameters"]["motion_scale"])


def test_a_fit_that_stops_before_it_converged_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FastEM.__init__, "__defaults__", (2,))
    with pytest.warns(DunnoWarning, match="the fit of the model stopped before it converged"):
        plan = Tracker(workers=1).plan(simulate(cells=30, frames=8, motion=0.1, seed=1).movie)
    assert plan.calibration is not None
    assert plan.calibration.describe()["summary"]["converged"] is False
