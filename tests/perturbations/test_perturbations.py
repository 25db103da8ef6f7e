import numpy as np
import pytest
from scipy import ndimage

from dunno import Movie, rooms
from dunno.costs.distance import Distance
from dunno.costs.embedding import Embedding
from dunno.errors import InputError
from dunno.perturbations.border import Border
from dunno.perturbations.ensemble import Ensemble
from dunno.perturbations.gaussian import Gaussian
from dunno.perturbations.shift import Shift
from dunno.simulate import colony as simulate
from dunno.types import Detections, FramePair

DRAWING = [Border(), Border(amplitude=3), Shift(), Shift(amplitude=4)]


@pytest.fixture(scope="module")
def pair() -> FramePair:
    movie = simulate(cells=25, frames=2, motion=0.1, seed=1).movie
    return FramePair(movie.detections(0), movie.detections(1), 30.0)


def volume_pair() -> FramePair:
    noise = ndimage.gaussian_filter(np.random.default_rng(0).normal(size=(2, 12, 24, 24)), (0, 2, 2, 2))
    movie = Movie([ndimage.label(frame > 0.05)[0] for frame in noise], scale=(2.0, 1.0, 1.0))
    return FramePair(movie.detections(0), movie.detections(1), 30.0, movie.scale)


def rng() -> np.random.Generator:
    return np.random.default_rng(5)


def test_gaussian_noise_has_its_variance_in_pixels(pair: FramePair) -> None:
    scaled = FramePair(pair.mothers, pair.daughters, 30.0, scale=(2.0, 0.5))
    draws = list(Gaussian(0.1).draws(scaled, Distance(), 400, rng()))
    noise = np.array([draw.mothers.centroid - pair.mothers.centroid for draw in draws])
    np.testing.assert_allclose(noise.var(axis=(0, 1)), [0.1 * 4, 0.1 / 4], rtol=0.05)
    np.testing.assert_allclose(noise.mean(axis=(0, 1)), 0.0, atol=0.02)


def test_gaussian_noise_falls_on_features_where_a_cost_has_them(pair: FramePair) -> None:
    cost = Embedding()
    draw = next(Gaussian(4.0).draws(pair, cost, 1, rng()))
    noise = draw.mothers.features - cost.features(pair.mothers)
    assert 1.0 < noise.std() < 3.0
    np.testing.assert_array_equal(draw.mothers.centroid, pair.mothers.centroid)


def test_no_variance_changes_nothing(pair: FramePair) -> None:
    draw = next(Gaussian(0.0).draws(pair, Distance(), 1, rng()))
    np.testing.assert_array_equal(draw.mothers.centroid, pair.mothers.centroid)


@pytest.mark.parametrize("perturbation", DRAWING)
def test_redrawn_cells_neither_vanish_nor_appear(perturbation: Border | Shift, pair: FramePair) -> None:
    for original in (pair, volume_pair()):
        for draw in perturbation.draws(original, Distance(), 5, rng()):
            for before, after in ((original.mothers, draw.mothers), (original.daughters, draw.daughters)):
                np.testing.assert_array_equal(np.unique(after.masks), np.unique(before.masks))
                np.testing.assert_array_equal(after.label, before.label)
                assert after.centroid.shape == before.centroid.shape


def changed_by(before: Detections, after: Detections, label: int) -> int:
    """How many layers a cell gained or lost, by scipy's morphology."""
    was, now = before.masks == label, after.masks == label
    if (was == now).all():
        return 0
    for layers in range(1, 5):
        if (ndimage.binary_erosion(was, iterations=layers, border_value=1) == now).all():
            return -layers
        if (ndimage.binary_dilation(was, iterations=layers) & ((before.masks == 0) | was) >= now).all() and (
            now >= was
        ).all():
            return layers
    raise AssertionError("neither thickened nor thinned")


def test_borders_gain_or_lose_whole_layers(pair: FramePair) -> None:
    draws = list(Border(2).draws(pair, Distance(), 20, rng()))
    changes = [changed_by(pair.mothers, draw.mothers, int(label)) for draw in draws for label in pair.mothers.label]
    values, counts = np.unique(changes, return_counts=True)
    assert values.tolist() == [-2, -1, 0, 1, 2]
    assert counts.min() > 0.1 * len(changes)


