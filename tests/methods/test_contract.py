"""What holds for every cost with every method; a new file in either room is tested on arrival."""

import numpy as np
import pytest

from dunno import Movie, Tracker, rooms
from dunno.simulate import colony as simulate
from dunno.tracking import Tracking

PAIRS = [(cost, method) for cost in rooms.members("costs") for method in rooms.members("methods")]


@pytest.fixture(scope="module")
def movie() -> Movie:
    """A colony with an empty frame at its end."""
    simulated = simulate(cells=15, frames=6, motion=0.3, seed=4).movie
    masks = [simulated.masks(t) for t in range(6)]
    images = [simulated.images(t) for t in range(6)]
    return Movie([*masks, np.zeros_like(masks[0])], [*images, np.zeros_like(images[0])])


def track(movie: Movie, cost: str, method: str, **settings: int) -> Tracking:
    return Tracker(cost, method, **settings).track(movie)


@pytest.mark.parametrize(("cost", "method"), PAIRS)
def test_probabilities_are_finite_aligned_and_sum_to_one(movie: Movie, cost: str, method: str) -> None:
    for pair in track(movie, cost, method).pairs:
        n, edges = len(pair.daughters), len(pair.mother)
        assert pair.cost.shape == pair.log_probability.shape == pair.selected.shape == (edges,)
        assert pair.log_no_mother.shape == pair.entropy.shape == (n,)
        assert not np.isnan(pair.log_probability).any()
        assert np.isfinite(pair.entropy).all()
        assert (pair.entropy >= -1e-12).all()
        total = np.bincount(pair.daughter, pair.probability, minlength=n) + np.exp(pair.log_no_mother)
        np.testing.assert_allclose(total, 1.0, atol=1e-9)


@pytest.mark.parametrize(("cost", "method"), PAIRS)
def test_links_are_an_assignment(movie: Movie, cost: str, method: str) -> None:
    for pair in track(movie, cost, method).pairs:
        assert np.bincount(pair.daughter[pair.selected], minlength=1).max(initial=0) <= 1
        assert np.bincount(pair.mother[pair.selected], minlength=1).max(initial=0) <= 2


@pytest.mark.parametrize(("cost", "method"), PAIRS)
def test_one_seed_repeats_with_one_and_many_workers(movie: Movie, cost: str, method: str) -> None:
    alone, together = track(movie, cost, method, workers=1, seed=3), track(movie, cost, method, workers=4, seed=3)
    for one, other in zip(alone.pairs, together.pairs, strict=True):
        np.testing.assert_array_equal(one.log_probability, other.log_probability)
        np.testing.assert_array_equal(one.selected, other.selected)


@pytest.mark.parametrize(("cost", "method"), PAIRS)
def test_labels_are_only_names(movie: Movie, cost: str, method: str) -> None:
    """Renaming the cells renames the result and changes nothing else, up to the methods' random draws."""
    if getattr(rooms.members("methods")[method], "is_random", False):
        pytest.skip(f"{method} draws other random numbers for other orders")
    names = np.random.default_rng(0).permutation(np.arange(1, 500))
    names = np.concatenate([[0], names])
    images = [movie.images(t) for t in range(len(movie))]
    renamed = Movie([names[movie.masks(t)] for t in range(len(movie))], images)
    for one, other in zip(track(movie, cost, method).pairs, track(renamed, cost, method).pairs, strict=True):
        before = {
            (names[one.mothers.label[i]], names[one.daughters.label[j]]): p
            for i, j, p in zip(one.mother, one.daughter, one.probability, strict=True)
        }
        after = {
            (other.mothers.label[i], other.daughters.label[j]): p
            for i, j, p in zip(other.mother, other.daughter, other.probability, strict=True)
        }
        assert before.keys() == after.keys()
        tolerance = getattr(rooms.members("methods")[method], "tolerance", 1e-9)
        assert all(before[edge] == pytest.approx(after[edge], abs=tolerance) for edge in before)
