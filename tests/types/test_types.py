import pickle

import numpy as np
import pytest

from dunno import Movie
from dunno.errors import MovieError


def test_a_movie_reads_its_frames_and_finds_its_cells(colony: Movie) -> None:
    assert len(colony) == 3
    assert colony.frames.tolist() == [0, 1, 2]
    cells = colony.detections(1)
    assert cells.label.tolist() == [1, 2, 3, 4]
    assert cells.area.tolist() == [4, 2, 4, 1]
    np.testing.assert_array_equal(cells.centroid, [[1.5, 1.5], [4.5, 5.0], [1.5, 8.5], [5.0, 8.0]])
    np.testing.assert_array_equal(cells.bbox[0], [[1, 1], [3, 3]])


def test_scale_makes_places_and_areas_physical(colony: Movie) -> None:
    scaled = Movie([colony.masks(0)], scale=(2.0, 0.5))
    cells = scaled.detections(0)
    np.testing.assert_array_equal(cells.centroid[0], [3.0, 0.75])
    assert cells.area[0] == 4.0
    np.testing.assert_array_equal(cells.bbox[0], [[1, 1], [3, 3]])


def test_every_views_fewer_frames_and_keeps_their_original_indices() -> None:
    movie = Movie(np.arange(10)[:, None, None] * np.ones((10, 2, 2), int), interval=3.0)
    view = movie.every(3, start=1)
    assert view.frames.tolist() == [1, 4, 7]
    assert view.masks(1)[0, 0] == 4
    assert view.interval == 9.0
    assert view.every(2).frames.tolist() == [1, 7]
    assert view.every(2).masks(1)[0, 0] == 7
    assert view.detections(2).frame == 7


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"masks": np.zeros((0, 3, 3), int)}, "the movie has no frames"),
        ({"masks": np.zeros((3, 3), int)}, r"expected \(Y, X\) or \(Z, Y, X\)"),
        ({"masks": np.zeros((2, 3, 3), int), "images": np.zeros((3, 3, 3))}, "2 mask frames but 3 image frames"),
        ({"masks": np.zeros((2, 3, 3), int), "scale": (1, 2, 3)}, "3 scale values for 2 dimensions; expected y,x"),
        ({"masks": np.zeros((2, 3, 3), int), "scale": (1, 0)}, "above zero"),
        ({"masks": np.zeros((2, 3, 3), int), "interval": -1}, "the interval is -1"),
    ],
)
def test_what_is_no_movie_is_refused(arguments: dict, message: str) -> None:
    with pytest.raises(MovieError, match=message):
        Movie(**arguments)


def test_a_frame_of_another_shape_is_refused_when_it_is_read() -> None:
    movie = Movie([np.zeros((3, 3), int), np.zeros((3, 4), int)])
    with pytest.raises(MovieError, match=r"frame 1: a frame of shape \(3, 4\), but the movie's first one has \(3, 3\)"):
        movie.masks(1)


def test_a_movie_without_images_says_so(colony: Movie) -> None:
    with pytest.raises(MovieError, match="has masks but no images"):
        colony.images(0)


@pytest.mark.parametrize(("n", "start"), [(0, 0), (-1, 0), (1, -1), (1.5, 0)])
def test_odd_steps_are_refused(colony: Movie, n: int, start: int) -> None:
    with pytest.raises(MovieError, match="expected a step of at least 1"):
        colony.every(n, start)


def test_dask_and_zarr_arrays_are_movies_and_movies_pickle(colony: Movie) -> None:
    dask_array = pytest.importorskip("dask.array")
    import zarr

    stack = np.stack([colony.masks(t) for t in range(3)])
    for source in (dask_array.from_array(stack, chunks=(1, 6, 12)), zarr.array(stack)):
        movie = Movie(source)
        np.testing.assert_array_equal(movie.masks(2), stack[2])
    copy = pickle.loads(pickle.dumps(colony.every(2)))
    np.testing.assert_array_equal(copy.masks(1), stack[2])


def test_what_is_made_from_a_frames_pixels_is_made_once_and_kept_with_them(colony: Movie) -> None:
    cells = colony.detections(0)
    calls: list[int] = []
    for _ in range(2):
        assert cells.once("sum", lambda: calls.append(1) or int(cells.masks.sum())) == 18
    assert calls == [1]
    redrawn = cells.moved(cells.masks.copy(), (1.0, 1.0))
    redrawn.once("sum", lambda: calls.append(2))
    assert calls == [1, 2]
    with pytest.raises(MovieError, match="came without pixels"):
        cells.without_pixels().once("sum", lambda: 0)
