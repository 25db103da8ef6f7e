"""What is measured of cells, beside plain NumPy on one cell at a time."""

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage

from dunno.errors import MovieError
from dunno.types.labels import measure
from dunno.types.measurements import digest_of, measure_cells

INTEGERS = [np.uint8, np.uint16, np.uint32, np.uint64, np.int8, np.int16, np.int32, np.int64]
PIXELS = [*INTEGERS, np.float16, np.float32, np.float64, np.bool_, np.dtype(">u2"), np.dtype(">f4")]


def neighbours(labels: np.ndarray) -> np.ndarray:
    """(2d, ...) each pixel's neighbours along the axes; the pixel itself where the image ends."""
    padded = np.pad(labels, 1, mode="edge")
    inside = (slice(1, -1),) * labels.ndim
    return np.stack([np.roll(padded, step, axis)[inside] for axis in range(labels.ndim) for step in (-1, 1)])


def digest_in_python(labels: np.ndarray) -> int:
    """The digest as the core's file says it is made, a run at a time."""
    state = 0

    def mix(value: int) -> None:
        nonlocal state
        state = (state ^ value) * 0x9E3779B97F4A7C15 % 2**64
        state = (state ^ (state >> 32)) * 0xD6E8FEB86659FD93 % 2**64
        state ^= state >> 32

    for length in (1, *labels.shape)[-3:]:
        mix(length)
    width = labels.shape[-1]
    flat = labels.reshape(-1).tolist()
    begins = [p for p in range(len(flat)) if p % width == 0 or flat[p] != flat[p - 1]]
    for begin, end in pairwise([*begins, len(flat)]):
        if flat[begin] != 0:
            for value in (begin, end - begin, flat[begin]):
                mix(value)
    return state


def expected(labels: np.ndarray, image: np.ndarray | None) -> list[dict[str, Any]]:
    """What should be found, one cell at a time."""
    d = labels.ndim
    around = neighbours(labels)
    rows = []
    for label in np.unique(labels[labels != 0]):
        own = labels == label
        places = np.argwhere(own)
        outer = own & (around != label).any(axis=0)
        touches = own & ((around != label) & (around != 0)).any(axis=0)
        row = {
            "label": int(label),
            "area": int(own.sum()),
            "centroid": places.mean(axis=0),
            "bbox": np.stack([places.min(axis=0), places.max(axis=0) + 1]),
            "covariance": np.cov(places.T, bias=True).reshape(d, d) + np.eye(d) / 12,
            "touching": touches.sum() / max(outer.sum(), 1),
            "pieces": ndimage.label(own, np.ones((3,) * d))[1],
        }
        if image is not None:
            light = image[own].astype(np.float64)
            row |= {"total": light.sum(), "brightness": light.mean(), "texture": light.std()}
        rows.append(row)
    return rows


def assert_measured(labels: np.ndarray, image: np.ndarray | None) -> None:
    found = measure_cells(labels, image, "here")
    rows = expected(labels, image)
    assert found.place.label.tolist() == [row["label"] for row in rows]
    assert found.place.area.tolist() == [row["area"] for row in rows]
    assert found.pieces.tolist() == [row["pieces"] for row in rows]
    for i, row in enumerate(rows):
        np.testing.assert_allclose(found.place.centroid[i], row["centroid"], rtol=1e-12)
        np.testing.assert_array_equal(found.place.bbox[i], row["bbox"])
        np.testing.assert_allclose(found.covariance[i], row["covariance"], rtol=1e-12, atol=1e-12)
        assert found.touching[i] == row["touching"]
    if image is None:
        assert found.light is None
        return
    assert found.light is not None
    for name in ("total", "brightness", "texture"):
        wanted = [row[name] for row in rows]
        np.testing.assert_allclose(getattr(found.light, name), wanted, rtol=1e-9, atol=1e-6, err_msg=name)
    outside = image[labels == 0].astype(np.float64)
    level = np.median(outside) if len(outside) else np.nan
    np.testing.assert_allclose(found.light.background, level, rtol=1e-15)


