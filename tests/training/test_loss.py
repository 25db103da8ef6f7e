from typing import Any

import numpy as np
import pytest

from dunno.training.loss import TrainingBatch, loss_of, parental_softmax
from dunno.training.windows import Window

torch = pytest.importorskip("torch")
pytest.importorskip("trackastra")


def window(n: int, seed: int) -> Window:
    rng = np.random.default_rng(seed)
    time = np.sort(rng.integers(0, 4, n))
    link = np.zeros((n, n), bool)
    for j in range(n):
        for frame in range(time[j]):
            mothers = np.flatnonzero(time == frame)
            if len(mothers) and rng.random() < 0.8:
                link[rng.choice(mothers), j] = True
    place = 300 * rng.random((n, 2))
    return Window(time, place.astype(np.float32), rng.random((n, 7)).astype(np.float32), link, 4)


def by_hand(windows: list[Window], logits: np.ndarray, cutoff: float) -> float:
    """The loss as Gallusser & Weigert define it, edge by edge."""
    losses, sizes = [], []
    for window, all_logits in zip(windows, logits, strict=True):
        total, edges = 0.0, 0
        for i in range(len(window)):
            for j in range(len(window)):
                apart = window.time[j] - window.time[i]
                far = np.linalg.norm(window.place[i] - window.place[j]) > cutoff
                if not 0 < apart <= 2 or far:
                    continue
                rivals = [
                    all_logits[k, j]
                    for k in range(len(window))
                    if window.time[k] == window.time[i] and np.linalg.norm(window.place[k] - window.place[j]) <= cutoff
                ]
                p = np.exp(all_logits[i, j]) / (1 + np.exp(rivals).sum())
                q = 1 / (1 + np.exp(-all_logits[i, j]))
                link = window.link[i, j]
                near = np.linalg.norm(window.place - window.place[i], axis=1) <= cutoff
                daughters = (window.link[i] & near & (window.time == window.time[j])).sum()
                weight = 1.0 if not link else 3.0 if daughters > 1 else 2.0
                plain = -np.log(q if link else 1 - q)
                total += weight * (-np.log(p if link else 1 - p) + 0.01 * plain)
                edges += 1
        losses.append(total / edges)
        sizes.append(edges**0.2)
    return float(np.average(losses, weights=sizes))


@pytest.mark.parametrize("cutoff", [150.0, 1e6])
def test_it_is_the_one_computed_by_hand(cutoff: float) -> None:
    windows = [window(18, 0), window(9, 1), window(13, 2)]
    logits = np.random.default_rng(5).normal(size=(3, 18, 18))
    found = loss_of(torch.from_numpy(logits).float(), TrainingBatch.of(windows), cutoff)
    assert float(found) == pytest.approx(by_hand(windows, logits, cutoff), rel=1e-5)


def test_padding_changes_nothing() -> None:
    small = window(9, 1)
    alone, batch = TrainingBatch.of([small]), TrainingBatch.of([small, window(18, 0)])
    logits = torch.randn(2, 18, 18, generator=torch.Generator().manual_seed(0))
    everything = torch.ones(1, 9, 9, dtype=torch.bool)
    padded = torch.zeros(2, 18, 18, dtype=torch.bool)
    padded[0, :9, :9] = True
    one = parental_softmax(logits[:1, :9, :9], alone, everything)
    other = parental_softmax(logits, batch, padded)
    torch.testing.assert_close(one[0], other[0, :9, :9])


def test_the_softmax_is_trackastras() -> None:
    from trackastra.utils import blockwise_causal_norm

    batch = TrainingBatch.of([window(15, 3)])
    logits = torch.randn(1, 15, 15, generator=torch.Generator().manual_seed(1))
    theirs = blockwise_causal_norm(logits[0], batch.time[0])
    ours = parental_softmax(logits, batch, torch.ones(1, 15, 15, dtype=torch.bool))[0]
    later = batch.time[0][None, :] > batch.time[0][:, None]
    torch.testing.assert_close(ours[later], theirs[later], atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e4])
def test_its_gradient_is_finite_for_any_logits(size: float) -> None:
    batch = TrainingBatch.of([window(15, 3), window(4, 4)])
    logits: Any = (size * torch.randn(2, 15, 15, generator=torch.Generator().manual_seed(1))).requires_grad_()
    loss_of(logits, batch, 1e6).backward()
    assert torch.isfinite(logits.grad).all()
    assert logits.grad.abs().sum() > 0


def test_windows_without_edges_count_nothing() -> None:
    lonely = Window(np.zeros(3, int), np.zeros((3, 2)), np.zeros((3, 7)), np.zeros((3, 3), bool), 4)
    logits = torch.zeros(1, 3, 3)
    assert float(loss_of(logits, TrainingBatch.of([lonely]), 100.0)) == 0
