import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from dunno import read
from dunno.errors import DunnoWarning, InputError, OutputError
from dunno.simulate import colony
from dunno.truth.matching import TrackTable, match_truth


def test_one_seed_repeats_and_another_differs() -> None:
    first, again, other = colony(seed=1, frames=5), colony(seed=1, frames=5), colony(seed=2, frames=5)
    for t in range(5):
        np.testing.assert_array_equal(first.movie.masks(t), again.movie.masks(t))
        np.testing.assert_array_equal(first.movie.images(t), again.movie.images(t))
    assert (first.movie.masks(4) != other.movie.masks(4)).any()


@pytest.mark.parametrize("seed", range(3))
def test_the_truth_agrees_with_the_masks(seed: int) -> None:
    simulated = colony(cells=15, frames=60, seed=seed, cycle=12)
    truth = simulated.truth
    table = TrackTable(truth.track, truth.first, truth.last, truth.mother)
    matched = match_truth(simulated.movie, table, simulated.movie._masks)
    for t in range(60):
        np.testing.assert_array_equal(matched.tracks[t], truth.tracks[t])
    assert simulated.events["divisions"] > 10
    assert simulated.events["losses"] > 0
    assert simulated.events["appearances"] > 0


def test_daughters_of_a_division_come_in_pairs_the_frame_after_their_mother() -> None:
    truth = colony(cells=15, frames=60, cycle=12).truth
    for mother in np.unique(truth.mother[truth.mother > 0]):
        daughters = truth.first[truth.mother == mother]
        assert 1 <= len(daughters) <= 2  # one, where the other landed out of view
        assert (daughters == truth.last[truth.track == mother] + 1).all()


def test_a_long_movie_stays_bounded_by_its_field_of_view() -> None:
    simulated = colony(cells=10, frames=400, cycle=10)
    counts = [len(snapshot.track) for snapshot in simulated.movie._masks.snapshots]
    assert max(counts[200:]) < 1.5 * max(counts[50:200])
    assert max(counts) < 100


def test_free_cells_move_as_told() -> None:
    simulated = colony(cells=100, frames=60, motion=0.1, crowding=0.0, cycle=np.inf, enter=0)
    expected = 2 * (0.1 * 24) ** 2
    assert simulated.events["mean_squared_displacement"] == pytest.approx(expected, rel=0.05)


def test_heavy_tails_are_heavier() -> None:
    def share_of_long_steps(tail: float) -> float:
        simulated = colony(cells=100, frames=40, motion=0.05, crowding=0.0, cycle=np.inf, enter=0, tail=tail)
        snapshots = simulated.movie._masks.snapshots
        steps = []
        for earlier, later in itertools.pairwise(snapshots):
            _, before, now = np.intersect1d(earlier.track, later.track, return_indices=True)
            steps.append(np.linalg.norm(later.centre[now] - earlier.centre[before], axis=1))
        return float(np.mean(np.concatenate(steps) > 4 * 0.05 * 24))

    assert share_of_long_steps(np.inf) < 0.001
    assert share_of_long_steps(3.0) > 0.01


def test_a_saved_colony_is_a_sequence_with_truth_and_parameters(tmp_path: Path) -> None:
    simulated = colony(cells=6, frames=4, seed=5)
    simulated.save(tmp_path / "sim" / "01")
    with pytest.warns(UserWarning, match="markers"):
        movie, truth = read(tmp_path / "sim" / "01", truth=True)
    np.testing.assert_array_equal(movie.masks(3), simulated.movie.masks(3))
    np.testing.assert_array_equal(movie.images(3), simulated.movie.images(3))
    np.testing.assert_array_equal(truth.mother, simulated.truth.mother)
    about = json.loads((tmp_path / "sim" / "01_GT" / "simulation.json").read_text())
    assert about["parameters"]["seed"] == 5
    assert about["parameters"]["motion"] == 0.3
    with pytest.raises(OutputError, match="exists already"):
        simulated.save(tmp_path / "sim" / "01")


def test_a_volume_has_its_depth_and_its_truth(tmp_path: Path) -> None:
    made = colony(cells=12, frames=4, motion=0.2, cycle=6.0, depth=30, seed=1)
    assert made.movie.shape[0] == 30
    for t, seen in enumerate(made.truth.labels):
        cells = made.movie.detections(t)
        np.testing.assert_array_equal(cells.label, seen)
        assert cells.centroid.shape[1] == 3
    assert made.events["divisions"] > 0
    made.save(tmp_path / "01")
    with pytest.warns(DunnoWarning, match="masks are taken from"):
        movie = read(tmp_path / "01")
    np.testing.assert_array_equal(movie.masks(2), made.movie.masks(2))


@pytest.mark.parametrize("wrong", [{"cells": 0}, {"frames": 0}, {"motion": -1.0}, {"tail": 0.0}, {"motion": np.nan}])
def test_impossible_colonies_are_refused(wrong: dict) -> None:
    with pytest.raises(InputError, match=f"{next(iter(wrong))} is"):
        colony(**wrong)
