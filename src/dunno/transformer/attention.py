"""Monte Carlo dropout that is repeatable on any thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def dropping(rate: float, generator: Any) -> Iterator[None]:
    """Drop attention weights at random inside this context, on this thread only.

    The network's own dropout lies in `scaled_dot_product_attention`, which draws from torch's global generator: not
    repeatable where threads share it. Here the same function is computed with masks from a given generator:
    softmax(qkᵀ/√d + mask), of which each weight is kept with probability 1 − rate and divided by it.
    """
    import torch
    from torch.overrides import TorchFunctionMode

    attention = torch.nn.functional.scaled_dot_product_attention

    def attend(query: Any, key: Any, value: Any, attn_mask: Any, dropout_p: float = 0.0) -> Any:
        scores = torch.matmul(query * query.shape[-1] ** -0.5, key.transpose(-1, -2)).add_(attn_mask)
        kept = torch.empty(scores.shape).bernoulli_(1 - rate, generator=generator).to(scores.device)
        return torch.matmul(scores.softmax(dim=-1).mul_(kept).div_(1 - rate), value)

    class Dropping(TorchFunctionMode):  # type: ignore[misc]  # torch is not looked into
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return (attend if func is attention else func)(*args, **(kwargs or {}))

    with Dropping():
        yield


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