@st.composite
def frames(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray | None]:
    """Labels in runs of any length, so that cells touch, come in pieces and reach the border; and perhaps an image."""
    shape = draw(st.sampled_from([(1, 1), (7, 9), (5, 40), (30, 3), (3, 4, 5), (2, 3, 19), (1, 6, 6)]))
    dtype = draw(st.sampled_from(INTEGERS))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    huge = np.iinfo(dtype).max if dtype != np.uint64 else np.iinfo(np.int64).max
    choices = np.array([0, 0, 1, 2, 3, huge], dtype)
    size = int(np.prod(shape))
    lengths = rng.integers(1, draw(st.sampled_from([2, 5, 30])), size)
    labels = np.repeat(rng.choice(choices, size), lengths)[:size].reshape(shape)
    kind = draw(st.sampled_from([None, *PIXELS]))
    return labels, None if kind is None else (rng.normal(60, 20, shape)).clip(-100, 120).astype(kind)


@given(frames())
def test_cells_are_measured_as_numpy_does_one_at_a_time(frame: tuple[np.ndarray, np.ndarray | None]) -> None:
    assert_measured(*frame)


@pytest.mark.parametrize("shape", [(120, 130), (12, 30, 31)])
def test_blobs_are_measured_as_numpy_does(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(3)
    noise = ndimage.gaussian_filter(rng.normal(size=shape), 2)
    labels = ndimage.label(noise > 0.02)[0]
    labels[labels % 3 == 0] += 1  # some in pieces
    assert_measured(labels.astype(np.uint16), rng.integers(0, 2**16, shape).astype(np.uint16))


@given(frames())
def test_the_light_measure_finds_the_same_places(frame: tuple[np.ndarray, np.ndarray | None]) -> None:
    one, other = measure(frame[0], "here"), measure_cells(*frame, "here").place
    for name in one._fields:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_a_shape_does_not_depend_on_where_the_cell_is() -> None:
    blob = np.array([[1, 1, 0, 0], [1, 1, 1, 1], [0, 0, 1, 0]], np.uint8)
    places, wide = (0, 1_000, 1_900_000), np.zeros((3, 3, 2_000_000), np.uint8)
    for label, x in enumerate(places, 1):
        wide[label - 1, :, x : x + 4] = blob * label
    found = measure_cells(wide, None, "here")
    alone = measure_cells(blob, None, "here")
    for i in range(3):
        np.testing.assert_array_equal(found.covariance[i, 1:, 1:], alone.covariance[0])
    np.testing.assert_array_equal(found.covariance[:, 0, 0], 1 / 12)


def test_second_moments_are_exact_for_a_cell_as_wide_as_the_image() -> None:
    n = 3_000_001
    found = measure_cells(np.ones((1, n), np.uint8), None, "here").covariance[0, 1, 1]
    assert found == pytest.approx(float(Fraction(n * n, 12)), rel=1e-15)  # of a bar: (n² - 1) / 12 + 1 / 12


def test_the_sums_of_bright_images_lose_nothing() -> None:
    labels = np.ones((300, 400), np.uint8)
    image = np.full(labels.shape, 65535, np.uint16)
    even = measure_cells(labels, image, "here").light
    assert even is not None
    assert (even.total[0], even.brightness[0], even.texture[0]) == (65535 * 120_000, 65535.0, 0.0)
    image[:, ::2] = 65533
    striped = measure_cells(labels, image, "here").light
    assert striped is not None
    assert (striped.brightness[0], striped.texture[0]) == (65534.0, 1.0)
    far = measure_cells(labels, 1e9 + 1e-3 * (image - 65533.0), "here").light
    assert far is not None
    assert far.texture[0] == pytest.approx(1e-3, rel=1e-4)


def test_pixels_that_are_no_number_are_left_out_of_the_background_and_told_in_a_cell() -> None:
    labels = np.array([[0, 0, 0, 1, 2]])
    image = np.array([[np.nan, 3.0, 5.0, np.nan, 7.0]])
    light = measure_cells(labels, image, "here").light
    assert light is not None
    assert light.background == 4.0
    assert np.isnan(light.brightness[0]) and np.isnan(light.texture[0])
    assert light.brightness[1] == 7.0


def test_where_cells_fill_the_image_there_is_no_background_and_no_outline() -> None:
    found = measure_cells(np.full((3, 3), 5), np.ones((3, 3)), "here")
    assert found.light is not None
    assert np.isnan(found.light.background)
    assert found.touching.tolist() == [0.0]


def test_the_outline_and_what_touches_in_a_picture() -> None:
    labels = np.array(
        [
            [1, 1, 1, 2, 2],
            [1, 1, 1, 2, 2],
            [1, 1, 1, 0, 0],
            [0, 0, 0, 3, 0],
        ]
    )
    found = measure_cells(labels, None, "here")
    # 1: its outline is its last column and last row, five pixels, two of which touch; 2: four pixels, less the upper right one,
    # which has no neighbour but its own; 3 has a corner in common with 1, and no side
    np.testing.assert_allclose(found.touching, [2 / 5, 2 / 3, 0])
    assert found.pieces.tolist() == [1, 1, 1]


def test_corners_connect_and_gaps_do_not() -> None:
    labels = np.array([[1, 0, 0, 2, 0, 2], [0, 1, 0, 2, 0, 2], [0, 0, 1, 2, 2, 2], [3, 0, 3, 0, 3, 0]])
    assert measure_cells(labels, None, "here").pieces.tolist() == [1, 1, 3]
    assert measure_cells(np.stack([labels, labels]), None, "here").pieces.tolist() == [1, 1, 3]
    corner = np.zeros((2, 2, 2), int)
    corner[0, 0, 0] = corner[1, 1, 1] = 1
    assert measure_cells(corner, None, "here").pieces.tolist() == [1]


def test_strided_images_and_labels_are_read() -> None:
    rng = np.random.default_rng(0)
    labels, image = rng.integers(0, 4, (20, 30)), rng.integers(0, 255, (20, 30))
    assert_measured(labels[::2, ::-3], image[::2, ::-3])


def test_labels_and_image_of_different_shapes_are_refused() -> None:
    with pytest.raises(MovieError, match=r"here: labels of shape \(3, 4\), but an image of \(4, 3\)"):
        measure_cells(np.ones((3, 4), int), np.ones((4, 3)), "here")


def test_negative_labels_are_refused_with_the_place() -> None:
    for look in (lambda labels: measure_cells(labels, None, "t003.tif"), lambda labels: digest_of(labels, "t003.tif")):
        with pytest.raises(MovieError, match=r"t003\.tif: a negative label, -4; labels are positive"):
            look(np.array([[0, -4]]))


def test_a_digest_is_the_same_on_every_machine_and_for_every_integer_type() -> None:
    labels = np.array([[0, 7, 7, 0], [100, 100, 0, 7]])
    for dtype in (*INTEGERS, np.dtype(">i4")):
        assert digest_of(labels.astype(dtype), "here") == 11354162659712957431  # outputs hold it
    assert measure_cells(labels, None, "here").digest == 11354162659712957431


@given(frames(), st.randoms(use_true_random=False))
def test_another_image_has_another_digest(frame: tuple[np.ndarray, Any], random: Any) -> None:
    labels = frame[0]
    digest = digest_of(labels, "here")
    assert digest == digest_in_python(labels)
    changed = labels.copy()
    pixel = tuple(random.randrange(n) for n in labels.shape)
    changed[pixel] = 5 if changed[pixel] != 5 else 6
    assert digest_of(changed, "here") != digest
    grown = np.concatenate([labels, np.zeros_like(labels[:1])])
    assert digest_of(grown, "here") != digest


def test_relabelled_moved_and_reshaped_images_have_other_digests() -> None:
    labels = np.array([[0, 1, 1, 0, 2, 0]])
    others = [
        labels[:, ::-1],
        3 - labels,
        np.roll(labels, 1),
        labels.reshape(2, 3),
        labels.T,
        np.where(labels == 2, 1, labels),
    ]
    assert len({digest_of(image, "here") for image in (labels, *others)}) == 7
