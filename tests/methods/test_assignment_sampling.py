import numpy as np
import pytest

from dunno import Tracker
from dunno.assignment import Problem
from dunno.costs.distance import Distance
from dunno.types import PairPosterior

from ..assignment.brute_force import enumerate_assignments
from .ambiguity import between_two_mothers, crowd

EVENTS = {"appear_cost": 0.5, "disappear_cost": 0.6, "divide_cost": 0.3}


def track_crowd(samples: int, **settings: bool) -> PairPosterior:
    tracker = Tracker(
        Distance(0.004), "AS", calibration=None, samples=samples, max_distance=np.inf, **EVENTS, **settings
    )
    return tracker.track(crowd()).pairs[0]


def best(pair: PairPosterior, k: int | None) -> tuple[np.ndarray, np.ndarray]:
    """(E,) and (n,) the edges' and ⊥'s probabilities over the k cheapest assignments, by brute force."""
    problem = Problem(pair.mother, pair.daughter, pair.cost, 3, 4, *EVENTS.values())
    every = enumerate_assignments(problem)
    cost, edge = every.cost, every.edge
    weight = np.exp(-cost[:k]) / np.exp(-cost[:k]).sum()
    chosen = [(weight[:, None] * (edge[:k] == e)).sum() for e in range(len(pair.cost))]
    return np.array(chosen), (weight[:, None] * (edge[:k] < 0)).sum(axis=0)


@pytest.mark.parametrize("k", [1, 2, 7, 48])
def test_the_k_best_assignments_are_weighted_by_their_likelihoods(k: int) -> None:
    pair = track_crowd(k)
    edges, none = best(pair, k)
    np.testing.assert_allclose(pair.probability, edges, atol=1e-12)
    np.testing.assert_allclose(np.exp(pair.log_no_mother), none, atol=1e-12)


def test_with_all_assignments_it_is_the_posterior() -> None:
    pair = track_crowd(10_000)
    edges, none = best(pair, None)
    np.testing.assert_allclose(pair.probability, edges, atol=1e-12)
    np.testing.assert_allclose(np.exp(pair.log_no_mother), none, atol=1e-12)
    assert (edges > 0.01).all()  # so that every assignment had a say


def test_without_the_no_mother_class_only_mothers_share() -> None:
    edges, none = best(track_crowd(10_000), None)
    pair = track_crowd(10_000, no_mother=False)
    np.testing.assert_allclose(pair.probability, edges / (1 - none)[pair.daughter], atol=1e-12)


EVEN = [1 / (2 + np.exp(-1))] * 2 + [np.exp(-1) / (2 + np.exp(-1))]


@pytest.mark.parametrize(("samples", "expected"), [(1, [1, 0, 0]), (2, [1 / 2, 1 / 2, 0]), (3, EVEN), (9, EVEN)])
def test_a_daughter_halfway_between_two_mothers(samples: int, expected: list[float]) -> None:
    """The assignments cost 12, 12 and 13."""
    tracker = Tracker(
        "distance", "AS", calibration=None, samples=samples, max_distance=10, appear_cost=5.0, disappear_cost=4.0
    )
    pair = tracker.track(between_two_mothers()).pairs[0]
    np.testing.assert_allclose(np.sort(pair.probability)[::-1], expected[:2], atol=1e-12)
    np.testing.assert_allclose(np.exp(pair.log_no_mother), expected[2:], atol=1e-12)
    assert pair.selected.sum() == 1


def test_a_daughter_that_no_assignment_links_has_no_mother_or_no_distribution() -> None:
    for no_mother, expected, entropy in ((True, 0.0, 0.0), (False, -np.inf, np.nan)):
        tracker = Tracker(
            "distance",
            "AS",
            calibration=None,
            samples=1,
            max_distance=10,
            appear_cost=-9.0,
            disappear_cost=0.0,
            no_mother=no_mother,
        )
        pair = tracker.track(between_two_mothers()).pairs[0]
        assert not pair.selected.any()
        assert pair.probability.tolist() == [0.0, 0.0]
        np.testing.assert_array_equal(pair.log_no_mother, [expected])
        np.testing.assert_array_equal(pair.entropy, [entropy])
