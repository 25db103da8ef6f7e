"""What a stretch knows of its cells' surroundings."""

import numpy as np
import pytest

from benchmarks.draws import transition_between
from dunno.types.density import student_below, student_overlap
from dunno.types.stretch import Stretch


def test_neighbours_are_the_nearest_others_of_the_same_frame() -> None:
    rng = np.random.default_rng(0)
    frames = [rng.uniform(0, 100, (n, 2)) for n in (30, 3, 1)]
    stretch = Stretch.of(
        [transition_between(frames[0], frames[1], 50.0, 0), transition_between(frames[1], frames[2], 50.0, 1)]
    )
    k = 5
    neighbours = stretch.neighbours(k)
    for row in range(stretch.n_rows):
        others = np.flatnonzero((stretch.row_frame == stretch.row_frame[row]) & (np.arange(stretch.n_rows) != row))
        apart = np.linalg.norm(stretch.place[others] - stretch.place[row], axis=1)
        nearest = others[np.argsort(apart)][:k]
        assert neighbours[row].tolist() == [*nearest.tolist(), *[row] * (k - len(nearest))]


@pytest.mark.parametrize("tail", [2.0, 5.0, np.inf])
@pytest.mark.parametrize("length", [0.3, 2.0, 60.0])
def test_the_share_that_stays_on_a_line_is_the_mean_over_its_places(tail: float, length: float) -> None:
    place = (np.arange(20_000) + 0.5) / 20_000 * length
    stays = student_below(tail, length - place) - student_below(tail, -place)
    assert student_overlap(tail, np.array([length]))[0] == pytest.approx(stays.mean(), abs=1e-8)
