"""Cells that move, push each other, grow, divide, enter and leave, frame by frame.

Cells are discs that do a random walk, push each other apart where they crowd, grow, and divide into two daughters that
land apart. Some enter at the border; those whose centre leaves the field of view are gone for good, so that a long
movie stays bounded by its field.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dunno.simulate.parameters import Parameters
from dunno.types import Floats, Ints, Truth

PUSHES = 8


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The cells in one frame: (n,) tracks, (n, d) centres, (n,) radii."""

    track: Ints
    centre: Floats
    radius: Floats


@dataclass
class Growth:
    """The state of a growing colony; `rows` holds `[first, last, mother]` of every track."""

    parameters: Parameters
    rows: list[list[int]] = field(default_factory=list)
    frame: int = -1

    def __post_init__(self) -> None:
        p = self.parameters
        self.rng = np.random.default_rng(p.seed)
        self.centre = self._first_centres()
        n = len(self.centre)
        self.track: Ints = self._new_tracks(np.zeros(n, np.int64), first=0)
        self.divides_at = self._division_ages(n)
        self.age: Floats = self.rng.uniform(0, 1, n) * np.minimum(self.divides_at, p.frames + p.cycle)
        self.age[~np.isfinite(self.age)] = 0.0

    def _first_centres(self) -> Floats:
        """A jittered grid around the middle of the field."""
        p = self.parameters
        width = int(np.ceil(np.sqrt(p.cells / p.layers))) + 2
        axes = [np.arange(width) - (width - 1) / 2] * 2
        if p.depth > 1:
            axes = [np.arange(p.layers) - (p.layers - 1) / 2, *axes]
        grid = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, len(axes))
        near = np.argsort((grid[:, -2:] ** 2).sum(1), kind="stable")[: p.cells]
        jitter = self.rng.uniform(-0.15, 0.15, (p.cells, len(axes)))
        return np.asarray(np.array(p.shape) / 2 + p.spacing * (grid[near] + jitter))

    def _division_ages(self, n: int) -> Floats:
        cycle = self.parameters.cycle
        if not np.isfinite(cycle):
            return np.full(n, np.inf)
        return np.asarray(np.maximum(2.0, self.rng.normal(cycle, 0.15 * cycle, n)))

    def _new_tracks(self, mothers: Ints, first: int) -> Ints:
        numbers = len(self.rows) + 1 + np.arange(len(mothers))
        self.rows.extend([first, first, int(mother)] for mother in mothers)
        return numbers

    def step(self) -> Snapshot:
        """Go on by one frame."""
        self.frame += 1
        if self.frame > 0:
            self._move()
            self._divide()
            self._enter()
            self._push()
        self._leave()
        for track in self.track:
            self.rows[track - 1][1] = self.frame
        return Snapshot(self.track.copy(), self.centre.copy(), self._radius())

    def _radius(self) -> Floats:
        grown = np.where(np.isfinite(self.divides_at), self.age / self.divides_at, 0.5)
        return np.asarray(0.3 * self.parameters.spacing * np.sqrt(1 + grown.clip(0, 1)))

    def _move(self) -> None:
        p = self.parameters
        normal = np.isinf(p.tail)
        noise = self.rng.normal(size=self.centre.shape) if normal else self._heavy_tailed(len(self.centre))
        self.centre = self.centre + p.motion * p.spacing * noise
        self.age = self.age + 1

    def _heavy_tailed(self, n: int) -> Floats:
        """A multivariate Student-t: all axes share one chi-square."""
        tail, d = self.parameters.tail, len(self.parameters.shape)
        return np.asarray(self.rng.normal(size=(n, d)) / np.sqrt(self.rng.chisquare(tail, (n, 1)) / tail))

    def _divide(self) -> None:
        p = self.parameters
        ready = self.age >= self.divides_at
        apart = 0.5 * p.division_distance * p.spacing * self._directions(int(ready.sum()))
        mothers = np.repeat(self.track[ready], 2)
        centres = np.repeat(self.centre[ready], 2, axis=0) + np.stack([apart, -apart], 1).reshape(-1, apart.shape[1])
        self._keep(~ready)
        self._add(centres, mothers)

    def _directions(self, n: int) -> Floats:
        """(n, d) of length 1."""
        if self.parameters.depth > 1:
            way = self.rng.normal(size=(n, 3))
            return np.asarray(way / np.linalg.norm(way, axis=1, keepdims=True))
        angle = self.rng.uniform(0, 2 * np.pi, n)
        return np.stack([np.sin(angle), np.cos(angle)], 1)

    def _enter(self) -> None:
        n = self.rng.poisson(self.parameters.enter)
        along, side = self.rng.uniform(0, self.parameters.side, n), self.rng.integers(0, 4, n)
        edge = np.where(side % 2, self.parameters.side - 1.0, 0.0)
        centres = np.where((side < 2)[:, None], np.stack([along, edge], 1), np.stack([edge, along], 1))
        if self.parameters.depth > 1:
            centres = np.column_stack([self.rng.uniform(0, self.parameters.depth - 1, n), centres])
        self._add(centres, np.zeros(n, np.int64))

    def _add(self, centres: Floats, mothers: Ints) -> None:
        n = len(centres)
        self.centre = np.concatenate([self.centre, centres])
        self.track = np.concatenate([self.track, self._new_tracks(mothers, self.frame)])
        self.divides_at = np.concatenate([self.divides_at, self._division_ages(n)])
        self.age = np.concatenate([self.age, np.zeros(n)])

    def _keep(self, kept: NDArray[np.bool_]) -> None:
        self.centre, self.track = self.centre[kept], self.track[kept]
        self.divides_at, self.age = self.divides_at[kept], self.age[kept]

    def _push(self) -> None:
        """Push crowded cells apart, each by half of what is missing to the least distance."""
        from scipy.spatial import cKDTree

        least = self.parameters.crowding * self.parameters.spacing
        for _ in range(PUSHES):
            if len(self.centre) == 0:
                return
            close: Ints = cKDTree(self.centre).query_pairs(least, output_type="ndarray")
            apart = self.centre[close[:, 0]] - self.centre[close[:, 1]]
            distance = np.maximum(np.linalg.norm(apart, axis=1, keepdims=True), 1e-6)
            push = 0.5 * (least - distance) * apart / distance
            np.add.at(self.centre, close[:, 0], push)
            np.add.at(self.centre, close[:, 1], -push)

    def _leave(self) -> None:
        """Drop cells whose centre is out of view, or hidden by another on the same pixel."""
        pixel = np.floor(self.centre + 0.5).astype(np.int64)
        inside = ((pixel >= 0) & (pixel < self.parameters.shape)).all(1)
        _, first = np.unique(pixel, axis=0, return_index=True)
        alone = np.zeros(len(pixel), np.bool_)
        alone[first] = True
        self._keep(inside & alone)

    def truth(self, snapshots: list[Snapshot]) -> Truth:
        """List the tracks that were ever in view."""
        seen = tuple(np.sort(snapshot.track) for snapshot in snapshots)
        numbers = np.unique(np.concatenate(seen))
        rows = np.array([self.rows[track - 1] for track in numbers], np.int64).reshape(-1, 3)
        mother = np.where(np.isin(rows[:, 2], numbers), rows[:, 2], 0)
        return Truth(numbers, rows[:, 0], rows[:, 1], mother, np.arange(len(snapshots)), seen, seen, seen)
