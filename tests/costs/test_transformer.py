import pickle
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from dunno import Movie, Tracker, evaluation, read
from dunno.calibration import TemperatureScaling, fit_event_costs
from dunno.costs import transformer
from dunno.costs.transformer import TransformerCost
from dunno.errors import DunnoWarning, InputError, MovieError
from dunno.perturbations.dropout import Dropout
from dunno.perturbations.gaussian import Gaussian
from dunno.simulate import Colony
from dunno.simulate import colony as simulate
from dunno.tracking import Tracking
from dunno.types import FramePair
from tests.transformer.tiny import tiny_model

METHODS = ("SM", "FP", "FP+A", "AS", "MC", "JP")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def cost(folder: Path) -> TransformerCost:
    return TransformerCost(folder)


@pytest.fixture(scope="module")
def simulated() -> Colony:
    return simulate(cells=12, frames=7, motion=0.3, seed=1)


def pair_of(movie: Movie, t: int, window: range) -> FramePair:
    frames = {s: movie.detections(s) for s in window}
    return FramePair(frames[t], frames[t + 1], 1e3, movie.scale, tuple(frames.values()))


def all_edges(pair: FramePair) -> tuple[np.ndarray, np.ndarray]:
    m, n = len(pair.mothers), len(pair.daughters)
    return np.repeat(np.arange(m), n), np.tile(np.arange(n), m)


def same(one: Tracking, other: Tracking) -> None:
    for a, b in zip(one.pairs, other.pairs, strict=True):
        np.testing.assert_array_equal(a.log_probability, b.log_probability)
        np.testing.assert_array_equal(a.cost, b.cost)


def test_a_cost_is_minus_the_logit_in_the_pairs_window(cost: TransformerCost, simulated: Colony) -> None:
    """By trackastra's own pipeline on the window's frames alone."""
    import torch
    from trackastra.data import build_windows, get_features
    from trackastra.utils import normalize

    movie, quiet = simulated.movie, lambda items, **more: items
    masks = np.stack([movie.masks(t) for t in range(2, 6)])
    images = np.stack([normalize(movie.images(t)) for t in range(2, 6)])
    (window,) = build_windows(get_features(masks, images, progbar_class=quiet), 4, progbar_class=quiet, as_torch=True)
    coordinates = torch.cat([window["timepoints"][:, None], window["coords"]], dim=1)[None].float()
    with torch.no_grad():
        raw = cost._network.network(coordinates, features=window["features"][None])[0].numpy()
    time = window["timepoints"].numpy()
    pair = pair_of(movie, 3, range(2, 6))
    mother, daughter = all_edges(pair)
    expected = -raw[time == 1][:, time == 2]
    np.testing.assert_allclose(cost(pair, mother, daughter), expected[mother, daughter], atol=1e-5)


def test_softmax_with_nobody_is_the_models_own_normalisation(cost: TransformerCost, simulated: Colony) -> None:
    """Every mother a candidate, ⊥ with logit 0: the parental softmax."""
    tracking = Tracker(cost, "SM", calibration=None, max_distance=np.inf).track(simulated.movie)
    told = tracking.pairs[3]
    weight = np.exp(-told.cost)
    total = np.bincount(told.daughter, weight, minlength=len(told.daughters))
    np.testing.assert_allclose(told.probability, weight / (1 + total[told.daughter]), rtol=1e-9)
    np.testing.assert_allclose(np.exp(told.log_no_mother), 1 / (1 + total), rtol=1e-9)


def test_nothing_dropped_makes_fp_equal_to_sm(folder: Path, simulated: Colony) -> None:
    quiet = TransformerCost(folder, dropout=0.0)
    plain, perturbed = (Tracker(quiet, method, calibration=None).track(simulated.movie) for method in ("SM", "FP"))
    for one, other in zip(plain.pairs, perturbed.pairs, strict=True):
        np.testing.assert_allclose(one.log_probability, other.log_probability, atol=1e-12)
        np.testing.assert_array_equal(one.selected, other.selected)


def test_one_seed_repeats_and_two_differ(cost: TransformerCost, simulated: Colony) -> None:
    one, again, other = (Tracker(cost, "FP", calibration=None, seed=seed).track(simulated.movie) for seed in (0, 0, 1))
    same(one, again)
    assert any((a.log_probability != b.log_probability).any() for a, b in zip(one.pairs, other.pairs, strict=True))


