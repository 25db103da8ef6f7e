import numpy as np
import pytest

from dunno.errors import InputError
from dunno.evaluation.calibration_error import curve, error_floor, expected_error


def test_the_error_has_its_closed_form() -> None:
    confidence = np.array([0.95, 0.95, 0.95, 0.95, 0.55, 0.55])
    right = np.array([True, True, True, False, True, True])
    assert expected_error(confidence, right) == pytest.approx((4 * abs(0.75 - 0.95) + 2 * abs(1.0 - 0.55)) / 6)


def test_bins_exclude_their_lower_and_include_their_upper_end() -> None:
    found = curve(np.array([0.0, 0.1, 0.1000001, 1.0]), np.array([False, False, True, True]))
    assert found.count.tolist() == [2, 1, 0, 0, 0, 0, 0, 0, 0, 1]
    assert np.isnan(found.accuracy[2])
    assert found.accuracy[[0, 1, 9]].tolist() == [0.0, 1.0, 1.0]


def test_bins_of_equal_mass_hold_equally_many() -> None:
    confidence = np.random.default_rng(0).uniform(0.5, 1.0, 1000)
    found = curve(confidence, confidence > 0.7, equal_mass=True)
    assert found.count.tolist() == [100] * 10


def test_nothing_has_no_error() -> None:
    assert np.isnan(expected_error(np.empty(0), np.empty(0, bool)))
    assert np.isnan(error_floor(np.empty(0)))


@pytest.mark.parametrize("shape", [(2.0, 2.0), (8.0, 1.0), (30.0, 0.3)])
def test_a_calibrated_predictor_stays_below_its_floor_in_95_of_100_draws(shape: tuple[float, float]) -> None:
    rng = np.random.default_rng(1)
    below = []
    for _ in range(300):
        confidence = rng.beta(*shape, size=400)
        right = rng.uniform(size=400) < confidence
        below.append(expected_error(confidence, right) <= error_floor(confidence))
    assert 0.91 <= np.mean(below) <= 0.99


def test_an_overconfident_predictor_exceeds_its_floor() -> None:
    rng = np.random.default_rng(2)
    confidence = rng.uniform(0.8, 1.0, 2000)
    right = rng.uniform(size=2000) < confidence - 0.1
    assert expected_error(confidence, right) > 2 * error_floor(confidence)


def test_the_floor_agrees_with_tossing_every_coin() -> None:
    rng = np.random.default_rng(3)
    confidence = rng.beta(5, 1, size=500)
    draws = [expected_error(confidence, rng.uniform(size=500) < confidence) for _ in range(2000)]
    assert error_floor(confidence) == pytest.approx(np.quantile(draws, 0.95), rel=0.06)


def test_a_curve_plots_and_becomes_a_dictionary() -> None:
    pyplot = pytest.importorskip("matplotlib.figure")
    found = curve(np.array([0.15, 0.95]), np.array([False, True]))
    axes = pyplot.Figure().add_subplot()
    found.plot(axes, label="mine")
    assert axes.lines[1].get_xdata().tolist() == [0.15, 0.95]
    assert axes.lines[1].get_ydata().tolist() == [0.0, 1.0]
    assert found.to_dict()["count"] == [0, 1, 0, 0, 0, 0, 0, 0, 0, 1]


def test_curves_need_a_bin() -> None:
    with pytest.raises(InputError, match="0 bins of confidence; expected a whole number from 1 to 1000"):
        curve(np.array([0.5]), np.array([True]), n_bins=0)
