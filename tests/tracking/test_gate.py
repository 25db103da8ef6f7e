import itertools

import numpy as np
import pytest

from dunno import Movie
from dunno.errors import InputError
from dunno.simulate import colony as simulate
from dunno.tracking.gate import estimate_gate, find_candidates
from dunno.tracking.tracker import Tracker


def test_the_gate_keeps_exactly_the_near_edges(colony: Movie) -> None:
    mothers, daughters = colony.detections(0), colony.detections(1)
    distance = np.linalg.norm(mothers.centroid[:, None] - daughters.centroid[None], axis=2)
    found = find_candidates(mothers, daughters, 5.0)
    daughter, mother = np.nonzero((distance <= 5.0).T)
    np.testing.assert_array_equal(found.mother, mother)
    np.testing.assert_array_equal(found.daughter, daughter)


def test_an_infinite_gate_keeps_every_edge(colony: Movie) -> None:
    found = find_candidates(colony.detections(0), colony.detections(1), np.inf)
    assert len(found) == 3 * 4
    assert found.daughter.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]


def test_an_empty_frame_has_no_candidates(colony: Movie) -> None:
    empty = Movie([np.zeros((3, 3), int)]).detections(0)
    assert len(find_candidates(empty, colony.detections(0), np.inf)) == 0
    assert len(find_candidates(colony.detections(0), empty, 5.0)) == 0


def test_the_estimated_gate_holds_nearly_every_true_displacement() -> None:
    simulated = simulate(cells=40, frames=12, motion=0.2, seed=3)
    snapshots = simulated.movie._masks.snapshots
    gate = estimate_gate(simulated.movie)
    steps = []
    for earlier, later in itertools.pairwise(snapshots):
        _, before, now = np.intersect1d(earlier.track, later.track, return_indices=True)
        steps.append(np.linalg.norm(later.centre[now] - earlier.centre[before], axis=1))
    assert np.mean(np.concatenate(steps) <= gate) > 0.999


def test_a_movie_of_empty_frames_has_its_diagonal_as_gate() -> None:
    assert estimate_gate(Movie(np.zeros((3, 30, 40), int))) == 50.0


def test_the_gate_scales_with_the_pixel_size() -> None:
    movie = simulate(cells=20, frames=4).movie
    scaled = Movie([movie.masks(t) for t in range(4)], scale=0.5)
    assert estimate_gate(scaled) == pytest.approx(0.5 * estimate_gate(movie))


@pytest.mark.parametrize("gate", [np.nan, -1.0, 0.0, "near"])
def test_a_gate_that_is_no_distance_is_refused(gate: float) -> None:
    with pytest.raises(InputError, match="max_distance is .*; expected a distance above zero, or inf"):
        Tracker(max_distance=gate)
