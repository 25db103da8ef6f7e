import numpy as np

from dunno import Movie, Tracker
from dunno.perturbations.gaussian import Gaussian
from dunno.simulate import colony as simulate

from .ambiguity import DaughterMoved, between_two_mothers, nearer_to_the_first


def test_a_daughter_halfway_between_two_mothers_has_even_odds_against_a_dearer_link() -> None:
    """Noise of variance γ on both ends adds 2γ to the mean of ½‖x − x'‖² in the plane."""
    tracker = Tracker(
        "distance",
        "FP",
        calibration=None,
        samples=20_000,
        perturbation=Gaussian(0.05),
        max_distance=10,
        appear_cost=8.0,
    )
    pair = tracker.track(between_two_mothers()).pairs[0]
    np.testing.assert_allclose(pair.cost, [8.1, 8.1], atol=0.05)  # five standard deviations
    link = np.exp(-0.1)
    expected = np.array([link, link, 1.0]) / (2 * link + 1)
    np.testing.assert_allclose([*pair.probability, *np.exp(pair.log_no_mother)], expected, atol=0.02)


def test_it_is_the_softmax_of_the_mean_cost_and_links_by_it() -> None:
    moved = DaughterMoved((0, 5))  # one pixel from mother 1, then on mother 2: mean costs ½(½ + 18) and ½(12½ + 0)
    tracker = Tracker(
        "distance", "FP", calibration=None, samples=2, perturbation=moved, max_distance=10, no_mother=False
    )
    pair = tracker.track(nearer_to_the_first()).pairs[0]
    np.testing.assert_allclose(pair.cost, [9.25, 6.25])
    np.testing.assert_allclose(pair.probability, [1 / (1 + np.exp(3)), 1 / (1 + np.exp(-3))])
    assert pair.selected.tolist() == [False, True]  # the MAP of the mean cost, though mother 1 is nearer


def test_without_noise_it_is_the_softmax() -> None:
    movie = simulate(cells=20, frames=4, motion=0.4).movie
    plain = Tracker("distance", "SM", calibration=None).track(movie).pairs
    quiet = Tracker("distance", "FP", calibration=None, perturbation=Gaussian(0.0)).track(movie).pairs
    for one, other in zip(plain, quiet, strict=True):
        np.testing.assert_allclose(one.log_probability, other.log_probability, atol=1e-9)
        np.testing.assert_array_equal(one.selected, other.selected)


def test_an_overlap_that_is_absent_from_a_draw_counts_zero_in_the_mean() -> None:
    masks = np.zeros((2, 3, 9), int)
    masks[0, 1, 2:5], masks[1, 1, 3:6] = 1, 1  # two pixels in common, none after a move by two
    tracker = Tracker(
        "overlap", "FP", calibration=None, samples=4, perturbation=DaughterMoved((0, 0, 0, 2)), max_distance=5
    )
    pair = tracker.track(Movie(masks)).pairs[0]
    assert pair.cost.tolist() == [-6 / 4]
    np.testing.assert_allclose(pair.probability, [1 / (1 + np.exp(-1.5))])
    assert pair.selected.tolist() == [True]
