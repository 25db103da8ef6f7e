import numpy as np
import pytest

from dunno import Movie, Tracker
from dunno.assignment import marginals, solve
from dunno.assignment.problem import Problem
from dunno.simulate import colony as simulate

from .test_softmax import between_two_mothers

PLAIN = {"calibration": None}


def test_a_daughter_between_two_mothers_has_the_posteriors_odds() -> None:
    settings = {"max_distance": 10, "appear_cost": 2.0, "disappear_cost": 3.0, "divide_cost": 0.0}
    pair = Tracker("distance", "JP", calibration=None, **settings).track(between_two_mothers()).pairs[0]
    # three assignments: either edge (cost 8, the other mother disappears: 3), or all events (2 + 3 + 3)
    link, none = np.exp(-11.0), np.exp(-8.0)
    np.testing.assert_allclose(pair.probability, [link / (2 * link + none)] * 2)
    np.testing.assert_allclose(np.exp(pair.log_no_mother), [none / (2 * link + none)])
    np.testing.assert_allclose(np.exp(pair.log_disappear), [(link + none) / (2 * link + none)] * 2)
    np.testing.assert_allclose(np.exp(pair.log_divide), [0.0, 0.0], atol=1e-12)
    assert not pair.selected.any()


def test_daughters_compete_for_mothers_where_softmax_does_not() -> None:
    masks = np.zeros((2, 5, 30), int)
    masks[0, 2, 5], masks[0, 2, 12] = 1, 2
    masks[1, 2, [4, 6, 7]] = [1, 2, 3]
    settings = {"max_distance": 15, "disappear_cost": 10.0, "appear_cost": 100.0, "divide_cost": 30.0}
    softmax, joint = (
        Tracker("distance", m, calibration=None, **settings).track(Movie(masks)).pairs[0] for m in ("SM", "JP")
    )
    third_to_second = (softmax.daughter == 2) & (softmax.mother == 1)
    assert softmax.probability[third_to_second] < 1e-3
    assert joint.probability[third_to_second] > 0.9


def test_the_links_are_the_most_expected_correct_decisions() -> None:
    movie = simulate(cells=20, frames=4, motion=0.5).movie
    for pair in Tracker("distance", "JP", max_distance=60, **PLAIN).track(movie).pairs:
        sizes = (len(pair.mothers), len(pair.daughters))
        best = solve(
            Problem(pair.mother, pair.daughter, -pair.probability, *sizes, -np.exp(pair.log_no_mother), 0.0, 0.0)
        )
        right = np.exp(pair.log_no_mother).copy()
        right[pair.daughter[pair.selected]] = pair.probability[pair.selected]
        assert right.sum() == pytest.approx(-best.cost)


def test_probabilities_are_the_marginals_of_the_problem() -> None:
    movie = simulate(cells=12, frames=3, motion=0.5).movie
    settings = {"max_distance": 50, "appear_cost": 20.0, "disappear_cost": 20.0, "divide_cost": 5.0}
    for pair in Tracker("distance", "JP", calibration=None, **settings).track(movie).pairs:
        sizes = (len(pair.mothers), len(pair.daughters))
        found = marginals(Problem(pair.mother, pair.daughter, pair.cost, *sizes, 20.0, 20.0, 5.0))
        np.testing.assert_allclose(pair.probability, found.edge, atol=1e-12)
        np.testing.assert_allclose(np.exp(pair.log_divide), found.divide, atol=1e-12)
