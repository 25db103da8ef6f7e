"""Which given links are kept, and what is remembered of the frames."""

import tracemalloc
from typing import Any

import numpy as np

from dunno import Movie
from dunno.io.joining import join
from dunno.types.links import GivenLinks

from .links.colony import as_set


def given(*rows: tuple[int, int, int, int], **settings: Any) -> GivenLinks:
    return GivenLinks(*np.array(rows, np.int64).reshape(-1, 4).T, **settings)


def test_the_first_of_two_mothers_is_kept_and_a_repetition_says_nothing(colony: Movie) -> None:
    links = join(given((0, 2, 1, 3), (0, 2, 1, 3), (0, 1, 1, 3), (0, 2, 1, 3), (0, 3, 1, 3)), colony, "here")
    assert as_set(links) == {(0, 2, 1, 3)}
    assert links.unmatched == (
        "1 in frame 0 → 3 in frame 1: a merge; the daughter has mother 2 already",
        "3 in frame 0 → 3 in frame 1: a merge; the daughter has mother 2 already",
    )


def test_a_mother_may_have_two_daughters_and_no_third(colony: Movie) -> None:
    assert len(join(given((0, 2, 1, 3), (0, 2, 1, 4), (0, 2, 1, 2)), colony, "here")) == 2


def test_a_link_that_cannot_be_does_not_take_the_daughter(colony: Movie) -> None:
    links = join(given((0, 9, 1, 3), (0, 2, 1, 3)), colony, "here")
    assert as_set(links) == {(0, 2, 1, 3)}


def test_problems_are_told_in_the_order_of_the_file_after_those_of_its_source(colony: Movie) -> None:
    rows = [(1, 1, 0, 1), (0, 9, 1, 1), (0, 1, 1, 9), (0, 1, 0, 2), (0, 1, 7, 1), (7, 1, 8, 1), (2, 1, 2, 1)]
    links = join(given(*rows, problems=("spot 5: lies on no cell",)), colony, "here")
    assert len(links) == 0
    gap = "does not lead to a later frame, at most 11 frames on"
    assert links.unmatched == (
        "spot 5: lies on no cell",
        f"1 in frame 1 → 1 in frame 0: {gap}",
        "9 in frame 0 → 1 in frame 1: there is no detection 9 in frame 0",
        "1 in frame 0 → 9 in frame 1: there is no detection 9 in frame 1",
        f"1 in frame 0 → 2 in frame 0: {gap}",
        "1 in frame 0 → 1 in frame 7: there is no detection 1 in frame 7",
        "1 in frame 7 → 1 in frame 8: there is no detection 1 in frame 7",
        f"1 in frame 2 → 1 in frame 2: {gap}",
    )


def test_frames_keep_their_own_numbers(colony: Movie) -> None:
    coarse = Movie([colony.masks(t) for t in range(3)], frames=np.array([5, 15, 25]))
    assert as_set(join(given((5, 1, 15, 1), (15, 1, 25, 1)), coarse, "here")) == {(5, 1, 15, 1), (15, 1, 25, 1)}
    skipping = join(given((0, 1, 1, 1), (5, 1, 25, 1)), coarse, "here")
    assert as_set(skipping) == {(5, 1, 25, 1)}
    assert skipping.longest_gap == 1
    assert len(skipping.without_gaps("no gaps here")) == 0
    assert skipping.without_gaps("no gaps here").unmatched[-1] == "1 in frame 5 → 1 in frame 25: no gaps here"


class Crowd:
    """Frames of 2,500 cells, drawn when they are asked for."""

    def __init__(self, n: int) -> None:
        self.n, self.reads = n, 0

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, t: int) -> np.ndarray:
        self.reads += 1
        return np.arange(1, 2501).reshape(50, 50)


def test_memory_follows_the_links_and_not_the_cells() -> None:
    """200 frames have half a million labels, 40 MB as sets of Python's numbers; the links are 200."""
    frames = Crowd(200)
    movie, frames.reads = Movie(frames), 0
    rows = given(*((t, t + 1, t + 1, 2500 - t) for t in range(199)), (0, 1, 1, 2501))
    join(given((0, 1, 1, 1)), movie, "here")
    tracemalloc.start()
    links = join(rows, movie, "here")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(links) == 199
    assert len(links.unmatched) == 1
    assert frames.reads == 2 + 200
    assert peak < 3e6


def test_frames_without_links_are_not_read() -> None:
    frames = Crowd(200)
    movie, frames.reads = Movie(frames), 0
    assert len(join(given((5, 1, 6, 1)), movie, "here")) == 1
    assert frames.reads == 2
