"""Cells moved a little."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dunno.errors import InputError
from dunno.types import Detections, FramePair


@dataclass(frozen=True)
class Shift:
    """Every cell's mask moved by a random offset (the paper's figure 3).

    Each cell in each frame draws a whole offset from −amplitude to +amplitude along every axis. Where two cells land on
    the same pixel, one of them shows; a cell stays inside the frame, and one that would be hidden stays where it was.
    """

    amplitude: int = 1  # The largest offset along an axis, in pixels
    name = "shift"

    def __post_init__(self) -> None:
        if self.amplitude != int(self.amplitude) or self.amplitude < 0:
            raise InputError(f"the amplitude is {self.amplitude}; expected a whole number of pixels, zero or more")

    def draws(self, pair: FramePair, cost: Any, k: int, rng: np.random.Generator) -> Iterator[FramePair]:
        """Yield k pairs with moved masks."""
        for _ in range(k):
            mothers = self._moved(pair.mothers, rng, pair.scale)
            yield replace(pair, mothers=mothers, daughters=self._moved(pair.daughters, rng, pair.scale))

    def _moved(self, cells: Detections, rng: np.random.Generator, scale: tuple[float, ...]) -> Detections:
        original = cells.masks
        limit = np.asarray(original.shape) - 1
        offset = rng.integers(-self.amplitude, self.amplitude, (len(cells), original.ndim), endpoint=True)
        pixel = np.argwhere(original)
        owner = np.searchsorted(cells.label, original[tuple(pixel.T)])
        masks = np.zeros_like(original)
        masks[tuple((pixel + offset[owner]).clip(0, limit).T)] = cells.label[owner]
        restored = np.zeros(len(cells), np.bool_)
        while (hidden := ~np.isin(cells.label, masks)).any():  # ends: restored cells cannot hide each other
            restored |= hidden
            masks = np.where(np.isin(original, cells.label[restored]), original, masks)
        return cells.moved(masks, scale)
