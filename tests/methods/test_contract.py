"""What holds for every cost with every method; a new file in either room is tested on arrival."""

from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from dunno import Movie, Tracker, rooms
from dunno.simulate import colony as simulate
from dunno.tracking import Tracking
from dunno.types import PairPosterior
from tests.transformer.tiny import tiny_model

PAIRS = [(cost, method) for cost in rooms.members("costs") for method in rooms.members("methods")]


@pytest.fixture(scope="module")
def movie() -> Movie:
    """A colony with an empty frame at its end."""
    simulated = simulate(cells=15, frames=6, motion=0.3, seed=4).movie
    masks = [simulated.masks(t) for t in range(6)]
    images = [simulated.images(t) for t in range(6)]
    return Movie([*masks, np.zeros_like(masks[0])], [*images, np.zeros_like(images[0])])


@pytest.fixture(scope="module", autouse=True)
def published(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A tiny transformer where the published one would be, so that the cost is as it is by default."""
    folder = tmp_path_factory.mktemp("data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(folder))
        if all(find_spec(package) for package in ("torch", "trackastra")):
            tiny_model(folder / "trackastra" / "models" / "general_2d")
        yield


def track(movie: Movie, cost: str, method: str, **settings: Any) -> Tracking:
    if cost == "transformer":
        pytest.importorskip("trackastra", reason="needs the extra `transformer`")
    return Tracker(cost, method, calibration=None, **settings).track(movie)


def precision(cost: str, otherwise: float) -> float:
    """How well a result can be repeated with the cells in another order."""
    return max(getattr(rooms.members("costs")[cost], "tolerance", 0.0), otherwise)


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


NAMES = np.concatenate([[0], np.random.default_rng(0).permutation(np.arange(1, 500))])


@pytest.fixture(scope="module")
def renamed(movie: Movie) -> Movie:
    """The same cells under other labels, hence in another order."""
    images = [movie.images(t) for t in range(len(movie))]
    return Movie([NAMES[movie.masks(t)] for t in range(len(movie))], images)


def by_name(pair: PairPosterior, names: np.ndarray) -> dict[tuple[int, int], float]:
    """Each edge's probability by its cells' names, and P(⊥) by mother 0."""
    mothers, daughters = names[pair.mothers.label], names[pair.daughters.label]
    edges = zip(mothers[pair.mother], daughters[pair.daughter], pair.probability, strict=True)
    none = {(0, j): p for j, p in zip(daughters, np.exp(pair.log_no_mother), strict=True)}
    return none | {(i, j): p for i, j, p in edges}


def assert_only_renamed(before: Tracking, after: Tracking, tolerance: float) -> None:
    for one, other in zip(before.pairs, after.pairs, strict=True):
        expected, found = by_name(one, NAMES), by_name(other, np.arange(500))
        assert expected.keys() == found.keys()
        assert all(expected[edge] == pytest.approx(found[edge], abs=tolerance) for edge in expected)


def says(method: str, what: str) -> bool:
    return bool(getattr(rooms.members("methods")[method], what, False))


@pytest.mark.parametrize(("cost", "method"), [each for each in PAIRS if not says(each[1], "is_random")])
def test_labels_are_only_names(movie: Movie, renamed: Movie, cost: str, method: str) -> None:
    """Renaming the cells renames the result and changes nothing else."""
    tolerance = precision(cost, getattr(rooms.members("methods")[method], "tolerance", 1e-9))
    assert_only_renamed(track(movie, cost, method), track(renamed, cost, method), tolerance)


@pytest.mark.parametrize(("cost", "method"), [each for each in PAIRS if says(each[1], "perturbs")])
def test_labels_are_only_names_for_perturbing_methods_without_noise(
    movie: Movie, renamed: Movie, cost: str, method: str
) -> None:
    natural = rooms.members("costs")[cost].perturbation
    strength = next(name for name in ("variance", "amplitude", "rate") if hasattr(natural, name))
    quiet = replace(natural, **{strength: 0})
    before, after = (track(each, cost, method, samples=1, perturbation=quiet) for each in (movie, renamed))
    assert_only_renamed(before, after, precision(cost, 1e-9))


@pytest.mark.parametrize("cost", rooms.members("costs"))
@pytest.mark.parametrize("method", ["FP+A", "MC"])
def test_labels_are_only_names_for_the_frequencies_of_many_draws(
    movie: Movie, renamed: Movie, cost: str, method: str
) -> None:
    """Other labels draw other random numbers from the same distribution; its standard error is below 0.04."""
    one, other = (Movie([each.masks(t) for t in (0, 1)], [each.images(t) for t in (0, 1)]) for each in (movie, renamed))
    before, after = (track(each, cost, method, samples=400) for each in (one, other))
    assert_only_renamed(before, after, 0.18)
