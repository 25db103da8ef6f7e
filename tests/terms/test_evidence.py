"""What sizes, brightness and shapes say: against closed forms, and fitted back from cells that were drawn from the laws."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import dblquad, quad
from scipy.special import ndtr

from dunno import rooms
from dunno.models.expectation import expect, maximise
from dunno.models.model import Model, start_model
from dunno.terms import PLACES, Sisters
from dunno.terms.brightness import Brightness
from dunno.terms.jumps import Jumps
from dunno.terms.overlap import Overlap
from dunno.terms.parting import Parting
from dunno.terms.shape import NO_PREFERENCE, STIFFNESSES, Shape, _log_ratio, _stiffness
from dunno.terms.size import Size
from dunno.terms.touching import PASSING, Touching
from dunno.types import Candidates, Detections
from dunno.types.field import Field
from dunno.types.stretch import Stretch, Transition

FIELD = Field((0.0, 0.0), (1000.0, 1000.0))


def frame(place: np.ndarray, area: np.ndarray, t: int, **more: np.ndarray | float) -> Detections:
    n, d = place.shape
    return Detections(np.arange(1, n + 1), place, area, np.zeros((n, 2, d), np.int64), t, **more)  # type: ignore[arg-type]


def stretch_between(mothers: Detections, daughters: Detections) -> Stretch:
    m, n = len(mothers), len(daughters)
    every = Candidates(np.tile(np.arange(m), n), np.repeat(np.arange(n), m))
    return Stretch.of([Transition(mothers, daughters, every, np.ones(m))])


def growing_cells(rng: np.random.Generator, n: int = 400, growth: float = 0.06, spread: float = 0.05) -> Stretch:
    """Cells far from each other that grow, and a tenth of which divide into halves."""
    place = np.stack(np.meshgrid(np.arange(20.0), np.arange(20.0)), axis=-1).reshape(-1, 2)[:n] * 50
    area = np.exp(rng.normal(5, 0.4, n))
    divides = np.arange(n) % 10 == 0
    grown = area * np.exp(growth + spread * rng.standard_t(4, n))
    share = 0.5 + 0.02 * rng.standard_normal(n)
    one = np.where(divides, grown * share, grown)
    other = (grown * (1 - share))[divides]
    shift = np.where(divides, 6.0, 0.0)[:, None] * np.array([0.0, 1.0])
    moved = place + rng.normal(0, 1, (n, 2))
    places = np.concatenate([moved + shift, moved[divides] - 6.0 * np.array([0.0, 1.0])])
    return stretch_between(frame(place, area, 0), frame(places, np.concatenate([one, other]), 1))


def fitted(stretch: Stretch, *names: str, rounds: int = 12) -> Model:
    near = np.einsum("ed,ed->e", stretch.step, stretch.step) < 25.0**2
    stretch = stretch.among(near)
    model = start_model(stretch, FIELD, 12.0, (*PLACES, *names))
    for _ in range(rounds):
        model = maximise(expect(model, stretch), np.ones((1, 1)))
    return model


def test_growth_and_its_spread_come_back() -> None:
    model = fitted(growing_cells(np.random.default_rng(0)), "parting", "size", "jumps")
    size = model.term("size")
    assert size.growth == pytest.approx(0.06, abs=0.01)
    assert size.spread == pytest.approx(0.05, rel=0.2)
    assert size.memory == pytest.approx(1.0, abs=0.03)
    assert size.divided == pytest.approx(0.06 / (1 + 20 / 40), abs=0.03)  # drawn to 0 by a prior worth 20 divisions
    assert size.parameters()[0].name == "size_growth"


def test_growth_is_told_in_percent() -> None:
    words = Size(growth=float(np.log(1.058))).parameters()[0].words
    assert words is not None
    assert (round(words.number(np.log(1.058)), 1), words.unit) == (5.8, "% in size per step")


def test_daughters_that_part_come_back() -> None:
    parting = fitted(growing_cells(np.random.default_rng(1)), "parting").term("parting")
    assert parting.parted == pytest.approx(6.0, rel=0.1)
    assert parting.middle_scale == pytest.approx(1.0, rel=0.4)


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("stiffness", [0.3, 5.0, 80.0])
def test_an_axis_law_is_a_density(d: int, stiffness: float) -> None:
    if d == 2:
        total = quad(lambda a: np.exp(_log_ratio(stiffness, np.cos(a) ** 2, 2)) / np.pi, 0, np.pi)[0]
    else:
        total = quad(lambda c: np.exp(_log_ratio(stiffness, c**2, 3)), 0, 1)[0]
    assert total == pytest.approx(1.0, abs=1e-6)


def test_a_division_of_places_is_a_density_of_both_daughters() -> None:
    """Relative to two Gaussians, the ratio's mean under them is 1; here by Monte Carlo."""
    rng = np.random.default_rng(2)
    term = Parting(1.0, 2.0, 0.3, 1e-3, alone_scale=6.0)
    places = rng.normal(0, np.sqrt(6.0), (400_000, 2))
    stretch = stretch_between(frame(np.zeros((1, 2)), np.ones(1), 0), frame(places, np.ones(len(places)), 1))
    half = len(places) // 2
    ratio = np.exp(term._ratio(stretch, Sisters(np.arange(half), np.arange(half, 2 * half))))
    assert ratio.mean() == pytest.approx(1.0, abs=4 * ratio.std() / np.sqrt(half))


