"""Unequal steps: motion and rates go by time."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dunno import Movie, Tracker, read
from dunno.calibration import ModelCalibration
from dunno.errors import DunnoError
from dunno.io.frame_tables import read_times
from dunno.simulate import colony
from dunno.tracking.sampling import Sample
from dunno.types.clock import clock_of, usual_steps

MASKS = np.zeros((5, 8, 8), int)


def test_times_are_counted_in_usual_steps() -> None:
    movie = Movie(MASKS, times=[0, 5, 10, 25, 30])
    assert movie.interval == 5
    assert movie.clock is not None
    assert movie.clock.tolist() == [0, 1, 2, 5, 6]
    assert movie.detections(3).time == 5
    assert movie.part(slice(2, 5)).detections(1).time == 5
    assert Movie(MASKS, times=[0, 5, 10, 15, 20]).clock is None
    slower = movie.every(2)
    assert slower.clock == pytest.approx([0, 2 / 3, 2])
    assert slower.interval == 15


def test_frames_that_are_missing_in_the_recording_are_longer_steps() -> None:
    assert Movie(MASKS).clock is None
    movie = Movie(MASKS, frames=np.array([0, 1, 2, 5, 6]))
    assert movie.clock is not None
    assert np.diff(movie.clock).tolist() == [1, 1, 3, 1]
    assert Movie(MASKS).every(2).clock is None


def test_fits_look_at_usual_steps() -> None:
    movie = Movie(MASKS, times=[0, 5, 10, 25, 30])
    cells = {t: replace(movie.detections(t), time=None) for t in range(5)}
    sample = Sample(cells, None, movie)
    assert sample.jumps(1) == [(0, 1), (1, 2), (3, 4)]
    assert sample.jumps(2) == [(0, 2)]
    assert usual_steps(clock_of(np.array([0.0, 1, 3, 6, 10, 15])), 6).all()  # no step is usual


@pytest.mark.parametrize(
    ("text", "told"),
    [("0\n5\n\n10\n", [0, 5, 10]), ("frame,minutes\n0,0\n1,5.5\n2,9\n", [0, 5.5, 9]), ("0 0\n1 2\n", [0, 2])],
)
def test_a_file_of_times_is_read(tmp_path: Path, text: str, told: list[float]) -> None:
    (tmp_path / "times.txt").write_text(text)
    assert read_times(tmp_path / "times.txt").tolist() == told


@pytest.mark.parametrize(
    ("text", "problem"),
    [("", "is empty"), ("0\nfive\n", "'five' came"), ("0,1,2\n", "expected a line for each frame")],
)
def test_what_is_no_file_of_times_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "times.txt").write_text(text)
    with pytest.raises(DunnoError, match=problem):
        read_times(tmp_path / "times.txt")


@pytest.mark.parametrize(
    ("times", "problem"),
    [([0, 1], "2 times for 5 frames"), ([0, 1, 1, 2, 3], "do not ascend"), ([0, 1, np.nan, 3, 4], "a time is nan")],
)
def test_times_that_cannot_be_are_refused(times: list[float], problem: str) -> None:
    with pytest.raises(DunnoError, match=problem):
        Movie(MASKS, times=times)


def test_a_movie_is_read_with_its_times(tmp_path: Path) -> None:
    np.save(tmp_path / "masks.npy", MASKS)
    (tmp_path / "times.txt").write_text("0\n5\n10\n25\n30\n")
    movie = read(tmp_path / "masks.npy", times=tmp_path / "times.txt", frames=(1, None))
    assert movie.times is not None
    assert movie.times.tolist() == [5, 10, 25, 30]
    assert any("usually 5" in note for note in movie.notes)


def test_longer_steps_have_more_motion_and_more_events() -> None:
    made = colony(cells=30, frames=30, motion=0.1, cycle=30.0, seed=3)
    kept = np.array([t for t in range(30) if t not in (10, 11, 20, 21)])
    movie = made.movie.part(kept).with_times(5.0 * kept)
    tracker = Tracker(workers=1)
    plan = tracker.plan(movie)
    assert isinstance(plan.calibration, ModelCalibration)
    model = plan.calibration.model
    power = model.term("motion").lag_power
    assert 0.5 < power < 1.5  # the colony's cells diffuse
    scaled = model.over_time(np.array([1.0, 3.0]))
    one, three = scaled.value("motion_scale") / model.value("motion_scale")  # type: ignore[operator]
    assert (one, three) == pytest.approx((1.0, 3.0**power))
    for name in ("p_lost", "p_divide"):
        rates = np.asarray(scaled.value(name))
        assert 1 - rates[1] == pytest.approx((1 - rates[0]) ** 3)
    tracking = Tracker(workers=1, calibration=plan.calibration).track(movie)
    divided = np.array([np.exp(pair.log_divide).sum() for pair in tracking.pairs if pair.log_divide is not None])
    long = np.diff(kept) == 3
    assert divided[long].mean() > 1.5 * divided[~long].mean()
    assert tracking.about["times"] == (5.0 * kept).tolist()
