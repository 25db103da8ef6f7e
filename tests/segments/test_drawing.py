"""Masks as they are repaired."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dunno.segments.drawing import UNCUT, Drawn, draw, spare_labels
from dunno.types.measurements import digest_of
from tests.segments.test_pixels import blobs, looked_at, measured, two_discs

ONE = np.ones(2)


def drawn(*rows: tuple[int, int, int]) -> Drawn:
    return Drawn(*np.array(rows, np.int64).reshape(-1, 3).T)


def test_masks_that_are_not_listed_stay_as_they_are() -> None:
    labels = blobs((48, 56), seed=8)
    cells = measured(labels, None, (1.0, 1.0))
    same = draw(labels, cells, ONE, drawn())
    assert same.dtype == labels.dtype and same is not labels
    assert digest_of(same, "here") == digest_of(labels, "here")
    out = draw(labels, cells, ONE, drawn((2, UNCUT, 0), (4, 0, 200), (4, 1, 201)))
    kept = ~np.isin(labels, cells.label[[2, 4]])
    assert (out[kept] == labels[kept]).all()
    assert (out[labels == cells.label[2]] == 0).all()
    assert sorted(np.unique(out[labels == cells.label[4]])) == [200, 201]


def test_masks_of_the_same_label_are_joined() -> None:
    labels = blobs((48, 56), seed=8)
    cells = measured(labels, None, (1.0, 1.0))
    out = draw(labels, cells, ONE, drawn((1, UNCUT, 99), (3, UNCUT, 99)))
    assert ((out == 99) == np.isin(labels, cells.label[[1, 3]])).all()


def test_a_part_may_be_joined_with_another_mask_or_left_out() -> None:
    labels, truth = two_discs()
    labels[2:6, 2:6] = 5
    cells = measured(labels, None, (1.0, 1.0))
    out = draw(labels, cells, ONE, drawn((0, 1, 9), (1, UNCUT, 9)))
    assert out[20, 15] == out[3, 3] == 9 and (out[truth == 2] == 0).mean() > 0.95


def test_three_parts_cover_their_mask() -> None:
    labels = blobs((48, 56), seed=8)
    cells, parts = looked_at(labels, None, (1.0, 1.0))
    row = int(np.argmax(cells.area))
    area = parts.cells.area[(parts.row == row) & (parts.number < 2)]
    smaller = int(area[0] >= area[1])
    out = draw(labels, cells, ONE, drawn((row, smaller, 71), (row, 2, 72), (row, 3, 73)))
    own = labels == cells.label[row]
    assert np.isin(out[own], [71, 72, 73]).all() and (np.isin(out, [71, 72, 73]) == own).all()
    found = measured(out, None, (1.0, 1.0))
    for number, label in ((smaller, 71), (2, 72), (3, 73)):
        part = (parts.row == row) & (parts.number == number)
        assert found.area[found.label == label] == parts.cells.area[part]


def test_cells_are_filled_in_where_there_is_room() -> None:
    labels = np.zeros((5, 6), np.uint8)
    labels[:, :2] = 3
    cells = measured(labels, None, (1.0, 1.0))
    pixels = np.argwhere(np.ones((3, 3))) + np.array([3, 1])
    out = draw(labels, cells, ONE, drawn(), {4: pixels})
    assert np.argwhere(out == 4).tolist() == [[3, 2], [3, 3], [4, 2], [4, 3]]
    assert (out[labels == 3] == 3).all()


def test_labels_that_do_not_fit_make_the_image_wider() -> None:
    labels, _ = two_discs()
    cells = measured(labels, None, (1.0, 1.0))
    for label, kind in ((255, np.uint8), (256, np.uint16), (70_000, np.uint32)):
        out = draw(labels, cells, ONE, drawn((0, UNCUT, label)))
        assert out.dtype == kind and out.max() == label


def test_what_is_drawn_in_a_volume_is_what_was_measured() -> None:
    labels = blobs((8, 20, 24), seed=9)
    scale = (3.0, 1.0, 1.0)
    cells, parts = looked_at(labels, None, scale, into=2)
    out = draw(labels, cells, np.array(scale), Drawn(parts.row, parts.number, 100 + np.arange(len(parts.row))))
    found = measured(out, None, scale)
    new = found.label >= 100
    np.testing.assert_array_equal(found.centroid[new], parts.cells.centroid)
    np.testing.assert_array_equal(found.covariance[new], parts.cells.covariance)


@given(st.sets(st.integers(1, 65_540), max_size=30), st.integers(0, 20))
def test_spare_labels_are_new_and_small_where_they_can_be(used: set[int], n: int) -> None:
    spare = spare_labels(np.array(sorted(used), np.int64), n).tolist()
    assert len(set(spare)) == n and not used & set(spare)
    if max(used, default=0) <= 65_535:
        assert max(spare, default=0) <= 65_535
    if max(used, default=0) + n <= 65_535:
        assert min(spare, default=65_536) > max(used, default=0)


def test_where_all_labels_of_16_bits_are_in_use_more_bits_are_taken() -> None:
    assert spare_labels(np.arange(1, 65_536), 2).tolist() == [65_536, 65_537]


def test_a_part_that_a_mask_does_not_have_is_not_drawn() -> None:
    labels = np.eye(3, dtype=np.uint8)
    with pytest.raises(KeyError):
        draw(labels[:1], measured(labels[:1], None, (1.0, 1.0)), ONE, drawn((0, 0, 7)))
