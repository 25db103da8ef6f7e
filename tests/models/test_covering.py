"""Masks that cover each other are told from masks of cells side by side."""

from dataclasses import replace

import numpy as np
import pytest

from dunno.calibration.verdict import SkipTest, judge
from dunno.models.diagnostics import covering
from dunno.models.expectation import Expected, expect
from dunno.models.model import start_model
from dunno.types import Candidates, Detections
from dunno.types.field import Field
from dunno.types.stretch import Stretch, Transition

TEST = SkipTest(2, 10_000, 10_000, 20.0, 20.0, 2.0, 0.05, divisions=100.0, divisions_between=100.0)


def expected(lost_where_touching: float, n: int = 200) -> Expected:
    """Cells far apart that stay where they are, whose masks lose some of their size where they touch."""
    rng = np.random.default_rng(0)
    place = 50.0 * np.stack(np.divmod(np.arange(n), 20), axis=1).astype(float)
    frames = []
    for t in range(2):
        touching = rng.uniform(0, 0.5, n)
        area = np.exp(4 - lost_where_touching * touching + 0.1 * rng.standard_normal(n))
        cells = Detections(np.arange(1, n + 1), place, area, np.zeros((n, 2, 2), np.int64), t)
        frames.append(replace(cells, touching=touching))
    own = np.arange(n)
    stretch = Stretch.of([Transition(frames[0], frames[1], Candidates(own, own), np.ones(n))])
    return expect(start_model(stretch, Field((0.0, 0.0), (600.0, 1000.0)), 8.0), stretch)


def test_sizes_that_fall_where_masks_touch_say_that_masks_cover_each_other() -> None:
    assert covering(expected(1.0)) > 0.3
    assert covering(expected(0.0)) < 0.05
    assert covering(expected(-1.0)) == 0.0  # cells that have grown touch more


def test_few_masks_that_touch_tell_nothing() -> None:
    assert covering(expected(1.0, n=30)) == 0.0


@pytest.mark.parametrize(("share", "word"), [(0.05, "supported"), (0.3, "untested")])
def test_masks_that_cover_each_other_are_not_called_supported(share: float, word: str) -> None:
    verdict = judge(TEST, covering=share)
    assert verdict.word == word
    assert ("cover each other" in verdict.reason) == (word == "untested")
