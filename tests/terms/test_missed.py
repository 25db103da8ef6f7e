"""The law of missing masks."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from dunno import Tracker
from dunno.simulate import FaultShares, colony, spoil
from dunno.terms.missed import Missed
from dunno.types import Candidates, Detections
from dunno.types.field import Field
from dunno.types.stretch import Stretch, Transition


@pytest.mark.parametrize("dark", [{}, {1: 0.7}, {1: 0.6, 2: 1.0}])
@pytest.mark.parametrize("max_gap", [1, 2, 3])
def test_a_cell_is_seen_again_after_some_frames_or_lost(max_gap: int, dark: dict[int, float]) -> None:
    """One cell in many frames: from the first on, the links over all lags and the loss have a probability of 1."""
    place, box = np.zeros((1, 2)), np.zeros((1, 2, 2), np.int64)
    cells = [Detections(np.array([1]), place, np.array([9.0]), box, t) for t in range(12)]
    one = Candidates(np.array([0]), np.array([0]))
    stretch = Stretch.of([Transition(a, b, one, np.ones(1)) for a, b in pairwise(cells)])
    lag = np.arange(2, max_gap + 2)
    stretch = stretch.with_gaps(np.zeros(max_gap, np.int64), lag, lag)
    term = Missed(0.03, 0.4, max_gap=max_gap)
    unseen = np.zeros(12)
    unseen[list(dark)] = list(dark.values())
    stretch = replace(stretch, unseen=unseen if dark else None)
    first = stretch.mother == 0
    left = 1 - unseen[stretch.row_frame[stretch.daughter[first]]]  # that a blackout leaves the mask
    seen = (left * np.exp(term.log_single(stretch)[first])).sum()
    model = type("Box", (), {"field": Field((0.0, 0.0), (9.0, 9.0)), "value": None})()
    lost = term.lost(model, stretch)
    assert seen + lost[0] == pytest.approx(1.0, abs=1e-12)
    assert lost[-2] == pytest.approx(0.03)  # one frame is left, in which it may be missed


@pytest.mark.parametrize(("long", "low", "high"), [(False, 0.0, 0.2), (True, 0.3, 0.8)])
def test_masks_that_are_missing_for_long_are_known_by_it(long: bool, low: float, high: float) -> None:
    made = colony(cells=40, frames=40, motion=0.1, cycle=60.0, seed=1)
    movie = made.movie
    if long:
        movie = spoil(movie, made.truth, FaultShares(missed=0.05), seed=1).movie  # for 1 to 5 frames
    else:
        rng, frames = np.random.default_rng(1), [np.array(movie.masks(t)) for t in range(len(movie))]
        for masks, labels in zip(frames, made.truth.labels, strict=True):
            masks[np.isin(masks, labels[rng.random(len(labels)) < 0.03])] = 0
        movie = type(movie)(frames)
    parameters = Tracker(workers=1, evidence="places").track(movie).about["calibration"]["parameters"]
    assert low < parameters["stays_missed"] < high


def test_a_blackout_is_no_habit_of_the_masks() -> None:
    """In one frame of 24, six of ten masks are missing: that frame knows it, the others are as they were."""
    made, rng = colony(cells=50, frames=24, motion=0.3, cycle=60.0, seed=1), np.random.default_rng(1)
    frames = [np.array(made.movie.masks(t)) for t in range(24)]
    labels = made.truth.labels[10]
    frames[10][np.isin(frames[10], labels[rng.random(len(labels)) < 0.6])] = 0
    tracking = Tracker(workers=1, evidence="places").track(type(made.movie)(frames))
    fit = tracking.about["calibration"]
    (found,) = fit["summary"]["blackouts"]
    left = len(np.unique(frames[10])) - 1
    assert found[0] == 10 and found[1] == pytest.approx(1 - left / len(labels), abs=0.05)
    assert fit["parameters"]["p_missed"] < 0.002  # 0.03 where every frame is taken to be alike
    across = tracking.edges.gap[tracking.edges.selected]
    assert (across == 1).sum() > 0.9 * (len(labels) - left)
