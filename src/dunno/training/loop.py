"""The training loop."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dunno.errors import InputError
from dunno.training.augmentation import augment
from dunno.training.checkpoint import Epoch, TrainingState
from dunno.training.loss import TrainingBatch, loss_of, predict
from dunno.training.settings import Settings
from dunno.training.windows import Window, Windows

VALIDATION_WINDOWS = 64
TRIES = 1000


def epochs(
    windows: Windows,
    settings: Settings,
    n_dimensions: int,
    checkpoint: Path,
    about: dict[str, Any],
    device: str = "cpu",
) -> Iterator[tuple[Epoch, TrainingState]]:
    """Train, yielding after each epoch; a checkpoint that is there is gone on from, with the same result.

    Everything random in epoch e comes from (seed, e), so that no generator's state has to be kept. `about` is what must agree
    for a checkpoint to be gone on from.
    """
    import torch

    with torch.random.fork_rng():
        torch.manual_seed(settings.seed)
        network = settings.network(n_dimensions).to(device)
    optimizer = torch.optim.AdamW(network.parameters(), lr=settings.learning_rate, weight_decay=0.01)
    state = TrainingState(network, optimizer)
    if checkpoint.exists():
        state.resume(checkpoint, about)
        for epoch in state.history:
            yield epoch, state
    held_out = [validation_window(windows, settings, i) for i in range(VALIDATION_WINDOWS)]
    while not is_finished(state, settings):
        number = len(state.history)
        loss = _train(state, windows, settings, number, device)
        validation_loss = _validate(network, held_out, settings, device)
        before = state.best_epoch
        is_best = before is None or validation_loss < before.validation_loss
        if is_best:
            state.best = {name: value.detach().cpu().clone() for name, value in network.state_dict().items()}
        state.history.append(Epoch(number, loss, validation_loss, is_best))
        state.save(checkpoint, about)
        yield state.history[-1], state


def is_finished(state: TrainingState, settings: Settings) -> bool:
    """Whether all epochs are trained, or the last ones brought nothing."""
    best = state.best_epoch
    waited = 0 if best is None else len(state.history) - 1 - best.number
    return len(state.history) >= settings.epochs or waited >= settings.patience


def training_window(windows: Windows, settings: Settings, rng: np.random.Generator) -> Window:
    """An augmented window with something to learn."""
    for _ in range(TRIES):
        window = augment(windows.draw(rng), settings.cutoff, rng)
        if window.link.any():
            return window
    raise InputError("there are no links to learn from; are the movies annotated, and longer than a window?")


def validation_window(windows: Windows, settings: Settings, i: int) -> Window:
    """The i-th window of the part of the field that is held out, as it is."""
    rng = np.random.default_rng([settings.seed, 1, i])
    for _ in range(TRIES):
        window = windows.draw(rng, validation=True)
        if window.link.any():
            return window
    raise InputError(
        "there are no links in the fifth of the field that is held out for validation; train on more or larger movies"
    )


def _rate(settings: Settings, progress: float) -> float:
    """The learning rate when this share of all epochs is done."""
    warm = min(0.01 + progress / 0.1, 1.0)
    return settings.learning_rate * warm * (0.001 + 0.999 * 0.5 * (1 + float(np.cos(np.pi * min(progress, 1.0)))))


def _batches(windows: Windows, settings: Settings, rng: np.random.Generator) -> list[list[Window]]:
    """An epoch's windows in batches of similar size, which need little padding, in random order."""
    steps = max(settings.windows // settings.batch, 1)
    drawn = sorted((training_window(windows, settings, rng) for _ in range(steps * settings.batch)), key=len)
    return [drawn[place * settings.batch : (place + 1) * settings.batch] for place in rng.permutation(steps)]


def _train(state: TrainingState, windows: Windows, settings: Settings, number: int, device: str) -> float:
    """One epoch; the mean loss of its windows."""
    import torch

    rng = np.random.default_rng([settings.seed, 0, number])
    batches = _batches(windows, settings, rng)
    losses = []
    state.network.train()
    with torch.random.fork_rng():
        torch.manual_seed(int(rng.integers(2**31)))  # what is dropped
        for step, chosen in enumerate(batches):
            for group in state.optimizer.param_groups:
                group["lr"] = _rate(settings, (number + step / len(batches)) / settings.epochs)
            batch = TrainingBatch.of(chosen, device)
            loss = loss_of(predict(state.network, batch), batch, settings.cutoff)
            state.optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(state.network.parameters(), 1.0)
            state.optimizer.step()
            losses.append(float(loss.detach()))
    return float(np.mean(losses))


def _validate(network: Any, held_out: list[Window], settings: Settings, device: str) -> float:
    import torch

    network.eval()
    losses = []
    with torch.inference_mode():
        for first in range(0, len(held_out), settings.batch):
            batch = TrainingBatch.of(held_out[first : first + settings.batch], device)
            losses.append(float(loss_of(predict(network, batch), batch, settings.cutoff)))
    return float(np.mean(losses))
