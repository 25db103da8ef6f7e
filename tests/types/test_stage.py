"""A stage that jumps is found; one that stands still is left alone."""

import numpy as np
import pytest

from dunno.types.stage import stage_jump


def places(rng: np.random.Generator, n: int, d: int = 2) -> np.ndarray:
    return rng.uniform(0, 400, (n, d))


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("n", [25, 300])
def test_a_jump_is_found_however_far(n: int, d: int) -> None:
    rng = np.random.default_rng(n + d)
    spacing = 400 / n ** (1 / d)
    mothers = places(rng, n, d)
    for length in (0.7, 1.5, 2.2):
        way = rng.standard_normal(d)
        jump = length * spacing * way / np.linalg.norm(way)
        daughters = mothers + jump + 0.04 * spacing * rng.standard_normal((n, d))
        inside = ((daughters > 0) & (daughters < 400)).all(axis=1)
        found = stage_jump(mothers, daughters[inside])
        if inside.mean() > 0.6:  # else too few of the cells are still in the picture
            assert found is not None
            assert np.linalg.norm(found - jump) < 0.05 * spacing


def test_no_jump_is_found_between_unrelated_frames() -> None:
    rng = np.random.default_rng(0)
    for n in (10, 30, 100, 300):
        for _ in range(15):
            assert stage_jump(places(rng, n), places(rng, n)) is None


def test_cells_that_move_on_their_own_have_no_jump() -> None:
    rng = np.random.default_rng(1)
    for motion in (2.0, 8.0, 15.0):
        mothers = places(rng, 200)
        assert stage_jump(mothers, mothers + motion * rng.standard_normal((200, 2))) is None


def test_few_cells_and_none_tell_nothing() -> None:
    few = np.arange(10.0).reshape(5, 2)
    assert stage_jump(few, few + 30) is None
    assert stage_jump(np.empty((0, 2)), few) is None
