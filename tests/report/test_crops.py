"""Pieces of frames for people to look at."""

import numpy as np
from imagecodecs import png_decode

from dunno import Movie
from dunno.report.crops import Box, outline, picture, png


def area(path: str) -> float:
    """What a path's vertical lines enclose, counted by the even–odd rule."""
    steps = [part.replace("V", " ").split() for part in path.split("M") if "V" in part]
    rows: dict[int, list[int]] = {}
    for column, first, last in steps:
        for row in range(int(first), int(last)):
            rows.setdefault(row, []).append(int(column))
    return sum(b - a for columns in rows.values() for a, b in zip(*[iter(sorted(columns))] * 2, strict=True))


def test_an_outline_encloses_the_cell_and_not_its_hole() -> None:
    mask = np.zeros((9, 9), bool)
    mask[1:8, 2:7] = True
    mask[3:5, 4:6] = False
    assert area(outline(mask)) == mask.sum() == 31


def test_an_outline_at_the_border_of_the_frame_is_closed() -> None:
    assert outline(np.ones((2, 3), bool)) == "M0 0H3M0 2H3M0 0V2M3 0V2"
    assert outline(np.zeros((2, 3), bool)) == ""


def test_a_box_holds_its_points_and_stays_in_the_frame() -> None:
    box = Box.around(np.array([[1.0, 1.0], [3.0, 30.0]]), 10, (50, 40))
    assert (box.top, box.left) == (0, 1)
    assert box.height == box.width == 29
    assert Box.around(np.array([[48.0, 39.0]]), 20, (50, 40)) == Box(30, 20, 50, 40)
    assert Box.around(np.array([[5.0, 5.0]]), 100, (50, 40)) == Box(0, 0, 50, 40)


def test_a_picture_is_stretched_between_the_frames_dark_and_bright() -> None:
    image = np.linspace(1000, 2000, 400).reshape(20, 20).astype(np.uint16)
    masks = np.zeros((20, 20), np.uint16)
    masks[3:6, 3:6] = 7
    seen = picture(Movie([masks], [image]), 0)
    assert (seen.grey.min(), seen.grey.max()) == (0, 255)
    assert seen.inside(Box(0, 0, 10, 10)).tolist() == [7]
    assert seen.outline(7, Box(2, 2, 10, 10)).startswith("M1 1H4")
    assert (png_decode(png(seen.crop(Box(2, 2, 10, 12)))) == seen.grey[2:10, 2:12]).all()


def test_without_images_the_cells_are_shown_themselves() -> None:
    masks = np.array([[0, 3], [0, 0]], np.uint16)
    assert (picture(Movie([masks]), 0).grey > 0).tolist() == [[False, True], [False, False]]


def test_a_volume_is_seen_from_above() -> None:
    masks = np.zeros((3, 4, 4), np.uint16)
    masks[1, :2] = 5
    masks[2, :3] = 9
    assert picture(Movie([masks]), 0).labels[:, 0].tolist() == [5, 5, 9, 0]


def test_a_cell_behind_another_has_an_outline_though_it_is_not_seen() -> None:
    masks = np.zeros((2, 6, 6), np.uint16)
    masks[0, 1:5, 1:5] = 1
    masks[1, 2:4, 2:4] = 2
    seen = picture(Movie([masks]), 0)
    assert seen.inside(Box(0, 0, 6, 6)).tolist() == [1]
    assert area(seen.outline(2, Box(0, 0, 6, 6))) == 4
    assert seen.mask(2, Box(2, 2, 6, 6)).sum() == 4


def test_cells_that_touch_are_drawn_apart() -> None:
    grey = picture(Movie([np.array([[1, 1, 2, 2, 0]] * 2, np.uint16)]), 0).grey
    assert len(set(grey[0, :4].tolist())) == 2
    assert grey[0, 4] == 0


def test_a_huge_frame_is_stretched_like_a_small_one() -> None:
    image = np.linspace(0, 1000, 2100)[None].repeat(2100, axis=0)
    image[0, 0] = np.nan
    grey = picture(Movie([np.zeros(image.shape, np.uint16)], [image]), 0).grey
    np.testing.assert_allclose(grey[5], np.clip((image[5] - 10) / 988 * 255, 0, 255), atol=1.5)
    assert grey[0, 0] == 0
