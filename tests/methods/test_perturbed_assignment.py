import numpy as np
import pytest

from dunno import Movie, Tracker
from dunno.perturbations.gaussian import Gaussian
from dunno.simulate import colony as simulate

from .ambiguity import DaughterMoved, between_two_mothers, nearer_to_the_first


def test_a_daughter_halfway_between_two_mothers_goes_to_either_in_half_of_the_draws() -> None:
    pair = (
        Tracker("distance", "FP+A", calibration=None, samples=4000, max_distance=10)
        .track(between_two_mothers())
        .pairs[0]
    )
    np.testing.assert_allclose(pair.probability, [0.5, 0.5], atol=0.04)  # five standard deviations
    assert pair.log_no_mother.tolist() == [-np.inf]
    assert pair.selected.sum() == 1


def test_probabilities_are_shares_of_the_draws() -> None:
    moved = DaughterMoved((0, 0, 3, 0, 5))  # at 3, 3, 6, 3 and 8: three draws end at mother 1, two at mother 2
    tracker = Tracker("distance", "FP+A", calibration=None, samples=5, perturbation=moved, max_distance=10)
    pair = tracker.track(nearer_to_the_first()).pairs[0]
    np.testing.assert_allclose(pair.probability, [3 / 5, 2 / 5])
    np.testing.assert_allclose(pair.entropy, [-(0.6 * np.log(0.6) + 0.4 * np.log(0.4))])
    np.testing.assert_array_equal(pair.cost, [0.5, 12.5])  # of the real features, not of the draws


@pytest.mark.parametrize("cost", ["distance", "embedding"])
def test_without_noise_it_is_the_map(cost: str) -> None:
    movie = simulate(cells=25, frames=5, motion=0.5, cycle=5).movie
    for variance in (0.0, 1e-12):
        for pair in Tracker(cost, "FP+A", calibration=None, perturbation=Gaussian(variance)).track(movie).pairs:
            np.testing.assert_array_equal(pair.probability, pair.selected)
            linked = np.bincount(pair.daughter, pair.selected, minlength=len(pair.daughters))
            np.testing.assert_array_equal(np.exp(pair.log_no_mother), 1 - linked)
            np.testing.assert_array_equal(pair.entropy, np.zeros(len(pair.daughters)))


def test_a_link_that_no_draw_contains_keeps_confidence_zero() -> None:
    tracker = Tracker(
        "distance", "FP+A", calibration=None, samples=3, perturbation=DaughterMoved((5,)), max_distance=10
    )
    pair = tracker.track(nearer_to_the_first()).pairs[0]
    assert pair.selected.tolist() == [True, False]
    assert pair.probability.tolist() == [0.0, 1.0]


def overlapping() -> Movie:
    """A daughter that shares two pixels with its mother, and none once it has moved by two."""
    masks = np.zeros((2, 3, 9), int)
    masks[0, 1, 2:5], masks[1, 1, 3:6] = 1, 1
    return Movie(masks)


def test_an_overlap_that_is_absent_from_a_draw_cannot_be_a_link_there() -> None:
    tracker = Tracker(
        "overlap", "FP+A", calibration=None, samples=4, perturbation=DaughterMoved((0, 0, 0, 2)), max_distance=5
    )
    pair = tracker.track(overlapping()).pairs[0]
    np.testing.assert_allclose(pair.probability, [3 / 4])
    np.testing.assert_allclose(np.exp(pair.log_no_mother), [1 / 4])


def test_a_daughter_that_no_draw_links_has_no_mother_or_no_distribution() -> None:
    for no_mother, expected, entropy in ((True, 0.0, 0.0), (False, -np.inf, np.nan)):
        tracker = Tracker(
            "overlap", "FP+A", calibration=None, perturbation=DaughterMoved((3,)), max_distance=5, no_mother=no_mother
        )
        pair = tracker.track(overlapping()).pairs[0]
        assert pair.probability.tolist() == [0.0]
        assert pair.selected.tolist() == [True]
        np.testing.assert_array_equal(pair.log_no_mother, [expected])
        np.testing.assert_array_equal(pair.entropy, [entropy])
