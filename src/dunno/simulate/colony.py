"""A colony that grows, moves, pushes and divides, with its truth.

Cells are discs that do a random walk, push each other apart where they crowd, grow, and divide into two daughters that
land apart. Some enter at the border; those whose centre leaves the field of view are gone for good, so that a long
movie stays bounded by its field.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dunno.errors import InputError
from dunno.io.ctc import write_masks, write_sequence
from dunno.io.writing import whole
from dunno.simulate.spoiling import Faults, spoil
from dunno.types import Floats, Ints, Movie, Truth

BACKGROUND, BRIGHTNESS, NOISE = 20.0, 140.0, 8.0
PUSHES = 8


@dataclass(frozen=True)
class Parameters:
    """What a colony is made from; lengths in pixels, times in frames.

    Attributes:
        cells: Number of cells in the first frame.
        frames: Number of frames.
        motion: Standard deviation of a step along each axis, as a fraction of `spacing`.
        seed: Makes it repeatable.
        tail: Degrees of freedom of the steps' Student-t distribution; `inf` is Brownian motion.
        spacing: Distance between neighbours in the first frame.
        crowding: Cells closer than this fraction of `spacing` push each other apart.
        cycle: Mean time from birth to division; `inf` for none.
        division_distance: Distance between a division's daughters, as a fraction of `spacing`.
        enter: Mean number of cells that enter at the border per frame.
        room: Area of the field of view, as a multiple of what the first frame's cells fill.
        depth: Height of a volume; 1 for a plane.
    """

    cells: int = 30
    frames: int = 40
    motion: float = 0.3
    seed: int = 0
    tail: float = np.inf
    spacing: float = 24.0
    crowding: float = 0.7
    cycle: float = 30.0
    division_distance: float = 0.6
    enter: float = 0.2
    room: float = 2.0
    depth: int = 1

    def __post_init__(self) -> None:
        at_least = {
            "seed": 0,
            "cells": 1,
            "frames": 1,
            "motion": 0,
            "spacing": 4,
            "enter": 0,
            "crowding": 0,
            "division_distance": 0,
            "depth": 1,
        }
        for name, least in at_least.items():
            if not np.isfinite(getattr(self, name)) or getattr(self, name) < least:
                raise InputError(f"{name} is {getattr(self, name)}; expected at least {least}")
        for name in ("tail", "cycle", "room"):
            if not getattr(self, name) > 0:
                raise InputError(f"{name} is {getattr(self, name)}; expected more than 0")

    @property
    def side(self) -> int:
        """Side of the square field of view."""
        return int(np.ceil(self.spacing * np.sqrt(self.cells * self.room / self.layers)))

    @property
    def layers(self) -> int:
        """How many cells fit above each other."""
        return max(round(self.depth / self.spacing), 1)

    @property
    def shape(self) -> tuple[int, ...]:
        """Of a frame."""
        plane = (self.side, self.side)
        return plane if self.depth == 1 else (int(self.depth), *plane)


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The cells in one frame: (n,) tracks, (n, d) centres, (n,) radii."""

    track: Ints
    centre: Floats
    radius: Floats


@dataclass(frozen=True, eq=False)
class Colony:
    """A simulated movie with its truth, the parameters it was made from and what really happened in it.

    Where masks are spoiled, `faults` says how many, and `clean` is the movie with good ones.
    """

    movie: Movie
    truth: Truth
    parameters: Parameters
    events: dict[str, float]
    faults: Faults = field(default_factory=Faults)
    clean: Movie | None = None

    def save(self, path: str | Path) -> None:
        """Write a CTC sequence, such as `sim/01`: images, `01_GT/TRA`, `01_GT/SEG` and `01_GT/simulation.json`.

        Spoiled masks are written as a program's would be, into `01_RES`.
        """
        path = Path(path)
        with whole(path) as images, whole(path.with_name(f"{path.name}_GT")) as annotation:
            write_sequence(images, annotation, self.clean or self.movie, self.truth)
            about = {
                "version": version("dunno"),
                "parameters": asdict(self.parameters),
                "faults": asdict(self.faults),
                "events": self.events,
            }
            (annotation / "simulation.json").write_text(json.dumps(about, indent=2) + "\n")
        if self.faults:
            with whole(spoiled_folder(path)) as folder:
                write_masks(folder, self.movie)


def spoiled_folder(path: Path) -> Path:
    """Where the spoiled masks of a sequence are written."""
    return path.with_name(f"{path.name}_RES")


def colony(
    cells: int = 30,
    frames: int = 40,
    motion: float = 0.3,
    seed: int = 0,
    *,
    missed: float = 0.0,
    false: float = 0.0,
    merged: float = 0.0,
    split: float = 0.0,
    **others: float,
) -> Colony:
    """Simulate a colony.

    Args:
        cells: Number of cells in the first frame.
        frames: Number of frames.
        motion: Standard deviation of a step along each axis, as a fraction of the spacing between cells.
        seed: Makes it repeatable.
        missed: Share of the masks that are missing (see `dunno.simulate.Faults`).
        false: Number of false masks, as a share of all.
        merged: Share of the masks that are joined with a neighbour's.
        split: Share of the masks that are cut in two.
        **others: More of `Parameters`.

    Example:
        >>> colony(cells=5, frames=3).movie
        Movie('simulation', 3 frames of 76×76, simulated)
    """
    parameters = Parameters(cells, frames, motion, seed, **others)  # type: ignore[arg-type]
    growth = _Growth(parameters)
    snapshots = [growth.step() for _ in range(frames)]
    masks, images = RenderedMasks(parameters, snapshots), RenderedImages(parameters, snapshots)
    movie = Movie(masks, images, name="simulation", mask_source="simulated")
    truth = growth.truth(snapshots)
    events = _events(snapshots, truth)
    faults = Faults(missed, false, merged, split)
    if not faults:
        return Colony(movie, truth, parameters, events)
    spoiled = spoil(movie, truth, faults, seed)
    return Colony(spoiled.movie, spoiled.truth, parameters, events, faults, movie)


@dataclass
class _Growth:
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


def _events(snapshots: list[Snapshot], truth: Truth) -> dict[str, float]:
    """Count what really happened, for whoever estimates it."""
    mothers, counts = np.unique(truth.mother[truth.mother > 0], return_counts=True)
    steps = [
        (later.centre[now] - earlier.centre[before])
        for earlier, later in pairwise(snapshots)
        for _, before, now in [np.intersect1d(earlier.track, later.track, return_indices=True)]
    ]
    squared = (np.concatenate(steps) ** 2).sum(1) if steps else np.empty(0)
    return {
        "detections": float(sum(len(snapshot.track) for snapshot in snapshots)),
        "divisions": float((counts == 2).sum()),
        "appearances": float(((truth.mother == 0) & (truth.first > 0)).sum()),
        "losses": float(((truth.last < len(snapshots) - 1) & ~np.isin(truth.track, mothers)).sum()),
        "mean_squared_displacement": float(squared.mean()) if len(squared) else 0.0,
    }
