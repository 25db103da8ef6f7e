"""The paper's Bayesian transformers: one per dropout rate, trained on what is calibrated on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dunno.benchmark.datasets import Dataset
from dunno.training.settings import Settings
from dunno.training.train import Progress, train

EPOCHS, WINDOWS, LARGEST_STEP = 24, 512, 50


def train_models(
    datasets: Sequence[Dataset], folder: Path, rates: Sequence[float], progress: Progress | None = None
) -> list[Path]:
    """Train those that are not there yet; a training that was stopped goes on.

    The first sequences of the datasets are learnt from; `progress` wraps the epochs of each.
    """
    models = [folder / f"dropout-{rate:g}" for rate in rates]
    missing = {model: rate for model, rate in zip(models, rates, strict=True) if not model.is_dir()}
    movies = [(first.movie, first.truth) for first in (dataset.parts()[0] for dataset in datasets)] if missing else []
    for model, rate in missing.items():
        settings = Settings.small(dropout=rate, epochs=EPOCHS, windows=WINDOWS, largest_step=LARGEST_STEP)
        train(movies, model, settings, progress=progress)
    return models
