import numpy as np
import pytest

from dunno import Tracker, evaluation
from dunno.errors import InputError
from dunno.evaluation.sparsification import kept_right, sparsify
from dunno.simulate import colony as simulate


def test_removing_the_least_certain_first_leaves_the_right_ones() -> None:
    right = np.arange(100) >= 20
    found = sparsify(np.arange(100) / 100, right)
    assert found.accuracy[0] == 0.8
    assert found.accuracy[10] == pytest.approx(80 / 90)
    assert (found.accuracy[20:] == 1.0).all()
    np.testing.assert_allclose(found.accuracy, found.oracle)
    assert found.gain == found.oracle_gain > 0


def test_ties_count_with_their_expected_accuracy() -> None:
    right = np.array([True, False, True, True, False])
    same = np.ones(5)
    np.testing.assert_allclose(kept_right(same, right), 0.6 * np.arange(1, 6))
    np.testing.assert_allclose(kept_right(same, right[::-1]), kept_right(same, right))
    assert sparsify(same, right).gain == pytest.approx(0.0)


def test_ties_equal_the_mean_over_random_orders() -> None:
    rng = np.random.default_rng(0)
    certainty, right = rng.integers(0, 4, 60) / 4, rng.uniform(size=60) < 0.7
    shuffled = [kept_right(certainty + 1e-9 * rng.uniform(size=60), right) for _ in range(4000)]
    np.testing.assert_allclose(kept_right(certainty, right), np.mean(shuffled, axis=0), atol=0.06)


def test_certainty_that_means_nothing_gains_nothing() -> None:
    rng = np.random.default_rng(1)
    right = rng.uniform(size=20_000) < 0.8
    assert abs(sparsify(rng.uniform(size=20_000), right).gain) < 0.02


@pytest.mark.parametrize("by", ["edge", "entropy"])
def test_a_tracking_is_sparsified_by_probability_or_entropy(by: str) -> None:
    simulated = simulate(cells=40, frames=10, motion=0.4)
    found = evaluation.sparsification(
        Tracker("distance", "SM", calibration=None).track(simulated.movie), simulated.truth, by=by
    )
    assert found.by == by
    assert 0 < found.gain < found.oracle_gain
    assert set(found.to_dict()) == {"removed", "accuracy", "oracle", "gain", "oracle_gain", "by"}
    figure = pytest.importorskip("matplotlib.figure")
    axes = figure.Figure().add_subplot()
    found.plot(axes)
    assert axes.lines[1].get_label() == by


def test_other_orders_are_refused() -> None:
    simulated = simulate(cells=4, frames=3)
    with pytest.raises(InputError, match="expected 'edge' or 'entropy'"):
        evaluation.sparsification(
            Tracker("distance", "SM", calibration=None).track(simulated.movie), simulated.truth, by="mood"
        )
