"""A movie of any size that costs next to nothing to make: discs that swing about the points of a lattice.

Every frame is computed when it is asked for, from its number alone, so a movie of a hundred million cells needs no disk and no
memory, and making its masks is not what a benchmark measures. Density stays the same however many cells there are.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

SPACING = 20
RADIUS = 3.6
SWING = 5.0
ABSENT = 5
PERIOD = 400


class Crowd:
    """Frames of `cells` discs, most of them in view, as a `Movie` takes them.

    A cell swings with a frequency and phase of its own along each axis, by up to 3 pixels a frame, and is out of sight for 5 of 400
    frames: there are displacements, appearances and disappearances to find.

    Args:
        cells: How many.
        frames: How many.
        shape: Size of a frame; `None` makes a square at the usual density, one cell in 20 × 20 pixels.
        seed: Makes another crowd.
    """

    def __init__(self, cells: int, frames: int, shape: tuple[int, int] | None = None, seed: int = 0) -> None:
        side = int(np.ceil(np.sqrt(cells)))
        self.cells, self.frames, self.seed = cells, frames, seed
        self.frame_shape = shape or (side * SPACING, side * SPACING)

    def __len__(self) -> int:
        return self.frames

    @cached_property
    def _motion(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """(n, 2) homes, (n, 2) frequencies, (n, 2) phases and (n,) when each cell is out of sight."""
        rng = np.random.default_rng(self.seed)
        rows = int(np.ceil(np.sqrt(self.cells * self.frame_shape[0] / self.frame_shape[1])))
        columns = -(-self.cells // rows)
        grid = np.stack(np.divmod(np.arange(self.cells), columns), axis=1)
        home = (grid + 0.5) * np.array(self.frame_shape) / (rows, columns)
        frequency = rng.uniform(0.05, 0.6, (self.cells, 2))
        phase = rng.uniform(0, 2 * np.pi, (self.cells, 2))
        return home, frequency, phase, rng.integers(0, PERIOD, self.cells)

    @cached_property
    def _disc(self) -> np.ndarray:
        """(p, 2) the pixels of a disc about its centre."""
        reach = np.arange(-int(RADIUS), int(RADIUS) + 1)
        pixels = np.stack(np.meshgrid(reach, reach, indexing="ij"), axis=-1).reshape(-1, 2)
        return pixels[(pixels**2).sum(axis=1) <= RADIUS**2]

    def places(self, t: int) -> tuple[np.ndarray, np.ndarray]:
        """(n,) labels and (n, 2) centres, in whole pixels, of the cells in view."""
        home, frequency, phase, away = self._motion
        seen = np.flatnonzero((t + away) % PERIOD >= ABSENT)
        places = home[seen] + SWING * np.sin(frequency[seen] * t + phase[seen])
        margin = int(RADIUS)
        return seen + 1, np.clip(places.round().astype(np.int64), margin, np.array(self.frame_shape) - margin - 1)

    def __getitem__(self, t: int) -> np.ndarray:
        labels, places = self.places(t)
        masks = np.zeros(self.frame_shape, np.uint16 if self.cells < 1 << 16 else np.uint32)
        width = self.frame_shape[1]
        flat = (places @ (width, 1))[:, None] + self._disc @ (width, 1)
        masks.reshape(-1)[flat] = labels[:, None]
        return masks

    def where(self, t: int) -> str:
        """Frame t's name."""
        return f"crowd, frame {t}"

    def save(self, path: Path) -> None:
        """Write the movie as a compressed zarr, a frame per chunk, one at a time."""
        import zarr

        store: Any = zarr.open_array(
            path,
            mode="w",
            shape=(self.frames, *self.frame_shape),
            chunks=(1, *self.frame_shape),
            dtype=self[0].dtype,
        )
        for t in range(self.frames):
            store[t] = self[t]

    def __reduce__(self) -> tuple[type[Crowd], tuple[int, int, tuple[int, int], int]]:
        return Crowd, (self.cells, self.frames, self.frame_shape, self.seed)
