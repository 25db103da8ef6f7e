import numpy as np

from dunno import Tracker
from dunno.assignment import Problem, marginals
from dunno.costs.distance import Distance

from .ambiguity import between_two_mothers, crowd


def test_a_daughter_halfway_between_two_mothers_gets_each_option_as_often_as_it_is_likely() -> None:
    """The assignments cost 12, 12 and 13."""
    tracker = Tracker(
        "distance", "MC", calibration=None, samples=20_000, max_distance=10, appear_cost=5.0, disappear_cost=4.0
    )
    pair = tracker.track(between_two_mothers()).pairs[0]
    link, none = np.array([1, np.exp(-1)]) / (2 + np.exp(-1))
    np.testing.assert_allclose(pair.probability, [link, link], atol=0.02)  # six standard deviations
    np.testing.assert_allclose(np.exp(pair.log_no_mother), [none], atol=0.02)


def test_it_converges_to_the_marginals_where_daughters_compete() -> None:
    tracker = Tracker(
        Distance(0.004),
        "MC",
        calibration=None,
        samples=20_000,
        max_distance=np.inf,
        appear_cost=0.5,
        disappear_cost=0.6,
        divide_cost=0.3,
    )
    pair = tracker.track(crowd()).pairs[0]
    exact = marginals(Problem(pair.mother, pair.daughter, pair.cost, 3, 4, 0.5, 0.6, 0.3), method="exact")
    np.testing.assert_allclose(pair.probability, exact.edge, atol=0.02)
    np.testing.assert_allclose(np.exp(pair.log_no_mother), exact.appear, atol=0.02)
    softmax = np.exp(-pair.cost) / np.bincount(pair.daughter, np.exp(-pair.cost))[pair.daughter]
    assert np.abs(pair.probability - softmax).max() > 0.1  # it is no softmax


def test_probabilities_are_shares_of_k_samples() -> None:
    tracker = Tracker(
        "distance", "MC", calibration=None, samples=7, max_distance=10, appear_cost=5.0, disappear_cost=4.0
    )
    pair = tracker.track(between_two_mothers()).pairs[0]
    shares = 7 * np.array([*pair.probability, *np.exp(pair.log_no_mother)])
    np.testing.assert_allclose(shares, np.round(shares), atol=1e-9)
    assert pair.selected.sum() == 1


def test_a_link_that_no_sample_contains_keeps_confidence_zero() -> None:
    settings = {"max_distance": 10, "appear_cost": 5.0, "disappear_cost": 4.0}
    trackers = [Tracker("distance", "MC", calibration=None, samples=1, seed=seed, **settings) for seed in range(30)]
    confidence = [pair.probability[pair.selected] for t in trackers for pair in t.track(between_two_mothers()).pairs]
    assert {tuple(each) for each in confidence} == {(0.0,), (1.0,)}


def test_a_daughter_that_no_sample_links_has_no_mother_or_no_distribution() -> None:
    for no_mother, expected, entropy in ((True, 0.0, 0.0), (False, -np.inf, np.nan)):
        tracker = Tracker(
            "distance",
            "MC",
            calibration=None,
            max_distance=10,
            appear_cost=-60.0,
            disappear_cost=0.0,
            no_mother=no_mother,
        )
        pair = tracker.track(between_two_mothers()).pairs[0]
        np.testing.assert_array_equal(pair.log_no_mother, [expected])
        np.testing.assert_array_equal(pair.entropy, [entropy])
