"""Links on their way to frame pairs."""

from typing import Any

import numpy as np
import pytest

from dunno.types import Detections
from dunno.types.links import Links

FRAMES, PER_FRAME = 10_000, 100
"""A million links."""


class Watched(np.ndarray):
    """A column that counts how many of its values are looked at; a search by halves is free."""

    looked_at = 0

    def __getitem__(self, key: Any) -> Any:
        part = np.asarray(super().__getitem__(key))
        Watched.looked_at += part.size
        return part

    def __array_ufunc__(self, function: Any, kind: str, *inputs: Any, **options: Any) -> Any:
        Watched.looked_at += self.size
        plain = (np.asarray(each) if isinstance(each, Watched) else each for each in inputs)
        return getattr(function, kind)(*plain, **options)


def cells(frame: int, labels: np.ndarray) -> Detections:
    n = len(labels)
    return Detections(labels, np.zeros((n, 2)), np.ones(n), np.zeros((n, 2, 2), np.int64), frame)


@pytest.fixture(scope="module")
def million() -> Links:
    """Cell k of every frame is the daughter of cell k + 1, the last one of the first."""
    frame = np.repeat(np.arange(1, FRAMES + 1), PER_FRAME)
    daughter = np.tile(np.arange(1, PER_FRAME + 1), FRAMES)
    columns = (frame - 1, daughter % PER_FRAME + 1, frame, daughter)
    return Links(*(column.view(Watched) for column in columns))


def test_a_scan_would_be_noticed(million: Links) -> None:
    Watched.looked_at = 0
    assert (million.frame == 3).sum() == PER_FRAME
    assert Watched.looked_at == FRAMES * PER_FRAME


def test_a_pair_looks_at_its_own_rows_alone(million: Links) -> None:
    labels = np.arange(1, PER_FRAME + 1)
    for frame in (1, 2, FRAMES // 2, FRAMES):
        Watched.looked_at = 0
        mother, daughter = million.between(cells(frame - 1, labels), cells(frame, labels))
        assert Watched.looked_at == 3 * PER_FRAME  # of mother_frame, mother and daughter
        np.testing.assert_array_equal(daughter, np.arange(PER_FRAME))
        np.testing.assert_array_equal(mother, (np.arange(PER_FRAME) + 1) % PER_FRAME)


def test_all_pairs_together_look_at_every_row_once(million: Links) -> None:
    labels = np.arange(1, PER_FRAME + 1)
    frames = [cells(frame, labels) for frame in range(FRAMES + 1)]
    Watched.looked_at = 0
    found = sum(len(million.between(*frames[t : t + 2])[0]) for t in range(FRAMES))
    assert found == FRAMES * PER_FRAME
    assert Watched.looked_at == 3 * FRAMES * PER_FRAME


def test_links_are_sorted_when_they_are_made() -> None:
    links = Links(np.array([4, 0, 4]), np.array([7, 8, 9]), np.array([5, 1, 5]), np.array([1, 2, 3]))
    assert links.frame.tolist() == [1, 5, 5]
    assert links.mother.tolist() == [8, 7, 9]
    mother, daughter = links.between(cells(4, np.array([7, 8, 9])), cells(5, np.array([1, 2, 3])))
    assert (mother.tolist(), daughter.tolist()) == ([0, 2], [0, 2])


def test_frames_without_links_have_none() -> None:
    empty = np.empty(0, np.int64)
    some = Links(np.array([0]), np.array([1]), np.array([1]), np.array([1]))
    for links, frame in ((Links(empty, empty, empty, empty), 1), (some, 2), (some, 0)):
        mother, daughter = links.between(cells(frame - 1, np.array([1])), cells(frame, np.array([1])))
        assert len(mother) == len(daughter) == 0