def test_the_rate_is_the_costs_unless_the_perturbation_names_one(folder: Path, simulated: Colony) -> None:
    assert TransformerCost(folder).dropout == 0.25
    half, named = TransformerCost(folder, dropout=0.5), TransformerCost(folder)
    one = Tracker(half, "FP", calibration=None).track(simulated.movie)
    same(one, Tracker(named, "FP", calibration=None, perturbation=Dropout(0.5)).track(simulated.movie))
    assert one.about["cost_parameters"]["dropout"] == 0.5


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("block", [1, 2, 5])
def test_blocks_and_workers_do_not_change_the_result(
    cost: TransformerCost, method: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    movie = simulate(cells=6, frames=7, motion=0.3, seed=3).movie
    whole = Tracker(cost, method, calibration=None, workers=1).track(movie)
    from dunno.tracking import tracker
    from dunno.tracking.plan import spans_of

    monkeypatch.setattr(tracker, "spans_of", lambda movie, window, _, halo: spans_of(movie, window, block, halo))
    same(whole, Tracker(cost, method, calibration=None, workers=3).track(movie))


def test_processes_come_to_the_same_result(cost: TransformerCost, simulated: Colony) -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        same(
            Tracker(cost, "FP+A", calibration=None, executor=executor).track(simulated.movie),
            Tracker(cost, "FP+A", calibration=None).track(simulated.movie),
        )


def test_it_travels_as_a_name(cost: TransformerCost) -> None:
    assert len(pickle.dumps(cost)) < 1000
    assert pickle.loads(pickle.dumps(cost)).model == cost.model


def counted(monkeypatch: pytest.MonkeyPatch, name: str) -> list[int]:
    calls: list[int] = []
    original = getattr(transformer, name)
    monkeypatch.setattr(transformer, name, lambda *given: calls.append(1) or original(*given))
    return calls


@pytest.mark.parametrize("method", ["SM", "AS", "JP", "MC"])
def test_there_is_one_pass_per_window(
    cost: TransformerCost, simulated: Colony, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """7 frames have 4 windows of 4; the 6 pairs at the ends share theirs."""
    passes = counted(monkeypatch, "association")
    Tracker(cost, method, calibration=None).track(simulated.movie)
    assert len(passes) == 4


def test_perturbing_methods_take_one_batch_more_per_pair(
    cost: TransformerCost, simulated: Colony, monkeypatch: pytest.MonkeyPatch
) -> None:
    passes, batches = counted(monkeypatch, "association"), counted(monkeypatch, "stochastic_associations")
    Tracker(cost, "FP", calibration=None).track(simulated.movie)
    assert (len(passes), len(batches)) == (4, 6)


def test_other_perturbations_move_what_the_network_sees(cost: TransformerCost, simulated: Colony) -> None:
    pair = pair_of(simulated.movie, 3, range(2, 6))
    edges = all_edges(pair)
    (shaken,) = Gaussian(4.0).draws(pair, cost, 1, np.random.default_rng(0))
    assert (cost(shaken, *edges) != cost(pair, *edges)).any()
    (still,) = Gaussian(0.0).draws(pair, cost, 1, np.random.default_rng(0))
    np.testing.assert_allclose(cost(still, *edges), cost(pair, *edges), atol=1e-6)


def test_the_window_matters_and_may_be_shorter(folder: Path, simulated: Colony) -> None:
    long, short = (
        Tracker(TransformerCost(folder, window=w), "SM", calibration=None).track(simulated.movie) for w in (4, 2)
    )
    assert np.abs(long.pairs[2].cost - short.pairs[2].cost).max() > 1e-3


@pytest.mark.parametrize("window", [1, 5])
def test_a_window_that_the_model_does_not_know_is_refused(folder: Path, window: int) -> None:
    with pytest.raises(InputError, match=f"the window is {window} frames; expected 2 to 4"):
        TransformerCost(folder, window=window)


def test_a_rate_that_is_none_is_refused(folder: Path) -> None:
    with pytest.raises(InputError, match="the dropout rate is 1.0; expected 0 or more, and below 1"):
        TransformerCost(folder, dropout=1.0)


@pytest.mark.parametrize("method", METHODS)
def test_empty_frames_lonely_cells_and_short_movies(cost: TransformerCost, method: str) -> None:
    masks = np.zeros((6, 30, 30), np.uint8)
    masks[0, 3:6, 3:6] = masks[1, 4:7, 4:7] = masks[4, 20:24, 20:24] = 1
    for frames in (slice(0, 6), slice(0, 2), slice(2, 4)):
        tracking = Tracker(cost, method, calibration=None).track(Movie(masks[frames], masks[frames] * 100))
        for pair in tracking.pairs:
            n = len(pair.daughters)
            total = np.bincount(pair.daughter, pair.probability, minlength=n) + np.exp(pair.log_no_mother)
            np.testing.assert_allclose(total, 1.0)


def test_in_3d_with_a_scale(tmp_path: Path) -> None:
    volumes = TransformerCost(tiny_model(tmp_path / "volumes", n_dimensions=3))
    masks = np.zeros((3, 10, 30, 30), np.uint8)
    for t in range(3):
        masks[t, 2:6, 3 + t : 8 + t, 3:8], masks[t, 4:8, 20:26, 18 + t : 23 + t] = 1, 2
    tracking = Tracker(volumes, "JP", calibration=None).track(Movie(masks, masks * 50, scale=(2.0, 0.5, 0.5)))
    assert [len(pair.mother) > 0 for pair in tracking.pairs] == [True, True]


def test_a_movie_without_images_is_refused_clearly(cost: TransformerCost, simulated: Colony) -> None:
    bare = Movie([simulated.movie.masks(t) for t in range(3)], name="bare")
    with pytest.raises(MovieError, match="bare: has masks but no images"):
        Tracker(cost, "SM", calibration=None).track(bare)


def test_a_model_without_images_tracks_masks_alone(tmp_path: Path, simulated: Colony) -> None:
    blind = TransformerCost(tiny_model(tmp_path / "blind", images="unused"))
    bare = Movie([simulated.movie.masks(t) for t in range(3)])
    same(
        Tracker(blind, "SM", calibration=None).track(bare),
        Tracker(blind, "SM", calibration=None).track(simulated.movie.part(slice(0, 3))),
    )


def test_it_can_be_calibrated_in_every_way(cost: TransformerCost, simulated: Colony) -> None:
    movie, truth = simulated.movie, simulated.truth
    softmax = Tracker(cost, "SM", calibration=None).track(movie)
    with pytest.warns(DunnoWarning, match="ran into the bound"):  # random weights know nothing
        scaled = TemperatureScaling.fit(softmax, truth)(softmax)
    assert evaluation.score(scaled, truth).nll <= evaluation.score(softmax, truth).nll
    joint = Tracker(cost, "JP", calibration=None).track(movie)
    fitted = fit_event_costs(joint, truth)
    assert fitted.loss_after <= fitted.loss_before
    again = Tracker(cost, "JP", calibration=fitted).track(movie)
    assert again.about["calibrated"]


def test_dropout_is_for_networks_only(simulated: Colony) -> None:
    with pytest.raises(InputError, match="this cost has none; it is for --cost transformer"):
        Tracker("distance", "FP", calibration=None, perturbation="dropout").track(simulated.movie)


def test_a_draw_replaces_the_costs(cost: TransformerCost, simulated: Colony) -> None:
    pair = pair_of(simulated.movie, 3, range(2, 6))
    made_up = np.arange(len(pair.mothers) * len(pair.daughters), dtype=np.float64)
    drawn = replace(pair, drawn=made_up.reshape(len(pair.mothers), -1))
    np.testing.assert_array_equal(cost(drawn, *all_edges(pair)), made_up)


TRAINED = Path(__file__).parents[2] / "benchmarks" / "models" / "dropout-0.25"


def test_a_model_that_was_trained_on_the_first_movies_tracks_another(data: Path) -> None:
    """Every 10th frame; its softmax is far better than one that knows nothing, and better than none."""
    movie, truth = (each.every(10) for each in read(data / "Fluo-N2DL-HeLa" / "02", truth=True))
    learnt = evaluation.score(Tracker(TransformerCost(TRAINED), "SM", calibration=None).track(movie), truth)
    assert learnt.daughter_accuracy > 0.85
    assert learnt.auroc > 0.7
    assert learnt.nll < 1.0
