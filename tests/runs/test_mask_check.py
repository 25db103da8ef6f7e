"""Masks are looked at before they are tracked."""

from pathlib import Path

import numpy as np
import pytest

from dunno import Movie, read
from dunno.errors import MovieError
from dunno.runs.mask_check import look_at, refuse_what_is_no_mask, what_is_no_mask, what_is_odd
from dunno.simulate import colony as simulate


def odd(*frames: np.ndarray) -> list[str]:
    movie = Movie(list(frames))
    looks = [look_at(movie.detections(t), movie) for t in range(len(movie))]
    return what_is_odd([look for look in looks if look is not None])


def square(label: int = 1, at: int = 2, size: int = 4) -> np.ndarray:
    image = np.zeros((40, 40), np.uint16)
    image[at : at + size, at : at + size] = label
    return image


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.float32])
def test_an_image_is_no_mask(kind: type) -> None:
    images = [simulate(cells=10, frames=3).movie.images(t).astype(kind) * 3 for t in range(3)]
    with pytest.raises(MovieError, match="labels in .* pieces, so this is an image, not masks; segment it first"):
        refuse_what_is_no_mask(Movie(images))


def test_an_image_in_which_every_pixel_differs_is_no_mask() -> None:
    image = np.random.default_rng(0).permutation(1600).reshape(40, 40).astype(np.uint16)
    with pytest.raises(MovieError, match="so this is an image"):
        refuse_what_is_no_mask(Movie([image, image]))


@pytest.mark.parametrize("places", ["Fluo-N2DL-HeLa/01_ST/SEG", "Fluo-N2DL-HeLa/02_ST/SEG", "Cglut-2min/01_GT/TRA"])
def test_real_images_are_refused_and_real_masks_are_not(data: Path, places: str) -> None:
    sequence, _, folder = places.rpartition("_")
    movie = read(data / sequence, masks=data / f"{sequence}_{folder}")
    refuse_what_is_no_mask(movie)
    with pytest.raises(MovieError, match="so this is an image"):
        refuse_what_is_no_mask(Movie([movie.images(t) for t in (0, len(movie) - 1)]))


def test_masks_that_do_not_tell_cells_apart_are_refused_with_the_option_that_does() -> None:
    masks = simulate(cells=10, frames=3).movie
    for value in (1, 255):
        binary = Movie([(masks.masks(t) > 0).astype(np.uint8) * value for t in range(3)])
        with pytest.raises(
            MovieError, match=f"all masks have the label {value}, in .* --label-components makes a cell"
        ):
            refuse_what_is_no_mask(binary)
    classes = Movie([1 + (masks.masks(t) > 0).astype(np.uint8) for t in range(3)])
    with pytest.raises(MovieError, match="all masks have the labels 1, 2, in"):
        refuse_what_is_no_mask(classes)


def test_one_cell_alone_is_fine() -> None:
    refuse_what_is_no_mask(Movie([square(1, at) for at in (2, 3, 4)]))
    assert what_is_no_mask([]) is None


def test_a_frame_that_cannot_be_read_is_left_to_others() -> None:
    refuse_what_is_no_mask(Movie([square(), square() / 2.0, square()]))


def test_usual_masks_are_not_odd() -> None:
    assert odd(square(1), square(2)) == []


def test_an_empty_frame_in_the_middle_is_named_with_its_cure() -> None:
    empty = np.zeros((40, 40), np.uint16)
    assert odd(square(), empty, square()) == [
        "frame 1 is empty; method JP links across up to three such frames, the others end all tracks there; segment it again, "
        "or, in a folder, take the file away"
    ]
    assert odd(square(), square(), empty) == ["frame 2 at an end of the movie has no masks; --frames leaves them out"]
    assert odd(empty, empty) == ["no frame has masks; is it the right file?"]


def test_single_pixels_and_distant_pieces_are_named() -> None:
    dirty, split = square(1) + square(7, 20, 1), square(3) + square(3, 30)
    assert odd(dirty, square()) == [
        "1 of 3 masks is a single pixel (label 7 in frame 0), and taken for cells; if they are dirt, remove them from the masks"
    ]
    assert odd(square(), split) == [
        "label 3 in frame 1 lies on distant pieces; it is taken for one cell between them; --label-components makes a cell of "
        "every piece"
    ]
