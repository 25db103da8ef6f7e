"""Cells as rows, and movies that are seen through cells measured before."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from dunno import Movie
from dunno.errors import MovieError
from dunno.types import Cells, Detections, KeptCells

COLUMNS = ("total", "brightness", "texture", "covariance", "touching", "pieces")


def bars() -> np.ndarray:
    """A bar of 2 × 6 pixels, one of 5 × 1, a diagonal, and a single pixel."""
    labels = np.zeros((12, 14), np.uint16)
    labels[1:3, 1:7] = 1
    labels[5:10, 2] = 2
    labels[range(5, 9), range(6, 10)] = 3
    labels[1, 12] = 4
    return labels


@pytest.fixture
def lit(colony: Movie) -> Movie:
    """The colony with images in which a cell's pixels are ten times its label, in a background of 3."""
    masks = [colony.masks(t) for t in range(3)]
    return Movie(masks, [np.where(frame > 0, 10 * frame, 3) for frame in masks])


def test_cells_made_by_hand_need_no_more_than_a_place() -> None:
    cells = Detections(label=np.array([1]), centroid=np.ones((1, 2)), area=np.ones(1), bbox=np.ones((1, 2, 2), int))
    assert all(getattr(cells, name) is None for name in (*COLUMNS, "background", "digest"))
    with pytest.raises(MovieError, match="the shape of these cells was not measured"):
        _ = cells.elongation


def test_a_bar_is_as_elongated_as_its_sides_are() -> None:
    cells = Movie([bars()]).detections(0)
    np.testing.assert_allclose(cells.elongation[[0, 1, 3]], [3.0, 5.0, 1.0])
    np.testing.assert_allclose(cells.orientation[[0, 1]], [[0, 1], [1, 0]], atol=1e-12)
    np.testing.assert_allclose(cells.orientation[2], [np.sqrt(0.5), np.sqrt(0.5)])
    assert cells.elongation.min() >= 1


def test_shapes_are_physical() -> None:
    cells = Movie([bars()], scale=(3.0, 0.5)).detections(0)
    assert cells.covariance is not None
    np.testing.assert_allclose(cells.elongation[[0, 3]], [2.0, 6.0])  # 2 × 3 is 6 high, 6 × 0.5 is 3 wide
    np.testing.assert_allclose(cells.covariance[0], np.diag([6.0**2 / 12, 3.0**2 / 12]))
    np.testing.assert_allclose(cells.orientation[0], [1, 0])


def test_a_movie_measures_light_where_it_has_images(lit: Movie, colony: Movie) -> None:
    cells = lit.detections(1)
    assert cells.brightness is not None and cells.total is not None and cells.texture is not None
    assert cells.brightness.tolist() == [10, 20, 30, 40]
    assert cells.total.tolist() == [40, 40, 120, 40]
    assert cells.texture.tolist() == [0, 0, 0, 0]
    assert cells.background == 3.0
    dark = colony.detections(1)
    assert (dark.brightness, dark.background) == (None, None)
    assert dark.digest == cells.digest


def test_a_frame_whose_image_cannot_be_used_has_cells_without_light(colony: Movie) -> None:
    movie = Movie([colony.masks(0)] * 2, [np.ones((6, 12)), np.ones((3, 3))])
    cells, problem = movie.measure(1)
    assert problem is not None and problem.startswith("frame 1: a frame of shape (3, 3)")
    assert cells.brightness is not None and np.isnan(cells.brightness).all() and len(cells.brightness) == 3
    assert cells.background is not None and np.isnan(cells.background)
    assert movie.measure(0)[1] is None
    assert movie.detections(1).label.tolist() == [1, 2, 3]
    with pytest.raises(MovieError, match="a frame of shape"):
        _ = movie.detections(1).images


def test_cells_under_other_masks_keep_nothing_that_was_measured_under_theirs(lit: Movie) -> None:
    cells = lit.detections(0)
    redrawn = cells.moved(np.roll(cells.masks, 1, axis=1), (1.0, 1.0))
    assert all(getattr(redrawn, name) is None for name in (*COLUMNS, "background", "digest"))


def test_a_table_gives_back_its_frames(lit: Movie) -> None:
    frames = [lit.detections(t) for t in range(3)]
    empty = replace(lit.blanked([1]).detections(1))
    table = Cells.of([*frames, empty])
    assert (len(table), table.n_frames) == (11, 4)
    assert table.frame.tolist() == [0] * 3 + [1] * 4 + [2] * 4
    assert table.rows(1) == slice(3, 7)
    for t, cells in enumerate([*frames, empty]):
        again = table.at(t)
        for name in ("label", "centroid", "area", "bbox", *COLUMNS):
            np.testing.assert_array_equal(getattr(again, name), getattr(cells, name), err_msg=name)
        assert (again.frame, again.digest) == (cells.frame, cells.digest)
        np.testing.assert_equal(again.background, cells.background)
    assert empty.digest is None and len(empty) == 0


