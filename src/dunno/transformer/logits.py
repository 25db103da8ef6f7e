"""The network's association logits in a window of frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dunno.transformer.attention import Dropping, forward, one_thread
from dunno.transformer.model_folder import TransformerModel
from dunno.transformer.tokens import Singles, Tokens
from dunno.types import Bools

LARGEST_BATCH = 2**25
"""Logits that are held at a time, 128 MB of them."""


def association(model: TransformerModel, frames: Sequence[Tokens]) -> Singles:
    """(N, N) logits between all cells of a window, rows mothers, columns daughters; −inf beyond the model's cutoff."""
    import torch

    if not any(map(len, frames)):
        return np.zeros((0, 0), np.float32)
    place, features = _inputs(frames)
    with one_thread(), torch.inference_mode():
        found = forward(model.network, place, features)[0].numpy()
    return np.where(_far(model.cutoff, frames), np.float32(-np.inf), found)


def stochastic_associations(
    model: TransformerModel, frames: Sequence[Tokens], k: int, rate: float, rng: np.random.Generator
) -> Iterator[Singles]:
    """Yield k such matrices, each with other attention weights dropped; as many at a time as fit into memory."""
    import torch

    n = sum(map(len, frames))
    if n == 0 or rate == 0:
        yield from [association(model, frames)] * k
        return
    place, features = _inputs(frames)
    far = _far(model.cutoff, frames)
    at_once = max(LARGEST_BATCH // (n * n), 1)
    for first in range(0, k, at_once):
        with one_thread(), torch.inference_mode():
            dropping = Dropping(rate, min(at_once, k - first), rng)
            found = forward(model.network, place, features, dropping).numpy()
        yield from (np.where(far, np.float32(-np.inf), each) for each in found)


def _inputs(frames: Sequence[Tokens]) -> tuple[Any, Any]:
    """The window as the network takes it: (1, N, 1 + d) time and place, (1, N, q) features."""
    import torch

    time = np.repeat(np.arange(len(frames), dtype=np.float32), [len(each) for each in frames])
    place = np.column_stack([time, np.concatenate([each.place for each in frames])])
    features = np.concatenate([each.features for each in frames])
    return torch.from_numpy(place)[None], torch.from_numpy(features)[None]


def _far(cutoff: float, frames: Sequence[Tokens]) -> Bools:
    """(N, N) which cells are beyond the cutoff of each other."""
    place = np.concatenate([each.place for each in frames]).astype(np.float64)
    squares = np.einsum("nd,nd->n", place, place)
    return np.asarray(squares[:, None] + squares - 2 * place @ place.T > cutoff**2)
