"""Cells drawn a little larger or smaller."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dunno.errors import InputError
from dunno.types import Bools, Detections, FramePair, Ints
from dunno.types.labels import LabelImage


@dataclass(frozen=True)
class Border:
    """Every cell thickened or thinned at its border by a random number of pixels.

    Each cell in each frame draws a whole number from −amplitude to +amplitude and gains or loses that many layers of
    pixels (neighbours across faces). Cells grow into the background only, each background pixel belonging to one cell,
    so that none eats another; a cell keeps at least its innermost layer, so that none vanishes.
    """

    amplitude: int = 1  # The most layers a cell gains or loses
    name = "border"

    def __post_init__(self) -> None:
        if self.amplitude != int(self.amplitude) or self.amplitude < 0:
            raise InputError(f"the amplitude is {self.amplitude}; expected a whole number of pixels, zero or more")

    def draws(self, pair: FramePair, cost: Any, k: int, rng: np.random.Generator) -> Iterator[FramePair]:
        """Yield k pairs with redrawn masks."""
        layers = [self._layers(cells) for cells in (pair.mothers, pair.daughters)]
        for _ in range(k):
            mothers, daughters = (each.redraw(rng, pair.scale) for each in layers)
            yield replace(pair, mothers=mothers, daughters=daughters)

    def _layers(self, cells: Detections) -> "Layers":
        """A frame's layers; the daughters of one pair are the mothers of the next, so they are kept with the frame."""
        layers: Layers = cells.once((self.name, self.amplitude), lambda: Layers(cells, self.amplitude))
        return layers


class Layers:
    """The pixels that may change in one frame: the outer layers of every cell, and of the background around it."""

    def __init__(self, cells: Detections, amplitude: int) -> None:
        self._cells = cells
        self._amplitude = amplitude
        number = np.searchsorted(
            np.append(0, cells.label), cells.masks
        )  # cells are 1 … n, in the order of their labels
        self._inner = _inner_layers(number, amplitude)
        self._outer = _outer_layers(number, amplitude)
        # How many layers each cell can lose and still be there.
        self._spare = np.full(len(cells) + 1, amplitude)
        gone = number.copy()
        for layer, (place, _) in enumerate(self._inner, 1):
            gone.reshape(-1)[place] = 0
            left = np.bincount(gone.reshape(-1), minlength=len(cells) + 1) > 0
            self._spare[~left] = np.minimum(self._spare[~left], layer - 1)

    def redraw(self, rng: np.random.Generator, scale: tuple[float, ...]) -> Detections:
        """The frame with every cell thickened or thinned at random."""
        change = rng.integers(-self._amplitude, self._amplitude, len(self._cells) + 1, endpoint=True)
        change = np.maximum(change, -self._spare)
        masks: LabelImage = self._cells.masks.copy()
        flat = masks.reshape(-1)
        for layer, (place, owner) in enumerate(self._inner, 1):
            flat[place[change[owner] <= -layer]] = 0
        label = np.concatenate([[0], self._cells.label]).astype(masks.dtype)
        for layer, (place, owner) in enumerate(self._outer, 1):
            grown = change[owner] >= layer
            flat[place[grown]] = label[owner[grown]]
        return self._cells.moved(masks, scale)


Layer = tuple[Ints, Ints]
"""Flat pixel indices, and the number of the cell that each belongs to."""


def _inner_layers(number: NDArray[np.int64], amplitude: int) -> list[Layer]:
    """The cells' pixels by depth: first those that touch another cell or the background."""
    layers: list[Layer] = []
    rest = number.copy()
    for _ in range(amplitude):
        outermost = np.zeros(rest.shape, np.bool_)
        for here, there in _neighbours(rest.ndim):
            outermost[here] |= rest[here] != rest[there]
        place = np.flatnonzero(outermost & (rest > 0))
        layers.append((place, number.reshape(-1)[place]))
        rest.reshape(-1)[place] = 0
    return layers


def _outer_layers(number: NDArray[np.int64], amplitude: int) -> list[Layer]:
    """The background's pixels by distance, each given to the cell it touches (the largest label, if several)."""
    layers: list[Layer] = []
    owned = number.copy()
    for _ in range(amplitude):
        owner = np.zeros_like(owned)
        for here, there in _neighbours(owned.ndim):
            np.maximum(owner[here], owned[there], out=owner[here])
        taken: Bools = (owned == 0) & (owner > 0)
        place = np.flatnonzero(taken)
        layers.append((place, owner.reshape(-1)[place]))
        owned[taken] = owner[taken]
    return layers


def _neighbours(n_dimensions: int) -> Iterator[tuple[tuple[slice, ...], tuple[slice, ...]]]:
    """Pairs of slices that lay an image on itself, shifted by one pixel in each direction along each axis."""
    for axis in range(n_dimensions):
        low = tuple(slice(None, -1) if a == axis else slice(None) for a in range(n_dimensions))
        high = tuple(slice(1, None) if a == axis else slice(None) for a in range(n_dimensions))
        yield low, high
        yield high, low
