"""The state of a training after an epoch, in one file that is whole or not there."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dunno.errors import OutputError


@dataclass(frozen=True)
class Epoch:
    """What an epoch achieved."""

    number: int
    loss: float
    validation_loss: float
    is_best: bool


@dataclass
class TrainingState:
    """Everything that the next epoch depends on, and the best network so far."""

    network: Any
    optimizer: Any
    history: list[Epoch] = field(default_factory=list)
    best: dict[str, Any] = field(default_factory=dict)

    @property
    def best_epoch(self) -> Epoch | None:
        """The last one that was better than all before it."""
        return next((epoch for epoch in reversed(self.history) if epoch.is_best), None)

    def save(self, path: Path, about: dict[str, Any]) -> None:
        """Replace the file at once."""
        import torch

        content = {
            "about": about,
            "network": self.network.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "best": self.best,
            "history": [vars(epoch) for epoch in self.history],
        }
        new = path.with_name(path.name + ".new")
        torch.save(content, new)
        os.replace(new, path)

    def resume(self, path: Path, about: dict[str, Any]) -> None:
        """Go on from a file, if it is of the same training."""
        import torch

        try:
            content = torch.load(path, map_location="cpu", weights_only=True)
            other = content["about"]
        except Exception as error:  # a broken file may raise anything
            raise OutputError(
                f"{path}: is no checkpoint that can be read ({type(error).__name__}); remove it to begin anew"
            ) from None
        differs = sorted(name for name in about.keys() | other.keys() if about.get(name) != other.get(name))
        if differs:
            raise OutputError(
                f"{path}: is the checkpoint of another training ({', '.join(differs)} differ); "
                "give what was given there to go on with it, or remove it to begin anew"
            )
        self.network.load_state_dict(content["network"])
        self.optimizer.load_state_dict(content["optimizer"])
        self.best = content["best"]
        self.history = [Epoch(**each) for each in content["history"]]
