import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dunno import Movie, Tracker, evaluation, read
from dunno.calibration import TemperatureScaling
from dunno.costs.distance import Distance
from dunno.errors import DunnoWarning, InputError
from dunno.simulate import Colony
from dunno.simulate import colony as simulate
from dunno.tracking import Tracking


@pytest.fixture(scope="module")
def simulated() -> Colony:
    """Free cells, so that displacements are what the parameters say."""
    return simulate(cells=150, frames=20, motion=0.25, crowding=0.0, cycle=np.inf, enter=0.0, room=4.0)


@pytest.fixture(scope="module")
def tracking(simulated: Colony) -> Tracking:
    return Tracker("distance", "SM", calibration=None, no_mother=False, max_distance=60).track(simulated.movie)


def test_the_temperature_is_the_motions_variance(simulated: Colony, tracking: Tracking) -> None:
    scaling = TemperatureScaling.fit(tracking, simulated.truth)
    assert scaling.temperature == pytest.approx((0.25 * 24) ** 2, rel=0.1)
    assert scaling.loss_after < scaling.loss_before
    assert not scaling.at_bound


def test_a_fitted_temperature_calibrates(simulated: Colony, tracking: Tracking) -> None:
    scaling = TemperatureScaling.fit(tracking, simulated.truth)
    before, after = (evaluation.score(each, simulated.truth) for each in (tracking, scaling(tracking)))
    assert before.ece > 3 * before.ece_floor
    assert after.ece < 0.7 * before.ece  # not all: one T does not know that daughters compete for mothers
    assert after.nll < 0.2 * before.nll
    assert after.accuracy == before.accuracy


def test_scaling_the_cost_by_one_over_t_is_the_same_as_scaling_the_probabilities(simulated: Colony) -> None:
    movie = simulated.movie.part(slice(0, 4))
    for no_mother, appear in ((False, 1800.0), (True, 1800.0)):
        settings = {"max_distance": 60, "disappear_cost": 1800.0, "no_mother": no_mother}
        plain = Tracker("distance", "SM", calibration=None, appear_cost=appear, **settings).track(movie)
        scaled = TemperatureScaling(36.0, fitted_for={"no_mother": no_mother})(plain)
        tempered = Tracker(Distance(1 / 36), "SM", calibration=None, appear_cost=appear / 36, **settings).track(movie)
        for one, other in zip(scaled.pairs, tempered.pairs, strict=True):
            np.testing.assert_allclose(one.log_probability, other.log_probability, atol=1e-9)
            np.testing.assert_allclose(one.log_no_mother, other.log_no_mother, atol=1e-9)
            np.testing.assert_allclose(one.entropy, other.entropy, atol=1e-9)


def test_temperature_one_is_the_identity_and_infinity_is_uniform(tracking: Tracking) -> None:
    same, flat = (TemperatureScaling(t, {"no_mother": False})(tracking).pairs[3] for t in (1.0, 1e9))
    original = tracking.pairs[3]
    np.testing.assert_allclose(same.log_probability, original.log_probability, atol=1e-12)
    options = np.bincount(original.daughter, minlength=len(original.daughters))
    np.testing.assert_allclose(flat.probability, 1 / options[original.daughter], rtol=1e-4)
    np.testing.assert_allclose(flat.entropy, np.log(options), atol=1e-4)


def test_exact_zeros_stay_zero(tracking: Tracking) -> None:
    """0 to any power is 0, as in the paper's equation."""
    pair = tracking.pairs[0]
    zero = np.flatnonzero(pair.log_probability < -50)[:1]
    log_probability = pair.block.log_probability.copy()
    log_probability[zero] = -np.inf
    struck = replace(tracking, blocks=(replace(pair.block, log_probability=log_probability),))
    for temperature in (0.5, 2.0, 1e6):
        scaled = TemperatureScaling(temperature, {"no_mother": False})(struck).pairs[0]
        assert scaled.probability[zero] == 0
        total = np.bincount(scaled.daughter, scaled.probability)
        np.testing.assert_allclose(total[total > 0], 1.0)


def test_a_daughter_without_a_distribution_does_not_get_a_uniform_one() -> None:
    simulated = simulate(cells=12, frames=4, motion=0.3)
    settings = {"samples": 1, "no_mother": False, "disappear_cost": 0.0}
    tracking = Tracker("distance", "AS", calibration=None, appear_cost=-1e6, **settings).track(simulated.movie)
    scaled = TemperatureScaling(5.0, {"no_mother": False})(tracking)
    for pair in scaled.pairs:
        assert (pair.probability == 0).all()
        assert np.isnan(pair.entropy).all()
    with pytest.raises(InputError, match="no daughter with a true mother among its candidates"):
        TemperatureScaling.fit(tracking, simulated.truth)


def test_joint_samples_do_not_outlive_the_scaling() -> None:
    tracking = Tracker("distance", "MC", calibration=None).track(simulate(cells=8, frames=3).movie)
    assert tracking.pairs[0].samples is not None
    assert TemperatureScaling(2.0)(tracking).pairs[0].samples is None


def test_daughters_without_mother_are_left_out_unless_asked_for() -> None:
    simulated = simulate(cells=30, frames=20, motion=0.2, enter=3.0)
    tracking = Tracker("distance", "SM", calibration=None).track(simulated.movie)
    without = TemperatureScaling.fit(tracking, simulated.truth)
    included = TemperatureScaling.fit(tracking, simulated.truth, include_no_mother=True)
    assert without.counts["no_mother"] > 10
    assert included.counts["no_mother"] == 0
    assert included.counts["daughters"] == without.counts["daughters"] + without.counts["no_mother"]
    assert included.temperature > without.temperature


