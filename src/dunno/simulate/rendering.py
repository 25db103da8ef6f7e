"""Masks and images of simulated cells, drawn when a frame is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dunno.simulate.growth import Snapshot
from dunno.simulate.parameters import Parameters
from dunno.types import Floats

BACKGROUND, BRIGHTNESS, NOISE = 20.0, 140.0, 8.0


class RenderedMasks:
    """Masks drawn from the cells' places when they are asked for: each pixel goes to the cell it lies deepest in."""

    def __init__(self, parameters: Parameters, snapshots: list[Snapshot]) -> None:
        self.parameters = parameters
        self.snapshots = snapshots

    def __len__(self) -> int:
        return len(self.snapshots)

    def __getitem__(self, t: int) -> NDArray[np.integer[Any]]:
        return self.draw(t)[0]

    def draw(self, t: int) -> tuple[NDArray[np.uint32], Floats]:
        """Frame t's labels, and how deep each pixel lies in its cell (0 at the border, 1 in the middle)."""
        shape, cells = self.parameters.shape, self.snapshots[t]
        labels, depth = np.zeros(shape, np.uint32), np.zeros(shape)
        if len(cells.track) == 0:
            return labels, depth
        middle = np.floor(cells.centre + 0.5).astype(np.int64)
        reach = int(np.ceil(cells.radius.max())) + 1
        d = len(shape)
        stencil = np.stack(np.meshgrid(*[np.arange(-reach, reach + 1)] * d, indexing="ij"), -1).reshape(-1, d)
        pixel = middle[:, None] + stencil
        squared = ((pixel - cells.centre[:, None]) ** 2).sum(-1) / cells.radius[:, None] ** 2
        inside = (squared < 1) & ((pixel >= 0) & (pixel < shape)).all(-1)
        cell, place = np.nonzero(inside)
        order = np.argsort(-squared[cell, place], kind="stable")  # deepest last, so that it stays
        where = tuple(pixel[cell, place][order].T)
        labels[where] = cells.track[cell[order]]
        depth[where] = 1 - squared[cell, place][order]
        labels[tuple(middle.T)] = cells.track
        return labels, depth


class RenderedImages(RenderedMasks):
    """Noisy images of the cells, 8 bit."""

    def __getitem__(self, t: int) -> NDArray[np.integer[Any]]:
        _, depth = self.draw(t)
        rng = np.random.default_rng([self.parameters.seed, t])
        image = BACKGROUND + BRIGHTNESS * np.sqrt(depth) + rng.normal(0, NOISE, depth.shape)
        return image.clip(0, 255).astype(np.uint8)
