"""The network's association logits in a window of frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dunno.transformer.attention import dropping, one_thread
from dunno.transformer.folder import Model
from dunno.transformer.tokens import Singles, Tokens

LARGEST_BATCH = 2**24
"""Attention weights that are held at a time, 64 MB of them."""


def association(model: Model, frames: Sequence[Tokens]) -> Singles:
    """(N, N) logits between all cells of a window, rows mothers, columns daughters; −inf beyond the model's cutoff."""
    import torch

    if not any(map(len, frames)):
        return np.zeros((0, 0), np.float32)
    place, features = _inputs(frames)
    with one_thread(), torch.inference_mode():
        found = model.network(place, features=features)[0].numpy()
    return _within(model.cutoff, frames, found)


def stochastic_associations(
    model: Model, frames: Sequence[Tokens], k: int, rate: float, rng: np.random.Generator
) -> Iterator[Singles]:
    """Yield k such matrices, each with other attention weights dropped; as many at a time as fit into memory."""
    import torch

    n = sum(map(len, frames))
    if n == 0 or rate == 0:
        yield from [association(model, frames)] * k
        return
    generator = torch.Generator().manual_seed(int(rng.integers(2**63)))
    at_once = max(LARGEST_BATCH // (model.network.config["nhead"] * n * n), 1)
    place, features = _inputs(frames)
    for first in range(0, k, at_once):
        size = min(at_once, k - first)
        with one_thread(), torch.inference_mode(), dropping(rate, generator):
            found = model.network(place.expand(size, -1, -1), features=features.expand(size, -1, -1)).numpy()
        yield from (_within(model.cutoff, frames, each) for each in found)


def _inputs(frames: Sequence[Tokens]) -> tuple[Any, Any]:
    """The window as the network takes it: (1, N, 1 + d) time and place, (1, N, q) features."""
    import torch

    time = np.repeat(np.arange(len(frames), dtype=np.float32), [len(each) for each in frames])
    place = np.column_stack([time, np.concatenate([each.place for each in frames])])
    features = np.concatenate([each.features for each in frames])
    return torch.from_numpy(place)[None], torch.from_numpy(features)[None]


def _within(cutoff: float, frames: Sequence[Tokens], logits: Singles) -> Singles:
    place = np.concatenate([each.place for each in frames]).astype(np.float64)
    squares = np.einsum("nd,nd->n", place, place)
    distance = squares[:, None] + squares - 2 * place @ place.T
    return np.where(distance > cutoff**2, np.float32(-np.inf), logits)
