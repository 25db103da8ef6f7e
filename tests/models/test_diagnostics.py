"""What speaks against a fitted model is said."""

from dataclasses import replace

import numpy as np

from benchmarks.coverage import TRUE
from benchmarks.draws import draw_transition
from dunno.models.diagnostics import common_drift, displacement_misfit, find_problems
from dunno.models.expectation import expect
from dunno.types.stretch import Stretch


def stretch(seed: int = 0) -> Stretch:
    rng = np.random.default_rng(seed)
    return Stretch.of([draw_transition(TRUE, 100, 120.0, rng, 2 * t) for t in range(8)])


def test_the_model_that_made_the_movie_is_not_accused() -> None:
    expected = expect(TRUE, stretch())
    misfit, links = displacement_misfit(expected)
    assert misfit < 0.1 and links > 200
    assert common_drift(expected) < 0.5
    assert find_problems(expected) == []


def test_displacements_of_another_distribution_are_told() -> None:
    expected = expect(TRUE.with_values({"motion_scale": 6 * TRUE.value("motion_scale")}), stretch())
    assert displacement_misfit(expected)[0] > 0.3
    assert any("displacements do not follow the fitted distribution" in each for each in find_problems(expected))


def test_cells_that_all_move_together_are_told() -> None:
    own = stretch()
    width = np.sqrt(TRUE.value("motion_scale"))
    expected = expect(TRUE, own)
    moved = replace(expected, stretch=own.carried(np.tile([-2.0 * width, 0.0], (own.n_rows, 1))))
    assert common_drift(moved) > 1.5
    assert any("all cells move together by" in each for each in find_problems(moved))
