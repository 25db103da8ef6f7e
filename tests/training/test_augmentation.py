import numpy as np
import pytest

from dunno import Movie
from dunno.training import augmentation
from dunno.training.augmentation import augment, brightened, crop, mapped, random_map
from dunno.training.windows import Window
from dunno.transformer.tokens import tokens_of

pytest.importorskip("trackastra")


def window(n: int = 60, d: int = 2, seed: int = 0) -> Window:
    rng = np.random.default_rng(seed)
    time = np.sort(rng.integers(0, 4, n))
    shape = rng.random((n, d, d))
    inertia = np.einsum("nij,nkj->nik", shape, shape).reshape(n, d * d)
    features = np.column_stack([rng.random((n, 2)), inertia, rng.random(n)]).astype(np.float32)
    place = (1000 * rng.random((n, d))).astype(np.float32)
    return Window(time, place, features, rng.random((n, n)) < 0.1, 4)


def ellipse(matrix: np.ndarray, size: int = 241) -> np.ndarray:
    """A mask: the unit disc under a map, in pixels."""
    grid = np.stack(np.meshgrid(*[np.arange(size) - size // 2] * 2, indexing="ij"), axis=-1)
    return (np.linalg.norm(grid @ np.linalg.inv(matrix).T, axis=-1) <= 1).astype(np.uint8)


@pytest.mark.parametrize("seed", range(4))
def test_a_map_changes_features_as_it_would_change_the_mask(seed: int) -> None:
    """Drawn, mapped and measured; or drawn, measured and mapped."""
    matrix = random_map(2, np.random.default_rng(seed))
    matrix /= abs(np.linalg.det(matrix)) ** 0.25
    before = np.array([[30.0, 8.0], [0.0, 20.0]])
    one, other = (
        tokens_of(Movie([ellipse(shape)]).detections(0), (1, 1), 2, False).features
        for shape in (before, matrix @ before)
    )
    given = Window(np.zeros(1, int), np.zeros((1, 2), np.float32), one, np.zeros((1, 1), bool), 1)
    np.testing.assert_allclose(mapped(given, matrix).features, other, rtol=0.02, atol=6.0)  # of about 400


@pytest.mark.parametrize("d", [2, 3])
def test_a_map_and_its_inverse_change_nothing(d: int) -> None:
    given, matrix = window(d=d), random_map(d, np.random.default_rng(3))
    back = mapped(mapped(given, matrix), np.linalg.inv(matrix))
    np.testing.assert_allclose(back.place, given.place, rtol=1e-3, atol=1e-2)
    np.testing.assert_allclose(back.features, given.features, rtol=1e-3, atol=1e-3)


def test_maps_flip_turn_and_stretch_by_up_to_two_and_a_half() -> None:
    maps = [random_map(2, np.random.default_rng(seed)) for seed in range(300)]
    sizes = np.array([abs(np.linalg.det(each)) ** 0.5 for each in maps])
    assert 0.35 < sizes.min() < 0.6
    assert 1.7 < sizes.max() < 2.8
    assert 100 < sum(np.linalg.det(each) < 0 for each in maps) < 200


def test_brightness_changes_intensities_only() -> None:
    given = window()
    changed = brightened(given, 2.0, 0.5).features
    np.testing.assert_allclose(changed[:, 1], 2 * given.features[:, 1] + 0.5, rtol=1e-6)
    np.testing.assert_array_equal(np.delete(changed, 1, axis=1), np.delete(given.features, 1, axis=1))


@pytest.mark.parametrize("seed", range(5))
def test_a_crop_is_a_box_with_the_links_inside(seed: int) -> None:
    given = window(400)
    cropped = crop(given, 256, np.random.default_rng(seed))
    assert 1 <= len(cropped) < len(given)
    assert (np.ptp(cropped.place, axis=0) <= 512).all()
    rows = [int(np.flatnonzero((given.place == place).all(axis=1))[0]) for place in cropped.place]
    np.testing.assert_array_equal(cropped.link, given.link[np.ix_(rows, rows)])


def test_a_crowd_is_cropped_further(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(augmentation, "MOST_CELLS_OF_A_WINDOW", 20)
    for seed in range(10):
        assert 1 <= len(crop(window(2000), 256, np.random.default_rng(seed))) <= 20


def test_one_seed_repeats_and_two_differ() -> None:
    one, again, other = (augment(window(), 256, np.random.default_rng(seed)) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one.place, again.place)
    np.testing.assert_array_equal(one.features, again.features)
    assert one.place.shape != other.place.shape or (one.place != other.place).any()


def test_nothing_stays_nothing() -> None:
    assert len(augment(window(0), 256, np.random.default_rng(0))) == 0