def test_a_table_leaves_out_what_some_cells_lack(lit: Movie, colony: Movie) -> None:
    table = Cells.of([lit.detections(0), colony.detections(1)])
    assert table.brightness is None
    assert table.covariance is not None
    assert np.isnan(table.columns()["brightness"]).all()
    assert np.isnan(table.background[1]) and table.at(0).background is None


def test_the_columns_of_a_table_for_people() -> None:
    columns = Cells.of([Movie([bars()], scale=2.0).detections(0)]).columns()
    assert list(columns) == [
        *("frame", "label", "y", "x", "area", "brightness", "total", "texture", "background", "elongation"),
        *("orientation", "touching", "pieces", "begin_y", "begin_x", "end_y", "end_x"),
    ]
    np.testing.assert_allclose(columns["orientation"][:3], [0, 90, 45])
    assert columns["end_x"].tolist() == [7, 3, 10, 13]
    volume = Cells.of([Movie([np.stack([bars(), bars()])]).detections(0)]).columns()
    assert [name for name in volume if name.startswith("orientation")] == [
        *("orientation_z", "orientation_y", "orientation_x"),
    ]
    np.testing.assert_allclose(volume["orientation_x"][0], 1)
    assert list(volume)[2:5] == ["z", "y", "x"]


class Counted:
    """Frames that count how often each is read."""

    def __init__(self, frames: list[np.ndarray]) -> None:
        self.frames, self.frame_shape = frames, frames[0].shape
        self.reads = [0] * len(frames)

    def __len__(self) -> int:
        return len(self.frames)

    def __getitem__(self, t: int) -> np.ndarray:
        self.reads[t] += 1
        return self.frames[t]


def kept(movie: Movie) -> KeptCells:
    return KeptCells({t: movie.detections(t).without_pixels() for t in range(len(movie))})


def test_a_view_with_cells_reads_pixels_only_when_they_are_asked_for(lit: Movie) -> None:
    masks = Counted([lit.masks(t) for t in range(3)])
    movie = Movie(masks).with_cells(kept(lit))
    assert movie.has_cells
    cells = movie.detections(2)
    assert masks.reads == [0, 0, 0]
    assert cells.brightness is not None and cells.brightness.tolist() == [10, 20, 30, 40]
    np.testing.assert_array_equal(cells.masks, lit.masks(2))
    assert masks.reads == [0, 0, 1]


def test_views_of_a_view_keep_to_their_own_frames(lit: Movie) -> None:
    view = lit.with_cells(kept(lit))
    for part, frame in ((view.every(2), 2), (view.part(slice(1, 3)), 2), (view.part(slice(1, 3)).every(1), 2)):
        assert part.detections(1).frame == frame
        again = pickle.loads(pickle.dumps(part))
        assert again.detections(1).digest == lit.detections(frame).digest
        np.testing.assert_array_equal(again.masks(1), lit.masks(frame))
    assert list(pickle.loads(pickle.dumps(view.every(2)))._cells.frames) == [0, 2]


def test_masks_that_have_changed_are_refused_with_their_frame(lit: Movie) -> None:
    masks = [lit.masks(t) for t in range(3)]
    masks[1] = np.where(masks[1] > 0, 5 - masks[1].astype(int), 0)  # the same cells under other labels
    movie = Movie(masks, frames=np.array([10, 20, 30])).with_cells(
        KeptCells({t: replace(lit.detections(t), frame=10 * t + 10) for t in range(3)})
    )
    movie.masks(0)
    with pytest.raises(
        MovieError, match=r"^frame 20: the masks have changed since they were measured .*track the movie"
    ):
        movie.masks(1)
    with pytest.raises(MovieError, match="frame 20: the masks have changed"):
        _ = movie.detections(1).masks
    assert not movie.blanked([1]).masks(1).any()


def test_cells_of_another_frame_are_refused(lit: Movie) -> None:
    view = lit.every(2).with_cells(kept(lit))
    with pytest.raises(MovieError, match="the cells of frame 1 are kept where frame 2 is"):
        view.detections(1)


def test_a_frame_that_could_not_be_read_says_so_again(lit: Movie) -> None:
    source = kept(lit)
    view = lit.with_cells(KeptCells(source.frames, {1: "m1.tif: cannot be read"}))
    for movie in (view, pickle.loads(pickle.dumps(view.part(slice(0, 2))))):
        assert len(movie.detections(0)) == 3
        with pytest.raises(MovieError, match="m1.tif: cannot be read"):
            movie.detections(1)
    assert len(view.blanked([1]).detections(1)) == 0
