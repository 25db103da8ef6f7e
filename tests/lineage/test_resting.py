"""Cells that divide again at once, on pairs made by hand."""

from dataclasses import replace

import numpy as np

from dunno.lineage.resting import rest_of, rested
from dunno.types import Block
from tests.lineage.hand_made import pair, whole


def links(block: Block, t: int) -> list[tuple[int, int]]:
    each = block.pair(t + 1)
    return list(zip(each.mother[each.selected].tolist(), each.daughter[each.selected].tolist(), strict=True))


def twice(second_frame: int = 1) -> list[Block]:
    """A cell divides, and one of its daughters does so once more, while the other one is lost."""
    second = pair(second_frame, (2, 2), [(0, 0, 0.9), (0, 1, 0.6), (1, 1, 0.3)])
    return [pair(0, (1, 2), [(0, 0, 0.9), (0, 1, 0.8)]), replace(second, selected=np.array([True, True, False]))]


def test_a_lost_sister_goes_on_as_the_daughter_of_a_second_division() -> None:
    assert links(whole(*twice()), 1) == [(0, 0), (0, 1)]
    assert links(rested(whole(*twice()), 3), 1) == [(0, 0), (1, 1)]


def test_without_a_lost_sister_the_less_probable_link_goes() -> None:
    first = pair(0, (1, 2), [(0, 0, 0.9), (0, 1, 0.8)], log_divide=np.log([0.9]))
    second = pair(1, (2, 3), [(0, 0, 0.4), (0, 1, 0.6), (1, 2, 0.9)])
    assert links(rested(whole(first, second), 3), 1) == [(0, 1), (1, 2)]


def test_of_two_divisions_the_less_probable_one_is_none() -> None:
    first = pair(0, (1, 2), [(0, 0, 0.9), (0, 1, 0.8)], log_divide=np.log([0.2]))
    second = pair(1, (2, 3), [(0, 0, 0.4), (0, 1, 0.6), (1, 2, 0.9)], log_divide=np.log([0.9, 0.1]))
    found = rested(whole(first, second), 3)
    assert [links(found, t) for t in (0, 1)] == [[(0, 0)], [(0, 0), (0, 1), (1, 2)]]


def test_first_divisions_and_those_after_a_rest_stay() -> None:
    first, later = twice(3)
    made = whole(first, *(pair(t, (2, 2), [(0, 0, 0.9), (1, 1, 0.9)]) for t in (1, 2)), later)
    assert links(rested(made, 2), 3) == [(0, 0), (0, 1)]
    assert links(rested(made, 3), 3) == [(0, 0), (1, 1)]
    assert links(rested(first, 9), 0) == [(0, 0), (0, 1)]


def test_births_are_remembered_across_gaps() -> None:
    first = pair(0, (1, 2), [(0, 0, 0.9), (0, 1, 0.8)], log_divide=np.log([0.9]))
    missed, back = pair(1, (2, 1), [(1, 0, 0.9)]), pair(2, (1, 2), [(0, 0, 0.9)])
    again = pair(3, (2, 3), [(0, 0, 0.9), (1, 1, 0.9), (1, 2, 0.7)])
    made = whole(first, missed, back, again, far=[(1, 0, 3, 1, 0.9)])
    assert links(rested(made, 9), 3) == [(0, 0), (1, 1)]


def test_the_rest_is_a_quarter_of_the_time_in_which_cells_double() -> None:
    rare = np.full(10, np.log(0.01))
    usual = [(t, (10, 10), [(i, i, 1.0) for i in range(10)]) for t in range(40)]
    assert rest_of(whole(*(pair(*each, log_divide=rare) for each in usual))) == int(0.25 * np.log(2) / 0.01)
    assert rest_of(whole(*(pair(*each, log_disappear=None, log_divide=None) for each in usual))) == 0
