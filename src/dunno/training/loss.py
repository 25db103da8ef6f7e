"""The loss of Gallusser & Weigert 2024: cross-entropy of the parental softmax, divisions weighted up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dunno.training.windows import Window

LONGEST_LINK = 2
"""Frames apart up to which links are learnt."""

DIVISION_WEIGHT = 2.0
PLAIN_WEIGHT = 0.01
"""Of the logits' own cross-entropy, beside that of the softmax."""

SIZE_POWER = 0.2
"""A window with more edges counts a bit more."""


@dataclass(frozen=True, eq=False)
class TrainingBatch:
    """Windows of one length as tensors, filled up to the largest: times (B, N), -1 where there is no cell, and so on."""

    time: Any
    place: Any
    features: Any
    link: Any
    n_frames: int

    @classmethod
    def of(cls, windows: Sequence[Window], device: str = "cpu") -> TrainingBatch:
        """Pad and stack."""
        import torch

        most = max(map(len, windows))

        def stacked(name: str, fill: float, dtype: Any, square: bool = False) -> Any:
            padded = []
            for window in windows:
                values, missing = getattr(window, name), (0, most - len(window))
                rest = [missing if square else (0, 0)] * (values.ndim - 1)
                padded.append(np.pad(values.astype(dtype), [missing, *rest], constant_values=fill))
            return torch.from_numpy(np.stack(padded)).to(device)

        return cls(
            time=stacked("time", -1, np.int64),
            place=stacked("place", 0, np.float32),
            features=stacked("features", 0, np.float32),
            link=stacked("link", 0, np.float32, square=True),
            n_frames=windows[0].length,
        )


def predict(network: Any, batch: TrainingBatch) -> Any:
    """(B, N, N) the network's logits."""
    import torch

    coordinates = torch.cat([batch.time[..., None].float(), batch.place], dim=-1)
    return network(coordinates, features=batch.features, padding_mask=batch.time < 0)


def parental_softmax(logits: Any, batch: TrainingBatch, allowed: Any) -> Any:
    """(B, N, N) each column's distribution over the rows of each earlier frame, in which nobody has logit 0."""
    import torch

    normalisers = []
    for frame in range(batch.n_frames):
        mothers = allowed & (batch.time == frame)[..., None]
        nobody = torch.zeros_like(logits[:, :1])
        normalisers.append(torch.logsumexp(torch.cat([logits.masked_fill(~mothers, -1e9), nobody], dim=1), dim=1))
    each = torch.stack(normalisers, dim=1)
    row = batch.time.clamp(min=0)[..., None].expand(-1, -1, logits.shape[2])
    return torch.exp((logits - each.gather(1, row)).clamp(max=0))


def loss_of(logits: Any, batch: TrainingBatch, cutoff: float) -> Any:
    """The mean over windows; within a window over pairs of cells at most two frames and one cutoff apart."""
    import torch
    from torch.nn.functional import binary_cross_entropy, binary_cross_entropy_with_logits

    apart = batch.time[:, None, :] - batch.time[:, :, None]
    seen = batch.time >= 0
    allowed = seen[:, :, None] & seen[:, None, :] & (torch.cdist(batch.place, batch.place) <= cutoff)
    counted = allowed & (apart > 0) & (apart <= LONGEST_LINK)
    probability = torch.where(counted, parental_softmax(logits, batch, allowed), 0.0)
    link = torch.where(counted, batch.link, 0.0)
    each = binary_cross_entropy(probability, link, reduction="none")
    each = each + PLAIN_WEIGHT * binary_cross_entropy_with_logits(logits, link, reduction="none")
    edges = counted.sum(dim=(1, 2))
    per_window = (each * _weight(link, batch) * counted).sum(dim=(1, 2)) / edges.clamp(min=1)
    share = edges.float() ** SIZE_POWER * (edges > 0)
    return (per_window * share).sum() / share.sum().clamp(min=1e-6)


def _weight(link: Any, batch: TrainingBatch) -> Any:
    """1 where there is no link, 2 for one, more for those of a division."""
    import torch

    frames = torch.stack([batch.time == frame for frame in range(batch.n_frames)], dim=-1).float()
    n_daughters = (link @ frames) @ frames.transpose(1, 2)  # of the row's cell in the column's frame
    divides = n_daughters > 1
    return 1 + link * torch.where(divides, DIVISION_WEIGHT, 1.0)