def test_a_division_of_sizes_is_a_density_of_both_daughters() -> None:
    term = replace(Size(divided=0.1, divided_spread=0.2, unlike=0.3), centre=0.0, width=1.0)

    def density(one: float, other: float) -> float:
        areas = np.exp([one, other])
        stretch = stretch_between(frame(np.zeros((1, 2)), np.ones(1), 0), frame(np.zeros((2, 2)), areas, 1))
        population = term._population(stretch)[1:].sum()
        return float(np.exp(term.sister_ratio(stretch, Sisters(np.array([0]), np.array([1])))[0] + population))

    total = dblquad(density, -6, 5, -6, 5, epsabs=2e-3)[0]
    assert total == pytest.approx(1.0, abs=0.02)


def test_what_features_say_together_is_bounded() -> None:
    jumps = Jumps(0.05, 0.1)
    ratio = np.array([-1e6, -3.0, 0.0, 2.0, 1e6])
    bounded = jumps.bounded(ratio)
    assert bounded[0] == pytest.approx(np.log(0.05))
    assert bounded[-1] == pytest.approx(np.log(0.95 * np.exp(3.0) + 0.05))
    assert (np.diff(bounded) >= 0).all()
    assert jumps.steady(ratio)[0] == pytest.approx(0.0, abs=1e-9)
    assert jumps.bounded_of_sisters(ratio)[0] == pytest.approx(np.log(0.1))


def test_size_settles_what_places_cannot() -> None:
    """Two cells side by side change places as likely as not; one is large and one small."""
    mothers = frame(np.array([[0.0, 0.0], [0.0, 4.0]]), np.array([100.0, 200.0]), 0)
    daughters = frame(np.array([[0.0, 1.99], [0.0, 2.01]]), np.array([205.0, 98.0]), 1)
    stretch = stretch_between(mothers, daughters)
    model = start_model(stretch, FIELD, 10.0)
    blind = expect(model, stretch).found.edge.reshape(2, 2)
    size = replace(Size(spread=0.05), centre=5.0, width=0.4)
    seen = expect(replace(model, terms=(*model.terms, size, Jumps(0.05, 0.05))), stretch).found.edge.reshape(2, 2)
    assert blind[0, 0] == pytest.approx(0.5, abs=0.1)
    assert seen[0, 1] > 0.9
    assert seen[1, 0] > 0.9


def test_brightness_beside_size_says_nothing_twice() -> None:
    """Where brightness follows from size alone, the fit finds it out, and the spread is what is left."""
    rng = np.random.default_rng(3)
    n = 400
    place = np.stack(np.meshgrid(np.arange(20.0), np.arange(20.0)), axis=-1).reshape(-1, 2) * 50
    area = np.exp(rng.normal(5, 0.4, n))
    later = area * np.exp(0.2 * rng.standard_normal(n))

    def light(size: np.ndarray) -> np.ndarray:
        return np.asarray(100 * size / 150 * np.exp(0.02 * rng.standard_normal(n)))

    first = frame(place, area, 0, brightness=light(area), background=0.0)
    second = frame(place + rng.normal(0, 1, (n, 2)), later, 1, brightness=light(later), background=0.0)
    term = fitted(stretch_between(first, second), "brightness", "jumps").term("brightness")
    assert term.follows_size == pytest.approx(1.0, abs=0.1)
    assert term.spread < 0.05


def test_brightness_needs_images() -> None:
    cells = frame(np.zeros((1, 2)), np.ones(1), 0)
    assert not Brightness.can_see(stretch_between(cells, frame(np.zeros((1, 2)), np.ones(1), 1)))


def test_rods_keep_their_axis_and_divide_along_it() -> None:
    rng = np.random.default_rng(4)
    n = 300
    place = np.stack(np.meshgrid(np.arange(20.0), np.arange(15.0)), axis=-1).reshape(-1, 2) * 50
    angle = rng.uniform(0, np.pi, n)
    turned = angle + 0.1 * rng.standard_normal(n)
    divides = np.arange(n) % 5 == 0

    def rods(angles: np.ndarray) -> np.ndarray:
        axis = np.stack([np.sin(angles), np.cos(angles)], axis=1)
        return np.asarray(np.einsum("ni,nj->nij", axis, axis) * 15 + np.eye(2))

    along = np.stack([np.sin(angle), np.cos(angle)], axis=1) * np.where(divides, 6.0, 0.0)[:, None]
    places = np.concatenate([place + along, (place - along)[divides]]) + rng.normal(0, 0.5, (n + divides.sum(), 2))
    turned = np.concatenate([turned, turned[divides]])
    first = frame(place, np.ones(n), 0, covariance=rods(angle))
    second = frame(places, np.ones(len(places)), 1, covariance=rods(turned))
    shape = fitted(stretch_between(first, second), "shape", "jumps").term("shape")
    weight = (1 - 1 / 4) ** 2  # of two rods four times as long as wide
    assert shape.keeping * weight == pytest.approx(1 / (4 * 0.1**2), rel=0.4)  # κ of 2Δ, for small angles
    assert shape.parting_along > 5