def test_thickened_cells_do_not_eat_each_other() -> None:
    masks = np.zeros((1, 5, 8), int)
    masks[0, 1:4, 1:4], masks[0, 1:4, 4:7] = 1, 2
    cells = Movie(masks).detections(0)
    for draw in Border().draws(FramePair(cells, cells, 9.0), Distance(), 50, rng()):
        now = draw.mothers.masks
        assert set(np.unique(now[masks[0] == 1])) <= {0, 1}
        assert set(np.unique(now[masks[0] == 2])) <= {0, 2}


def test_a_single_pixel_cannot_be_thinned_away() -> None:
    masks = np.zeros((1, 5, 5), int)
    masks[0, 2, 2] = 1
    cells = Movie(masks).detections(0)
    areas = {int(d.mothers.area[0]) for d in Border().draws(FramePair(cells, cells, 9.0), Distance(), 50, rng())}
    assert areas == {1, 5}


def test_lonely_cells_shift_by_whole_pixels() -> None:
    masks = np.zeros((1, 20, 20), int)
    masks[0, 8:12, 8:12] = 1
    cells = Movie(masks).detections(0)
    offsets = {
        tuple(draw.mothers.centroid[0] - cells.centroid[0])
        for draw in Shift(1).draws(FramePair(cells, cells, 9.0), Distance(), 200, rng())
    }
    assert offsets == {(float(y), float(x)) for y in (-1, 0, 1) for x in (-1, 0, 1)}


def test_the_ensemble_shows_cells_as_its_members_saw_them() -> None:
    movie = np.zeros((2, 10, 20), int)
    movie[:, 2:6, 2:6], movie[:, 2:6, 12:16] = 1, 2
    member = np.zeros_like(movie)
    member[:, 3:7, 2:6] = 9  # cell 1, one pixel lower; cell 2 was missed; something else was found
    member[:, 8, 8] = 4
    recording = Movie(movie)
    pair = FramePair(recording.detections(0), recording.detections(1), 9.0)
    first, second = Ensemble([member, movie]).draws(pair, Distance(), 2, rng())
    np.testing.assert_array_equal(first.mothers.centroid, [[4.5, 3.5], [3.5, 13.5]])
    np.testing.assert_array_equal(second.mothers.centroid, pair.mothers.centroid)


def test_ensembles_that_do_not_fit_are_refused(pair: FramePair) -> None:
    with pytest.raises(InputError, match="the ensemble has no members"):
        next(Ensemble().draws(pair, Distance(), 1, rng()))
    with pytest.raises(InputError, match="has 0 frames, none for frame 0"):
        next(Ensemble([[]]).draws(pair, Distance(), 1, rng()))
    with pytest.raises(InputError, match=r"a member's frame 0 has shape \(2, 2\)"):
        next(Ensemble([np.zeros((2, 2, 2), int)]).draws(pair, Distance(), 1, rng()))


@pytest.mark.parametrize("wrong", [lambda: Gaussian(-1), lambda: Border(-1), lambda: Shift(0.5)])
def test_odd_strengths_are_refused(wrong: object) -> None:
    with pytest.raises(InputError, match="expected"):
        wrong()


NEEDS_MORE = {"ensemble": "members", "dropout": "a network: tests/costs/test_transformer.py"}


@pytest.mark.parametrize("name", [name for name in rooms.members("perturbations") if name not in NEEDS_MORE])
def test_one_seed_repeats_and_another_differs(name: str, pair: FramePair) -> None:
    perturbation = rooms.find("perturbations", name)()

    def seen(seed: int) -> np.ndarray:
        draws = perturbation.draws(pair, Distance(), 3, np.random.default_rng(seed))
        return np.array([draw.daughters.centroid for draw in draws])

    np.testing.assert_array_equal(seen(1), seen(1))
    assert (seen(1) != seen(2)).any()
