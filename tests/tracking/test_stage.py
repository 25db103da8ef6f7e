"""Where the stage jumped, everything counts from there: gate, motion, border, gaps and skipped frames."""

from dataclasses import replace

import numpy as np
import pytest

from dunno import Movie, Tracker, evaluation
from dunno.calibration import ModelCalibration
from dunno.simulate import colony
from dunno.terms.border import Border, _stays
from dunno.tracking.gate import find_candidates
from dunno.types import Detections, Truth
from dunno.types.field import Field
from dunno.types.stretch import Stretch, Transition

JUMP = (0, 40)
AT = (5, 9)


def jumping(seed: int) -> tuple[Movie, Movie, Truth]:
    """A colony in a wide field, and the same with a stage that jumps there and back."""
    made = colony(cells=50, frames=14, motion=0.08, room=4.0, seed=seed)
    masks = [np.asarray(made.movie.masks(t)) for t in range(14)]
    wide = [np.pad(each, 60) for each in masks]
    moved = [np.roll(each, JUMP, (0, 1)) if AT[0] <= t < AT[1] else each for t, each in enumerate(wide)]
    return Movie(wide), Movie(moved), replace(made.truth, markers=None)  # which lie in the narrower frames


def test_a_stage_that_jumps_costs_nothing() -> None:
    still, moved, truth = jumping(seed=2)
    tracker = Tracker(workers=1, evidence="places")
    expected, found = tracker.track(still), tracker.track(moved)
    scores = [evaluation.score(each, truth).daughter_accuracy for each in (expected, found)]
    assert scores[1] > scores[0] - 0.01
    assert scores[0] > 0.95
    assert found.about["max_distance"] == pytest.approx(expected.about["max_distance"], rel=0.2)
    assert expected.about["calibration"]["summary"]["stage_jumps"] == []
    jumps = found.about["calibration"]["summary"]["stage_jumps"]
    assert [row[0] for row in jumps] == [AT[0] - 1, AT[1] - 1]
    np.testing.assert_allclose([row[1:] for row in jumps], [JUMP, np.negative(JUMP)], atol=2.0)


def test_skipped_frames_add_up_the_jumps_between() -> None:
    _, moved, _ = jumping(seed=2)
    plan = Tracker(workers=1, evidence="places").plan(moved)
    assert isinstance(plan.calibration, ModelCalibration)
    test = plan.calibration.skipping[0]
    assert test.composed < 0.05 * test.links
    assert 1.2 < test.growth < 3.5


def points(places: list[tuple[float, float]], t: int) -> Detections:
    n = len(places)
    return Detections(np.arange(1, n + 1), np.array(places), np.ones(n), np.zeros((n, 2, 2), np.int64), t)


def test_candidates_and_steps_count_from_the_jump_across_gaps_too() -> None:
    frames = [points([(10.0, 10.0)], 0), points([(10.0, 40.0)], 1), points([(11.0, 60.0)], 2)]
    jumps = [np.array([0.0, 30.0]), np.array([0.0, 20.0])]
    parts = []
    for t, jump in enumerate(jumps):
        assert len(find_candidates(frames[t], frames[t + 1], 5.0)) == 0
        candidates = find_candidates(frames[t], frames[t + 1], 5.0, jump)
        parts.append(Transition(frames[t], frames[t + 1], candidates, np.ones(1), stage=jump))
    stretch = Stretch.of(parts).with_gaps(np.array([0]), np.array([2]), np.array([2]))
    np.testing.assert_allclose(stretch.step, [[0, 0], [1, 0], [1, 0]])
    np.testing.assert_allclose(stretch.during(np.array([1]))[0].step, [[1, 0]])


def test_a_jump_carries_cells_over_the_border() -> None:
    field = Field((0.0, 0.0), (100.0, 100.0))
    jump = np.array([0.0, 30.0])
    frames = [points([(50.0, 50.0), (50.0, 80.0)], 0), points([(50.0, 80.0), (50.0, 10.0)], 1)]
    stretch = Stretch.of([Transition(*frames, find_candidates(*frames, 5.0, jump), np.ones(2), stage=jump)])

    class Model:
        def __init__(self) -> None:
            self.field = field

        def value(self, name: str) -> float:
            return {"motion_scale": 1.0, "division_scale": 4.0, "tail": 50.0}.get(name, 0.01)

        mean = value

    lost = Border(1.0, 1.0).lost(Model(), stretch)
    assert lost[0] < 0.01
    assert lost[1] > 0.95
    entering = Border(1.0, 1.0).appear(Model(), stretch)
    assert entering[3] > 100 * entering[2]
    assert _stays(field, np.ones(1), 50.0, stretch)[0] == pytest.approx(0.7, abs=0.02)
    assert replace(stretch, stage=None).step[0].tolist() == [0.0, 30.0]
