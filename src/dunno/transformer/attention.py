"""Trackastra's forward pass, several at once with attention weights left out at random, repeatable on any thread.

The network's own pass makes the same mask anew for every layer, head and batch element, and its dropout draws from torch's global
generator, which threads share. Here the mask is made once, the first layer's weights serve all draws, and random bits come from
a generator that is given: ten draws of a window of 1,600 cells take a quarter of the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

BEYOND_CUTOFF = -1e3
"""Added to the score of cells beyond the cutoff, as Trackastra has it."""

LEVELS = 2**16
"""Dropout rates are rounded to this many levels."""


@dataclass(frozen=True, eq=False)
class Dropping:
    """Which attention weights are left out: of the softmax, each with this rate, the rest scaled up."""

    rate: float  # From 0 to below 1
    draws: int  # How many passes
    rng: np.random.Generator  # Where randomness comes from

    def thinned(self, weight: Any) -> Any:
        """The weights of one draw, some of them left out."""
        import torch

        limit = min(round(self.rate * LEVELS), LEVELS - 1)
        bits = self.rng.integers(0, 2**64, weight.numel() // 4 + 1, dtype=np.uint64).view(np.uint16)
        kept = torch.from_numpy(bits[: weight.numel()] >= limit).view(weight.shape)
        return weight * kept.to(weight.dtype).mul_(LEVELS / (LEVELS - limit))


def forward(network: Any, place: Any, features: Any, dropping: Dropping | None = None) -> Any:
    """(draws, N, N) logits of a window; (1, N, N) where nothing is left out.

    Place is (1, N, 1 + d) time and place, features (1, N, q).
    """
    import torch

    place = place - torch.cat([place[..., :1].amin(dim=1, keepdim=True), torch.zeros_like(place[:, :1, 1:])], dim=-1)
    mask = _mask(network, place)
    seen = torch.cat([network.pos_embed(place), network.feat_embed(features)], dim=-1)
    start = network.norm(network.proj(seen))
    x = start
    for layer in network.encoder:
        x = layer.norm1(x)
        x = x + _attend(layer.attn, x, x, place, mask, dropping)
        x = x + layer.mlp(layer.norm2(x))
    y = start
    for layer in network.decoder:
        y, source = layer.norm1(y), layer.norm2(x)
        y = y + _attend(layer.attn, y, source, place, mask, dropping)
        y = y + layer.mlp(layer.norm3(y))
    return network.head_x(x) @ network.head_y(y).transpose(1, 2)


def _mask(network: Any, place: Any) -> Any:
    """(1, 1, N, N) what is added to the scores of all layers: cells attend to what is near."""
    import torch

    config = network.config
    apart = torch.cdist(place[..., 1:], place[..., 1:])
    if config.get("attn_dist_mode", "v0") == "v0":
        near = torch.cdist(place, place).mul_(-0.1).exp_()
    else:
        near = (apart * (-5 / config["spatial_pos_cutoff"])).exp_()
    return near.masked_fill_(apart > config["spatial_pos_cutoff"], BEYOND_CUTOFF)[:, None]


def _attend(attention: Any, query: Any, source: Any, place: Any, mask: Any, dropping: Dropping | None) -> Any:
    """(B, N, width) what a layer's attention adds."""
    import torch

    heads = attention.n_head

    def split(values: Any) -> Any:
        return values.view(*values.shape[:2], heads, -1).transpose(1, 2)

    q, k, v = (split(each) for each in (attention.q_pro(query), attention.k_pro(source), attention.v_pro(source)))
    if attention._mode == "rope":
        q, k = (attention.rot_pos_enc(each, each, place)[0] for each in (q, k))
    elif attention._mode == "bias":
        mask = mask + attention.pos_bias(place)
    if dropping is None:
        found = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    else:
        found = torch.cat(list(_drawn(q, k, v, mask, dropping)))
    return attention.proj(found.transpose(1, 2).flatten(2))


def _drawn(q: Any, k: Any, v: Any, mask: Any, dropping: Dropping) -> Iterator[Any]:
    """(1, heads, N, C) of each draw; before anything was left out all draws have the same weights."""
    weight = None
    for draw in range(dropping.draws):
        own = [each[draw % len(each)][None] for each in (q, k, v)]
        if weight is None or len(q) > 1 or len(k) > 1:
            weight = (own[0] * q.shape[-1] ** -0.5 @ own[1].transpose(-1, -2)).add_(mask).softmax(dim=-1)
        yield dropping.thinned(weight) @ own[2]


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute on this thread alone: our workers are the parallel ones, and sums do not depend on how many cores there are."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
