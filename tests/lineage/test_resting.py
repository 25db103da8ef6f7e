"""Cells that divide again at once, on pairs made by hand."""

from dataclasses import replace

import numpy as np

from dunno.lineage.resting import rest_of, rested
from dunno.types import PairPosterior
from tests.lineage.test_endings import across, pair


def links(each: PairPosterior) -> list[tuple[int, int]]:
    return list(zip(each.mother[each.selected].tolist(), each.daughter[each.selected].tolist(), strict=True))


def twice() -> list[PairPosterior]:
    """A cell divides, and one of its daughters does so once more, while the other one is lost."""
    second = pair(1, (2, 2), [(0, 0, 0.9), (0, 1, 0.6), (1, 1, 0.3)])
    return [pair(0, (1, 2), [(0, 0, 0.9), (0, 1, 0.8)]), replace(second, selected=np.array([True, True, False]))]


def test_a_lost_sister_goes_on_as_the_daughter_of_a_second_division() -> None:
    assert links(twice()[1]) == [(0, 0), (0, 1)]
    assert links(rested(twice(), 3)[1]) == [(0, 0), (1, 1)]


def test_without_a_lost_sister_the_less_probable_link_goes() -> None:
    first = replace(twice()[0], log_divide=np.log([0.9]))
    second = pair(1, (2, 3), [(0, 0, 0.4), (0, 1, 0.6), (1, 2, 0.9)])
    assert links(rested([first, second], 3)[1]) == [(0, 1), (1, 2)]


def test_of_two_divisions_the_less_probable_one_is_none() -> None:
    first, _ = twice()
    second = pair(1, (2, 3), [(0, 0, 0.4), (0, 1, 0.6), (1, 2, 0.9)], log_divide=np.log([0.9, 0.1]))
    found = rested([replace(first, log_divide=np.log([0.2])), second], 3)
    assert [links(each) for each in found] == [[(0, 0)], [(0, 0), (0, 1), (1, 2)]]


def test_first_divisions_and_those_after_a_rest_stay() -> None:
    first, second = twice()
    between = [pair(t, (2, 2), [(0, 0, 0.9), (1, 1, 0.9)]) for t in (1, 2)]
    later = replace(second, mothers=replace(second.mothers, frame=3), daughters=replace(second.daughters, frame=4))
    assert links(rested([first, *between, later], 2)[3]) == [(0, 0), (0, 1)]
    assert links(rested([first, *between, later], 3)[3]) == [(0, 0), (1, 1)]
    assert [links(each) for each in rested([first], 9)] == [[(0, 0), (0, 1)]]


def test_births_are_remembered_across_gaps() -> None:
    first = replace(twice()[0], log_divide=np.log([0.9]))
    missed = pair(1, (2, 1), [(1, 0, 0.9)])
    back = pair(2, (1, 2), [(0, 0, 0.9)], gaps=across(1, 0, [1]))
    again = pair(3, (2, 3), [(0, 0, 0.9), (1, 1, 0.9), (1, 2, 0.7)])
    assert links(rested([first, missed, back, again], 9)[3]) == [(0, 0), (1, 1)]


def test_the_rest_is_a_quarter_of_the_time_in_which_cells_double() -> None:
    usual = [pair(t, (10, 10), [(i, i, 1.0) for i in range(10)]) for t in range(40)]
    rare = [replace(each, log_divide=np.full(10, np.log(0.01))) for each in usual]
    assert rest_of(rare) == int(0.25 * np.log(2) / 0.01)
    assert rest_of([replace(each, log_divide=None) for each in usual]) == 0
