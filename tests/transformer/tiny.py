"""A tiny transformer with random weights, whose opinions are strong enough to tell edges apart."""

from pathlib import Path
from typing import Any

import pytest

from dunno.training.settings import Settings
from dunno.transformer.model_folder import import_trackastra, save_model


def tiny_model(folder: Path, n_dimensions: int = 2, seed: int = 0, images: str = "needed", **more: Any) -> Path:
    """Write it, and return its folder; skips the test where torch or trackastra is not installed."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("trackastra")
    import_trackastra()
    settings = Settings.small(**{"width": 32, "layers": 1, **more})
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = settings.network(n_dimensions)
    with torch.no_grad():
        for head in (network.head_x, network.head_y):
            head.fc2.weight *= 4
    save_model(network, {"images": images}, folder)
    return folder
