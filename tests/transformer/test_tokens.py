from pathlib import Path

import numpy as np
import pytest

from dunno import Movie
from dunno.errors import MovieError
from dunno.perturbations.shift import Shift
from dunno.simulate import colony as simulate
from dunno.transformer.model_folder import import_trackastra
from dunno.transformer.tokens import tokens_of
from dunno.types import FramePair

pytest.importorskip("trackastra")


@pytest.fixture(scope="module")
def movie() -> Movie:
    return simulate(cells=12, frames=2, motion=0.3, seed=1).movie


def trackastras(movie: Movie, t: int) -> tuple[np.ndarray, np.ndarray]:
    """Places and features as Trackastra's own pipeline has them."""
    import_trackastra()
    from trackastra.data import get_features
    from trackastra.utils import normalize

    masks, images = movie.masks(t)[None], normalize(movie.images(t))[None]
    (found,) = get_features(masks, images, ndim=movie.n_dimensions, progbar_class=lambda items, **more: items)
    return found.coords, found.features_stacked


def test_they_are_trackastras_own(movie: Movie) -> None:
    tokens = tokens_of(movie.detections(0), movie.scale, 2, True)
    place, features = trackastras(movie, 0)
    np.testing.assert_allclose(tokens.place, place, rtol=1e-6)
    np.testing.assert_allclose(tokens.features, features, rtol=1e-4, atol=1e-5)
    assert tokens.features.shape == (12, 7)
    assert np.isfinite(tokens.features).all()


def test_in_3d_too() -> None:
    masks = np.zeros((1, 9, 20, 20), np.uint16)
    masks[0, 2:5, 3:8, 4:9], masks[0, 5:8, 12:17, 11:19] = 7, 3
    images = np.random.default_rng(0).random(masks.shape)
    recording = Movie(masks, images)
    tokens = tokens_of(recording.detections(0), recording.scale, 3, True)
    place, features = trackastras(recording, 0)
    np.testing.assert_allclose(tokens.place, place, rtol=1e-6)
    np.testing.assert_allclose(tokens.features, features, rtol=1e-4, atol=1e-5)
    assert tokens.features.shape == (2, 12)


def test_labels_may_be_huge(movie: Movie) -> None:
    names = np.concatenate([[0], np.arange(20) * 100_000_000 + 5]).astype(np.int64)
    renamed = Movie([names[movie.masks(0)]], [movie.images(0)])
    one, other = (tokens_of(each.detections(0), each.scale, 2, True) for each in (movie, renamed))
    np.testing.assert_array_equal(one.features, other.features)


def test_places_are_in_pixels_whatever_the_scale(movie: Movie) -> None:
    scaled = Movie([movie.masks(0)], [movie.images(0)], scale=(0.3, 0.3))
    one, other = (tokens_of(each.detections(0), each.scale, 2, True) for each in (movie, scaled))
    np.testing.assert_allclose(one.place, other.place, rtol=1e-5)


def test_a_2d_movie_is_a_slice_to_a_model_for_3d(movie: Movie) -> None:
    tokens = tokens_of(movie.detections(0), movie.scale, 3, True)
    assert tokens.place.shape == (12, 3)
    assert (tokens.place[:, 0] == 0).all()
    assert tokens.features.shape == (12, 12)


def test_a_3d_movie_is_refused_by_a_model_for_2d() -> None:
    recording = Movie(np.ones((1, 3, 4, 5), np.uint8))
    with pytest.raises(MovieError, match="the model is for 2D"):
        tokens_of(recording.detections(0), recording.scale, 2, False)


def test_a_frame_without_cells_has_none() -> None:
    recording = Movie(np.zeros((1, 8, 9), np.uint8), np.zeros((1, 8, 9)))
    tokens = tokens_of(recording.detections(0), recording.scale, 2, True)
    assert tokens.place.shape == (0, 2)
    assert tokens.features.shape == (0, 7)


def test_a_movie_without_images_is_refused_where_the_model_wants_them(movie: Movie) -> None:
    masks = Movie([movie.masks(0)], name="bare")
    with pytest.raises(MovieError, match="bare: has masks but no images"):
        tokens_of(masks.detections(0), masks.scale, 2, True)
    assert (tokens_of(masks.detections(0), masks.scale, 2, False).features[:, 1] == 0).all()


def test_cells_under_other_masks_are_measured_anew(movie: Movie) -> None:
    """A perturbation leaves out what was measured of the masks before."""
    cells = movie.detections(0)
    (shifted,) = Shift(2).draws(FramePair(cells, cells, 1e3, movie.scale), None, 1, np.random.default_rng(0))
    redrawn = Movie([shifted.mothers.masks], [movie.images(0)])
    tokens = tokens_of(shifted.mothers, movie.scale, 2, True)
    expected = tokens_of(redrawn.detections(0), movie.scale, 2, True)
    np.testing.assert_allclose(tokens.features, expected.features, rtol=1e-6)
    assert (tokens.features != tokens_of(cells, movie.scale, 2, True).features).any()


def test_importing_dunno_imports_no_torch(tmp_path: Path) -> None:
    import subprocess
    import sys

    code = "import dunno, dunno.rooms, sys; dunno.rooms.members('costs'); dunno.rooms.members('perturbations')"
    code += "; import dunno.training.train, dunno.cli; assert not {'torch', 'trackastra'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)