def test_it_is_saved_with_everything_it_was_fitted_for(tracking: Tracking, simulated: Colony, tmp_path: Path) -> None:
    scaling = TemperatureScaling.fit(tracking, simulated.truth)
    scaling.save(tmp_path / "t.json")
    assert TemperatureScaling.load(tmp_path / "t.json") == scaling
    content = json.loads((tmp_path / "t.json").read_text())
    assert content["kind"] == "temperature scaling"
    for name in (
        "version",
        "cost",
        "cost_parameters",
        "method",
        "method_parameters",
        "max_distance",
        "no_mother",
        "step",
        "interval",
    ):
        assert name in content["fitted_for"]
    assert content["loss_before"] > content["loss_after"]


def test_it_is_refused_for_another_cost_or_method_and_warns_of_another_step(
    tracking: Tracking, simulated: Colony
) -> None:
    scaling = TemperatureScaling.fit(tracking, simulated.truth)
    movie = simulated.movie
    with pytest.raises(InputError, match="fitted for cost 'distance', not for 'embedding'"):
        Tracker("embedding", "SM", no_mother=False, calibration=scaling).track(movie)
    with pytest.raises(InputError, match="fitted for method 'SM', not for 'FP'"):
        scaling(Tracker("distance", "FP", calibration=None, no_mother=False).track(movie.part(slice(0, 3))))
    with pytest.raises(InputError, match="fitted for no_mother False, not for True"):
        scaling(Tracker("distance", "SM", calibration=None).track(movie.part(slice(0, 3))))
    with pytest.warns(DunnoWarning, match="fitted at step 1, and is used at 2"):
        scaling(Tracker("distance", "SM", calibration=None, no_mother=False, max_distance=60).track(movie.every(2)))
    with pytest.raises(InputError, match="calibrated already"):
        scaling(scaling(tracking))
    with pytest.raises(InputError, match="calibrated already"):
        TemperatureScaling.fit(scaling(tracking), simulated.truth)


def test_tracking_with_it_equals_applying_it_afterwards(tracking: Tracking, simulated: Colony) -> None:
    scaling = TemperatureScaling.fit(tracking, simulated.truth)
    during = Tracker("distance", "SM", no_mother=False, max_distance=60, calibration=scaling).track(simulated.movie)
    after = scaling(tracking)
    assert during.about == after.about
    assert during.about["calibrated"] is True
    for one, other in zip(during.pairs, after.pairs, strict=True):
        np.testing.assert_array_equal(one.log_probability, other.log_probability)
    assert "probabilities supported" in repr(during)


def test_a_temperature_at_its_bound_is_told() -> None:
    masks = np.zeros((2, 3, 40), int)
    masks[:, 1, 5], masks[:, 1, 30] = 1, 2
    simulated = simulate(cells=2, frames=2)
    movie = Movie(masks)
    truth = replace(simulated.truth, labels=(np.array([1, 2]),) * 2, tracks=(np.array([1, 2]),) * 2)
    tracking = Tracker("distance", "SM", calibration=None, max_distance=np.inf, no_mother=False).track(movie)
    with pytest.warns(DunnoWarning, match="ran into the bound"):
        assert TemperatureScaling.fit(tracking, truth).at_bound


@pytest.mark.parametrize("content", ["", "{}", '{"kind": "other"}', '{"kind": "temperature scaling"}', "[1]"])
def test_files_that_are_no_calibration_are_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(InputError, match=r"x\.json: (is not a dunno calibration file|was written by an older version)"):
        TemperatureScaling.load(tmp_path / "x.json")
    with pytest.raises(InputError, match="nowhere.json: cannot be read"):
        TemperatureScaling.load(tmp_path / "nowhere.json")


REFERENCE = [
    (1, 450, 25_169, 0.995, 0.006, 0.004, 38),
    (10, 1800, 2_588, 0.888, 0.113, 0.060, 132),
    (30, 5000, 916, 0.647, 0.299, 0.123, 449),
    (50, 7200, 247, 0.429, 0.474, 0.131, 770),
]


@pytest.mark.parametrize(("step", "event", "links", "accuracy", "plain", "scaled", "temperature"), REFERENCE)
def test_the_papers_figures_on_hela_are_reproduced(
    data: Path, step: int, event: float, links: int, accuracy: float, plain: float, scaled: float, temperature: float
) -> None:
    train, train_truth = read(data / "Fluo-N2DL-HeLa/01", truth=True)
    movie, truth = read(data / "Fluo-N2DL-HeLa/02", truth=True)
    tracker = Tracker(
        "distance",
        "SM",
        calibration=None,
        max_distance=np.inf,
        appear_cost=event,
        disappear_cost=event,
        divide_cost=0.0,
        no_mother=False,
    )
    scaling = TemperatureScaling.fit(tracker.track(train.every(step)), train_truth.every(step))
    tracking = tracker.track(movie.every(step))
    before, after = (evaluation.score(each, truth.every(step)) for each in (tracking, scaling(tracking)))
    assert before.n_links == pytest.approx(links, abs=5)
    assert before.accuracy == pytest.approx(accuracy, abs=0.01)
    assert before.ece == pytest.approx(plain, abs=0.01)
    assert after.ece == pytest.approx(scaled, abs=0.01)
    assert scaling.temperature == pytest.approx(temperature, rel=0.05)
