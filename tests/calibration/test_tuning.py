import numpy as np
import pytest

from dunno import Tracker
from dunno.calibration.with_truth import tune_perturbation
from dunno.errors import InputError
from dunno.simulate import colony as simulate


def test_each_strength_gets_a_held_out_loss_and_the_perturbation_is_put_back() -> None:
    simulated = simulate(cells=15, frames=7, motion=0.3)
    tracker = Tracker("distance", "FP", calibration=None, samples=3)
    given = tracker.perturbation
    trials = tune_perturbation(tracker, simulated.movie, simulated.truth)
    assert [trial.perturbation.variance for trial in trials] == [0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0]
    losses = [trial.loss for trial in trials]
    assert np.isfinite(losses).all()
    assert losses[-1] > min(losses)  # noise of half a cell cannot help
    assert tracker.perturbation is given


def test_what_cannot_be_tuned_is_refused() -> None:
    simulated = simulate(cells=5, frames=4)
    with pytest.raises(InputError, match="method SM perturbs nothing"):
        tune_perturbation(Tracker("distance", "SM", calibration=None), simulated.movie, simulated.truth)
    with pytest.raises(InputError, match="ensemble has no strength to tune"):
        tracker = Tracker("distance", "FP", calibration=None, perturbation="ensemble")
        tune_perturbation(tracker, simulated.movie, simulated.truth)
    with pytest.raises(InputError, match="at least two frame pairs"):
        tune_perturbation(
            Tracker("distance", "FP", calibration=None),
            simulated.movie.part(slice(0, 2)),
            simulated.truth.part(slice(0, 2)),
        )
