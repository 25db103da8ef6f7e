"""In volumes, motion along each axis is fitted; in planes it is not asked for."""

import numpy as np
import pytest

from benchmarks.draws import transition_between
from dunno.models import Fit, find_fit, refit
from dunno.models.model import Model
from dunno.terms.axes import Axes
from dunno.types.field import Field
from dunno.types.records import from_json, to_json
from dunno.types.stretch import Stretch

SIDE = 120.0


def fitted(motion: tuple[float, ...], seed: int = 0) -> tuple[Fit, Stretch]:
    rng = np.random.default_rng(seed)
    d, n = len(motion), 150
    place, parts = rng.uniform(0, SIDE, (n, d)), []
    for t in range(4):
        moved = place + np.array(motion) * rng.standard_normal((n, d))
        parts.append(transition_between(place, moved, 20.0, 2 * t))
        place = np.clip(moved, 0, SIDE)
    stretch = Stretch.of(parts)
    return find_fit(stretch, Field((0.0,) * d, (SIDE,) * d), 8.0), stretch


def widths(model: Model) -> np.ndarray:
    return np.sqrt(float(np.mean(model.value("motion_scale"))) * np.array(model.term("axes").ratios))


def test_motion_of_3_1_1_comes_back() -> None:
    fit, stretch = fitted((3.0, 1.0, 1.0))
    np.testing.assert_allclose(widths(fit.model), [3.0, 1.0, 1.0], rtol=0.12)
    again = refit(fit, stretch, 8.0, 1)  # as over skipped frames
    np.testing.assert_allclose(widths(again.model), [3.0, 1.0, 1.0], rtol=0.12)
    assert from_json(Model, to_json(fit.model), "model") == fit.model


@pytest.mark.parametrize("motion", [(2.0, 2.0, 2.0), (3.0, 1.0)])
def test_axes_that_are_alike_and_planes_have_one_scale(motion: tuple[float, ...]) -> None:
    assert "axes" not in [term.name for term in fitted(motion)[0].model.terms]


def test_displacements_count_in_units_of_each_axis() -> None:
    stretch = Stretch.of([transition_between(np.zeros((1, 3)), np.array([[4.0, 1.0, 0.0]]), 20.0)])
    assert stretch.squared[0] == pytest.approx(17.0)
    seen = Axes((4.0, 0.5, 0.5)).measured(stretch)
    assert seen.squared[0] == pytest.approx(16 / 4 + 1 / 0.5)
    assert Axes().measured(stretch).squared[0] == pytest.approx(17.0)
