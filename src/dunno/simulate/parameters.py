"""What a colony is made from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dunno.errors import InputError


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