def test_round_cells_say_nothing_about_axes() -> None:
    cells = [frame(np.zeros((1, 2)), np.ones(1), t, covariance=np.eye(2)[None]) for t in range(2)]
    stretch = stretch_between(*cells)
    assert not Shape.can_see(stretch)
    assert Shape(keeping=100.0).single_ratio(stretch) == pytest.approx(0.0)


def test_ready_cells_divide_more() -> None:
    rng = np.random.default_rng(5)
    stretch = growing_cells(rng)
    large = np.zeros(stretch.n_rows)
    large[:400:10] = 1.5  # those that divide are the largest
    area = np.exp(5 + large[:400] + 0.2 * rng.standard_normal(400))
    cells = (replace(stretch.cells[0], area=area), stretch.cells[1])
    model = fitted(replace(stretch, cells=cells, _columns={}), "readiness")
    assert model.term("readiness").ready_large > 0.5


@pytest.mark.parametrize("name", ["size", "brightness", "shape", "parting", "readiness", "score"])
def test_evidence_has_a_name_and_a_place_in_the_order(name: str) -> None:
    term = rooms.find("terms", name)
    assert term.name == name
    assert (term.rank > 0) == (name != "score")


def pushing(distance: float, scale: float) -> tuple[Touching, Stretch]:
    """Two cells that keep their distance, stay or have changed places, and many that set how close cells come."""
    place = np.array([[500.0, 500.0], [500.0, 500.0 + distance]])
    mothers = frame(place, np.full(2, 30.0), 0)
    every = Candidates(np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1]))
    stretch = Stretch.of([Transition(mothers, frame(place, np.full(2, 30.0), 1), every, np.ones(2))])
    return Touching(1.2 * distance, scale, np.inf), stretch


def test_cells_that_push_each_other_change_places_as_often_as_they_pass() -> None:
    term, stretch = pushing(distance=10.0, scale=16.0)
    motion = -0.5 * stretch.squared / 16.0 + term.log_single(stretch)
    stay, swap = motion[0] + motion[3], motion[1] + motion[2]
    exchange, alone = np.sqrt(PASSING * ndtr(-10 / np.sqrt(32.0))), np.exp(-100 / 32)
    assert swap - stay == pytest.approx(2 * np.log((exchange + alone) / (1 + exchange * alone)))
    assert term.unseen(stretch) == pytest.approx(PASSING * ndtr(-10 / np.sqrt(32.0)) - np.exp(-100 / 16), rel=1e-6)


def test_cells_far_apart_or_slow_do_not_push() -> None:
    term, stretch = pushing(distance=10.0, scale=16.0)
    np.testing.assert_allclose(replace(term, contact=5.0).log_single(stretch), 0.0)
    assert replace(term, contact=5.0).unseen(stretch) == 0.0
    assert replace(term, scale=1.0).unseen(stretch) < 1e-6


def test_overlap_counts_distance_in_units_of_the_cells_outlines() -> None:
    long = np.diag([16.0, 1.0])
    mothers = frame(np.array([[0.0, 0.0]]), np.full(1, 30.0), 0, covariance=long[None])
    ends = np.array([[4.0, 0.0], [0.0, 4.0]])
    daughters = frame(ends, np.full(2, 30.0), 1, covariance=np.stack([long, long]))
    every = Candidates(np.array([0, 0]), np.array([0, 1]))
    stretch = Stretch.of([Transition(mothers, daughters, every, np.ones(1))])
    np.testing.assert_allclose(Overlap.costs(stretch), [16 / 32, 16 / 2], rtol=0.2)  # a little wider than they are
    assert Overlap.can_see(stretch)
    cells = tuple(replace(each, covariance=None) for each in stretch.cells)
    points = replace(stretch, cells=cells, _columns={})
    assert not Overlap.can_see(points)
    assert np.isnan(Overlap.costs(points)).all()


@pytest.mark.parametrize("d", [2, 3])
def test_the_stiffness_is_the_likeliest_on_the_grid(d: int) -> None:
    rng = np.random.default_rng(d)
    for _ in range(10):
        n = int(rng.integers(30, 500))
        along, share, weight = rng.beta(rng.uniform(0.5, 8.0), 0.5, n), rng.uniform(0.06, 1.0, n), rng.uniform(0, 1, n)
        prior = NO_PREFERENCE.worth * _log_ratio(STIFFNESSES * 0.25, np.full(len(STIFFNESSES), 0.5), d)
        likelihood = prior + np.array([(weight * _log_ratio(kappa * share, along, d)).sum() for kappa in STIFFNESSES])
        found = likelihood[STIFFNESSES.tolist().index(_stiffness(along, share, weight, d))]
        assert found > likelihood.max() - 1e-3
