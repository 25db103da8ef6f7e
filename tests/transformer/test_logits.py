import threading
from dataclasses import replace

import numpy as np
import pytest

from dunno import Movie
from dunno.simulate import colony as simulate
from dunno.transformer import logits
from dunno.transformer.attention import one_thread
from dunno.transformer.logits import association, stochastic_associations
from dunno.transformer.model_folder import TransformerModel, load_model
from dunno.transformer.tokens import Tokens, tokens_of
from tests.transformer.tiny import tiny_model


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> TransformerModel:
    return load_model(tiny_model(tmp_path_factory.mktemp("models") / "tiny", cutoff=60))


@pytest.fixture(scope="module")
def frames() -> list[Tokens]:
    movie = simulate(cells=12, frames=4, motion=0.3, seed=1).movie
    return [tokens_of(movie.detections(t), movie.scale, 2, True) for t in range(4)]


def trackastras(model: TransformerModel, frames: list[Tokens]) -> tuple[np.ndarray, np.ndarray]:
    """The window's logits and normalised scores, by Trackastra's own padding, forward pass and normalisation."""
    import torch
    from trackastra.data import collate_sequence_padding

    time = np.repeat(np.arange(len(frames)), [len(each) for each in frames])
    place = np.concatenate([each.place for each in frames])
    features = np.concatenate([each.features for each in frames])
    one = {"coords": place, "features": features, "timepoints": time, "labels": time}
    larger = {name: np.concatenate([values, values[:5]]) for name, values in one.items()}  # so that ours is padded
    batch = collate_sequence_padding(
        [{name: torch.from_numpy(values) for name, values in each.items()} for each in (one, larger)]
    )
    coordinates = torch.cat([batch["timepoints"][..., None].float(), batch["coords"]], dim=2)
    with torch.no_grad():
        raw = model.network(coordinates, features=batch["features"], padding_mask=batch["padding_mask"])
        scores = model.network.normalize_output(raw, batch["timepoints"], coordinates)
    n = len(time)
    return raw[0, :n, :n].numpy(), scores[0, :n, :n].numpy()


def test_they_are_the_models_own(model: TransformerModel, frames: list[Tokens], least: float = 0.5) -> None:
    found, (raw, _) = association(model, frames), trackastras(model, frames)
    near = np.isfinite(found)
    np.testing.assert_allclose(found[near], raw[near], atol=1e-5)
    assert raw[near].std() > least


@pytest.mark.parametrize("config", [{"attn_positional_bias": "bias"}, {"attn_dist_mode": "v1"}])
def test_other_forms_of_attention_are_the_models_own_too(
    model: TransformerModel, frames: list[Tokens], config: dict
) -> None:
    network = type(model.network).create({**model.network.config, **config}).eval().requires_grad_(False)
    test_they_are_the_models_own(replace(model, network=network), frames, 0.1)


def test_beyond_the_cutoff_there_is_no_edge(model: TransformerModel, frames: list[Tokens]) -> None:
    found = association(model, frames)
    place = np.concatenate([each.place for each in frames])
    far = np.linalg.norm(place[:, None] - place, axis=2) > 60
    np.testing.assert_array_equal(np.isneginf(found), far)
    assert 0 < far.sum() < far.size


def test_the_parental_softmax_is_the_models_quiet_softmax(model: TransformerModel, frames: list[Tokens]) -> None:
    found, (_, scores) = association(model, frames), trackastras(model, frames)
    mothers, daughters = (
        slice(12, 12 + len(frames[1])),
        slice(12 + len(frames[1]), 12 + len(frames[1]) + len(frames[2])),
    )
    weight = np.exp(found[mothers, daughters])
    np.testing.assert_allclose(weight / (1 + weight.sum(axis=0)), scores[mothers, daughters], atol=1e-5)


def drawn(model: TransformerModel, frames: list[Tokens], k: int = 5, rate: float = 0.25, seed: int = 0) -> np.ndarray:
    return np.array(list(stochastic_associations(model, frames, k, rate, np.random.default_rng(seed))))


def test_one_seed_repeats_and_two_differ(model: TransformerModel, frames: list[Tokens]) -> None:
    one, again, other = drawn(model, frames), drawn(model, frames), drawn(model, frames, seed=1)
    np.testing.assert_array_equal(one, again)
    assert (one != other).any()
    assert all((one[0] != each).any() for each in one[1:])


