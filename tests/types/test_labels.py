import numpy as np
import pytest
from scipy import ndimage

from dunno.errors import MovieError
from dunno.types.labels import as_labels, measure

INTEGERS = [np.uint8, np.uint16, np.uint32, np.uint64, np.int8, np.int16, np.int32, np.int64]


def blobs(shape: tuple[int, ...], seed: int) -> np.ndarray:
    noise = ndimage.gaussian_filter(np.random.default_rng(seed).normal(size=shape), 2)
    return ndimage.label(noise > 0.05)[0]


@pytest.mark.parametrize("shape", [(60, 70), (12, 30, 31), (1, 1)])
def test_measurements_equal_those_of_scipy(shape: tuple[int, ...]) -> None:
    labels = blobs(shape, 3)
    found = measure(labels, "here")
    expected = np.unique(labels[labels > 0])
    boxes = [box for box in ndimage.find_objects(labels) if box is not None]
    np.testing.assert_array_equal(found.label, expected)
    np.testing.assert_array_equal(found.area, ndimage.sum_labels(labels > 0, labels, expected))
    centres = np.array(ndimage.center_of_mass(labels > 0, labels, expected)).reshape(-1, len(shape))
    np.testing.assert_allclose(found.centroid, centres)
    np.testing.assert_array_equal(found.bbox[:, 0], np.reshape([[s.start for s in b] for b in boxes], (-1, len(shape))))
    np.testing.assert_array_equal(found.bbox[:, 1], np.reshape([[s.stop for s in b] for b in boxes], (-1, len(shape))))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_every_integer_type_is_measured_alike(dtype: type) -> None:
    labels = np.zeros((5, 6), dtype)
    labels[1:3, 2:5] = 7
    labels[4, 0] = 100
    found = measure(labels, "here")
    assert found.label.tolist() == [7, 100]
    assert found.area.tolist() == [6, 1]
    np.testing.assert_array_equal(found.centroid, [[1.5, 3.0], [4.0, 0.0]])


def test_labels_may_be_huge_and_far_apart() -> None:
    labels = np.array([[0, 2**40, 2**40], [5, 0, 2**62]])
    found = measure(labels, "here")
    assert found.label.tolist() == [5, 2**40, 2**62]
    assert found.area.tolist() == [1, 2, 1]


def test_strided_and_foreign_byte_orders_are_read() -> None:
    labels = blobs((40, 41), 0)
    swapped = labels.astype(">i4")[:, ::-1]
    np.testing.assert_array_equal(measure(swapped, "here").area, measure(labels, "here").area)


def test_a_frame_without_cells_has_no_measurements() -> None:
    found = measure(np.zeros((4, 5), np.uint8), "here")
    assert found.label.shape == (0,)
    assert found.centroid.shape == (0, 2)
    assert found.bbox.shape == (0, 2, 2)


def test_negative_labels_are_refused_with_the_place() -> None:
    with pytest.raises(MovieError, match=r"t003\.tif: a negative label, -4; labels are positive"):
        measure(np.array([[0, -4]]), "t003.tif")


def test_whole_floats_are_labels_and_others_are_not() -> None:
    assert as_labels(np.array([[0.0, 3.0]]), "here").dtype == np.int64
    with pytest.raises(MovieError, match=r"here: 2\.5 is not a whole number"):
        as_labels(np.array([[0.0, 2.5]]), "here")
    with pytest.raises(MovieError, match="nan is not a whole number"):
        as_labels(np.array([[0.0, np.nan]]), "here")


def test_true_and_false_are_no_labels() -> None:
    with pytest.raises(MovieError, match="give every cell its own number"):
        as_labels(np.array([[True, False]]), "here")
