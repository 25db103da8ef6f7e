"""Pictures of doubtful links."""

from base64 import b64decode

import numpy as np
import pytest
from imagecodecs import png_decode

from dunno import Movie, Tracker
from dunno.errors import MovieError
from dunno.report.link_scenes import VIEW_SIDE, TwoViews, View, scenes
from dunno.report.survey import survey
from dunno.tracking import Tracking


def decoded(view: View) -> np.ndarray:
    return png_decode(b64decode(view.image.removeprefix("data:image/png;base64,")))


def look(movie: Movie) -> list[TwoViews]:
    """Track by distance alone, and look at all links."""
    tracking = Tracker("distance", "SM", calibration=None).track(movie)
    return scenes(movie, survey(tracking.blocks, tracking.about).doubts)


def discs(centres: list[tuple[float, float]], radius: float, size: int) -> np.ndarray:
    y, x = np.mgrid[:size, :size]
    masks = np.zeros((size, size), np.uint16)
    for label, (cy, cx) in enumerate(centres, 1):
        masks[(y - cy) ** 2 + (x - cx) ** 2 < radius**2] = label
    return masks


def test_every_doubt_gets_a_scene_with_its_cells_outlined(tracking: Tracking) -> None:
    doubts = survey(tracking.blocks, tracking.about).doubts
    for doubt, scene in zip(doubts, scenes(tracking.movie, doubts), strict=True):
        assert decoded(scene.before).shape == decoded(scene.after).shape == (scene.height, scene.width)
        assert set(scene.before.outlines) == {each.label for each in doubt.mothers}
        assert set(scene.after.outlines) == {doubt.daughter}
        for mark in (*scene.before.outlines.values(), *scene.after.outlines.values()):
            assert mark.path
            assert 0 <= mark.box.left < mark.box.right <= scene.width


def test_a_crop_holds_all_of_the_candidates_and_fits_a_page() -> None:
    movie = Movie([discs([(60, 60), (60, 140)], 20, 200), discs([(60, 100)], 20, 200)])
    (scene,) = look(movie)
    mothers = scene.before.outlines
    assert [mothers[label].box.width for label in (1, 2)] == [39, 39]  # whole discs
    assert max(scene.width, scene.height) <= VIEW_SIDE


def test_huge_cells_are_scaled_down() -> None:
    rng = np.random.default_rng(0)
    masks = [discs([(700, 700)], 400, 1500), discs([(720, 720)], 400, 1500)]
    movie = Movie(masks, [rng.integers(0, 60_000, (1500, 1500)).astype(np.uint16) for _ in masks])
    (scene,) = look(movie)
    assert VIEW_SIDE / 2 < max(scene.width, scene.height) <= VIEW_SIDE
    assert len(scene.before.image) < 60_000
    assert len(scene.before.outlines[1].path) < 4000


def test_ashrunk_picture_is_the_mean_of_its_pixels() -> None:
    from dunno.report.link_scenes import shrunk

    grey = np.random.default_rng(0).integers(0, 255, (7, 5)).astype(np.uint8)
    found = shrunk(grey, 3)
    assert found.shape == (3, 2)
    assert found[0, 0] == round(grey[:3, :3].mean())
    assert found[2, 1] == round(grey[6:, 3:].mean())
    assert (shrunk(grey, 1) == grey).all()


def test_a_cell_hidden_below_another_is_outlined_too() -> None:
    volume = np.zeros((2, 4, 40, 40), np.uint16)
    volume[:, 0, 10:20, 10:20] = 1
    volume[:, 3, 12:18, 12:18] = 2
    for scene in look(Movie(volume)):
        for mark in scene.after.outlines.values():
            assert mark.path


def test_other_masks_than_those_tracked_are_refused() -> None:
    movie = Movie([discs([(20, 20)], 6, 60), discs([(22, 22)], 6, 60)])
    other = Movie([discs([(20, 20)], 6, 60), discs([(22, 22)], 9, 60)], mask_source="elsewhere")
    tracking = Tracker("distance", "SM", calibration=None).track(movie)
    doubts = survey(tracking.blocks, tracking.about).doubts
    with pytest.raises(MovieError, match="elsewhere: cell 1 of frame 1 is not the one that was tracked"):
        scenes(other, doubts)


def test_each_frame_is_read_once(tracking: Tracking) -> None:
    asked: list[int] = []

    class Counting:
        def __len__(self) -> int:
            return len(tracking.movie)

        def __getitem__(self, t: int) -> np.ndarray:
            asked.append(t)
            return tracking.movie.masks(t)

    movie = Movie(Counting())
    asked.clear()
    scenes(movie, survey(tracking.blocks, tracking.about).doubts)
    assert len(asked) == len(set(asked))