def test_nothing_dropped_is_the_plain_pass(model: TransformerModel, frames: list[Tokens]) -> None:
    np.testing.assert_array_equal(drawn(model, frames, rate=0.0), [association(model, frames)] * 5)


def test_next_to_nothing_dropped_is_next_to_the_plain_pass(model: TransformerModel, frames: list[Tokens]) -> None:
    """Our attention with masks is torch's, so that only what is dropped makes the difference."""
    found, plain = drawn(model, frames, k=1, rate=1e-9)[0], association(model, frames)
    near = np.isfinite(plain)
    np.testing.assert_allclose(found[near], plain[near], atol=1e-4)


def test_more_dropout_spreads_more(model: TransformerModel, frames: list[Tokens]) -> None:
    near = np.isfinite(association(model, frames))
    spreads = [drawn(model, frames, k=20, rate=rate)[:, near].std(axis=0).mean() for rate in (0.05, 0.2, 0.5)]
    assert 0 < spreads[0] < spreads[1] < spreads[2]


def test_the_dropout_is_torchs_own(model: TransformerModel, frames: list[Tokens]) -> None:
    """Mean and spread over many draws agree with those of the network's own train mode."""
    import torch

    near = np.isfinite(association(model, frames))
    ours = drawn(model, frames, k=400)[:, near]
    place, features = logits._inputs(frames)
    network = model.network
    with torch.random.fork_rng(), torch.inference_mode():
        torch.manual_seed(0)
        network.train()
        try:
            theirs = network(place.expand(400, -1, -1), features=features.expand(400, -1, -1)).numpy()[:, near]
        finally:
            network.eval()
    error = ours.std(axis=0) / 20
    assert np.abs((ours.mean(axis=0) - theirs.mean(axis=0)) / error).mean() < 1.6  # √2·√(2/π) ≈ 1.13 expected
    np.testing.assert_allclose(ours.std(axis=0).mean(), theirs.std(axis=0).mean(), rtol=0.05)


def test_few_at_a_time_are_as_many_draws(
    model: TransformerModel, frames: list[Tokens], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logits, "LARGEST_BATCH", 1)
    found = drawn(model, frames)
    assert found.shape[0] == 5
    assert len({each.tobytes() for each in found}) == 5


def test_threads_do_not_disturb_each_other(model: TransformerModel, frames: list[Tokens]) -> None:
    expected = [drawn(model, frames, seed=seed) for seed in range(6)]
    found: dict[int, np.ndarray] = {}
    threads = [
        threading.Thread(target=lambda seed=seed: found.update({seed: drawn(model, frames, seed=seed)}))
        for seed in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed in range(6):
        np.testing.assert_array_equal(found[seed], expected[seed])


def test_the_global_generator_and_the_threads_are_left_alone(model: TransformerModel, frames: list[Tokens]) -> None:
    import torch

    state, threads = torch.get_rng_state(), torch.get_num_threads()
    drawn(model, frames)
    with one_thread():
        assert torch.get_num_threads() == 1
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.get_num_threads() == threads


EMPTY = Tokens(np.zeros((0, 2), np.float32), np.zeros((0, 7), np.float32))


def test_frames_without_cells_take_no_room(model: TransformerModel, frames: list[Tokens]) -> None:
    assert association(model, [EMPTY, EMPTY]).shape == (0, 0)
    assert drawn(model, [EMPTY, EMPTY], k=3).shape == (3, 0, 0)
    n = len(frames[0])
    assert association(model, [EMPTY, frames[0], EMPTY]).shape == (n, n)


def test_one_cell_and_crowds_are_fine(model: TransformerModel) -> None:
    masks = np.zeros((2, 40, 40), np.int32)
    masks[:, 3:5, 3:5] = 1
    alone = Movie(masks, masks)
    crowd = Movie(np.arange(2 * 1600).reshape(2, 40, 40) % 1600, np.ones((2, 40, 40)))
    for movie, n in ((alone, 1), (crowd, 1599)):
        tokens = [tokens_of(movie.detections(t), movie.scale, 2, True) for t in range(2)]
        found = association(model, tokens)
        assert found.shape == (2 * n, 2 * n)
        assert not np.isnan(found).any()
