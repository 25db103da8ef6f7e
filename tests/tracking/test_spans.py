from collections.abc import Iterator

import numpy as np
import pytest

from dunno import Movie, Tracker
from dunno.tracking.plan import frames_around, spans_of
from dunno.types import Detections, Floats, FramePair, Ints

FRAMES = 11


def movie(frames: int = FRAMES) -> Movie:
    """A cell that moves one pixel to the right in every frame."""
    masks = np.zeros((frames, 8, 8 + frames), dtype=np.uint8)
    for t in range(frames):
        masks[t, 3:5, 2 + t : 4 + t] = 1
    return Movie(masks, frames=np.arange(frames) * 10)


def pairs(recording: Movie, window: int, size: int) -> Iterator[FramePair]:
    for span in spans_of(recording, window, size):
        yield from span.pairs(window, 5.0)


def places(pair: FramePair) -> list[float]:
    return [float(cells.centroid[0, 1]) - 2.5 for cells in pair.window]


@pytest.mark.parametrize("size", [1, 2, 3, 10, 100])
@pytest.mark.parametrize("window", [0, 2, 3, 4, 7, 11, 20])
def test_pairs_and_their_windows_are_the_same_for_any_size_of_span(window: int, size: int) -> None:
    found = list(pairs(movie(), window, size))
    assert [(pair.mothers.frame, pair.daughters.frame) for pair in found] == [(10 * t, 10 * t + 10) for t in range(10)]
    for t, pair in enumerate(found):
        assert places(pair) == (list(frames_around(t, window, FRAMES)) if window else [])


@pytest.mark.parametrize("window", [2, 3, 4, 5, 6, 20])
def test_a_window_is_full_and_holds_its_pair(window: int) -> None:
    for t in range(FRAMES - 1):
        around = frames_around(t, window, FRAMES)
        assert t in around
        assert t + 1 in around
        assert len(around) == min(window, FRAMES)
        assert 0 <= around[0] <= around[-1] < FRAMES


def test_a_pair_away_from_the_ends_is_in_the_middle() -> None:
    assert list(frames_around(5, 6, FRAMES)) == [3, 4, 5, 6, 7, 8]
    assert list(frames_around(5, 5, FRAMES)) == [4, 5, 6, 7, 8]


@pytest.mark.parametrize("window", [0, 4])
def test_a_span_reads_each_frame_once(window: int, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    detections = Movie.detections

    def counted(self: Movie, t: int) -> Detections:
        read.append(int(self.frames[t]))
        return detections(self, t)

    monkeypatch.setattr(Movie, "detections", counted)
    (span,) = spans_of(movie(), window)
    list(span.pairs(window, 5.0))
    assert read == [10 * t for t in range(FRAMES)]


def test_the_pairs_own_frames_are_those_in_the_window() -> None:
    for pair in pairs(movie(), 4, 3):
        assert any(cells is pair.mothers for cells in pair.window)
        assert any(cells is pair.daughters for cells in pair.window)


class SeesTheFuture:
    """A cost that tells how many frames it was shown after the daughters' own."""

    name = "future"
    window = 4

    def __call__(self, pair: FramePair, mother: Ints, daughter: Ints) -> Floats:
        later = sum(cells.frame > pair.daughters.frame for cells in pair.window)
        return np.full(len(mother), float(later))


def test_a_cost_gets_the_window_it_asks_for() -> None:
    tracker = Tracker(
        SeesTheFuture(), "SM", calibration=None, appear_cost=1.0, disappear_cost=1.0, divide_cost=0.0, max_distance=3.0
    )
    assert [float(pair.cost[0]) for pair in tracker.track(movie(6)).pairs] == [2, 1, 1, 1, 0]


def test_a_movie_shorter_than_the_window_is_shown_whole() -> None:
    (pair,) = pairs(movie(2), 6, 16)
    assert places(pair) == [0, 1]
