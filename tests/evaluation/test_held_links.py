"""Links on imperfect masks."""

from dataclasses import replace

import numpy as np
import pytest

from dunno.evaluation.held_cells import HeldCells
from dunno.evaluation.held_links import held_links
from dunno.evaluation.outcomes import BEGINNING, RIGHT_LINK, SWAP, UNSEEN, promises

from .worlds import annotated, followed, frame, held

ROWS = [(1, 0, 2, 0), (2, 0, 2, 0)]
CELLS = [frame([(1, 10, 10), (2, 10, 40)])] * 3
EVERYONE = {1: [(0, 1), (1, 1), (2, 1)], 2: [(0, 2), (1, 2), (2, 2)]}


def kinds(cells: HeldCells, *links: tuple[tuple[int, int], tuple[int, int]]) -> list[int]:
    return held_links(followed(3, EVERYONE, dict.fromkeys(links, 0.9)), cells).kind.tolist()


def test_links_are_right_or_swaps() -> None:
    cells = held(ROWS, CELLS, CELLS)
    assert kinds(cells, ((0, 1), (1, 1)), ((0, 2), (1, 1))) == [RIGHT_LINK, SWAP]


def test_a_mask_that_covers_a_quarter_of_a_cell_is_right_even_if_another_holds_it() -> None:
    """The mask of cell 1 is cut in frame 1: a third of it has label 2."""
    masks = [CELLS[0], frame([(1, 10, 10)]), CELLS[2]]
    masks[1][10:12, 10:16] = 2
    cells = held(ROWS, CELLS, masks)
    assert cells.holder[1] == {1: 1}
    assert kinds(cells, ((0, 1), (1, 2)), ((0, 1), (1, 1))) == [RIGHT_LINK, RIGHT_LINK]


def test_less_than_a_quarter_of_a_cell_is_no_cell() -> None:
    masks = [CELLS[0], frame([(1, 10, 10)]), CELLS[2]]
    masks[1][10:11, 10:16] = 2  # a sixth
    assert kinds(held(ROWS, CELLS, masks), ((0, 1), (1, 2))) == []


def test_a_mother_that_is_in_no_mask_is_unseen_and_one_that_is_not_annotated_a_beginning() -> None:
    masks = [frame([(2, 10, 40)]), *CELLS[1:]]
    late = [frame([(2, 10, 40)]), *CELLS[1:]]
    assert kinds(held(ROWS, CELLS, masks), ((0, 2), (1, 1))) == [UNSEEN]
    assert kinds(held([(1, 1, 2, 0), (2, 0, 2, 0)], late, CELLS), ((0, 2), (1, 1))) == [BEGINNING]


def test_a_link_past_a_mask_that_is_there_is_wrong() -> None:
    assert kinds(held(ROWS, CELLS, CELLS), ((0, 1), (2, 1))) == [SWAP]
    masks = [CELLS[0], frame([(2, 10, 40)]), CELLS[2]]
    assert kinds(held(ROWS, CELLS, masks), ((0, 1), (2, 1))) == [RIGHT_LINK]


def test_where_neither_mask_is_on_a_cell_nothing_is_judged() -> None:
    masks = [CELLS[0], frame([(1, 30, 10), (2, 10, 40)]), CELLS[2]]
    assert kinds(held(ROWS, CELLS, masks), ((0, 1), (1, 1))) == []


def test_promised_beside_found() -> None:
    links = {((0, 1), (1, 1)): 0.9, ((0, 2), (1, 2)): 0.8, ((1, 1), (2, 2)): 0.6}
    found = held_links(followed(3, EVERYONE, links), held(ROWS, CELLS, CELLS))
    told = promises(found.kind, found.probability)
    assert told["promised_wrong"] == pytest.approx(0.7)
    assert told["promised_swaps"] == pytest.approx(0.7)
    assert (told["found_wrong"], told["swaps"]) == (1, 1)
    assert (found.found, found.true) == (2, 4)
    assert found.recall == 0.5


def test_a_daughter_comes_from_its_mother() -> None:
    rows = [(1, 0, 0, 0), (2, 1, 2, 1), (3, 1, 2, 1)]
    cells = [frame([(1, 10, 20)]), *[frame([(2, 10, 16), (3, 10, 24)])] * 2]
    links = dict.fromkeys([((0, 1), (1, 2)), ((0, 1), (1, 3))], 0.9)
    tracks = {1: [(0, 1)], 2: [(1, 2), (2, 2)], 3: [(1, 3), (2, 3)]}
    found = held_links(followed(3, tracks, links), held(rows, cells, cells))
    assert found.kind.tolist() == [RIGHT_LINK, RIGHT_LINK]
    assert (found.found, found.true) == (2, 4)


def test_cells_without_places_are_held_as_they_were_matched() -> None:
    movie, truth = annotated(ROWS, CELLS, CELLS)
    bare = HeldCells.of(movie, replace(truth, markers=None))
    assert list(bare.holder) == list(HeldCells.of(movie, truth).holder)
    assert np.all([bare.held[t] == {1: {1}, 2: {2}} for t in range(3)])
