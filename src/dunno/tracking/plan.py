"""What is decided before the first pair is tracked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dunno.calibration import Calibration
from dunno.costs import Cost
from dunno.io.links import Links
from dunno.methods import Method
from dunno.perturbations import Perturbation
from dunno.segments.segment_model import SegmentModel
from dunno.tracking.spans import BLOCK

HALO = 4  # frames; docs/gaps.md
"""Frames on either side of a block with gaps: marginals are then within 1e-3 of the whole movie's."""


@dataclass(frozen=True)
class Plan:
    """Everything that is decided before the first pair is tracked.

    `evidence` names the terms that speak beside places in a model that is fitted; `None` lets skipping frames decide. `max_gap` is
    how many frames a link may skip; `None` lets the fit decide. `divisions` is whether cells may divide. `repair` is whether masks
    may be cut, joined and left out; `None` lets a glance at them decide.
    """

    cost: Cost
    method: Method
    perturbation: Perturbation | None
    gate: float
    max_distance: float
    appear_cost: float | None
    disappear_cost: float | None
    divide_cost: float | None
    no_mother: bool
    seed: int
    links: Links | None
    calibration: Calibration | None
    evidence: tuple[str, ...] | None = None
    max_gap: int | None = 0
    divisions: bool = True
    repair: bool | None = None

    @property
    def calibrated_by(self) -> Calibration:
        """Its calibration, or one that changes nothing."""
        return self.calibration or Calibration()

    @property
    def solves_blocks(self) -> bool:
        """Whether the pairs of a block are solved by one call: with a fitted model, by the posterior that JP reports."""
        plain = self.no_mother and self.method.solves_blocks
        return self.calibrated_by.solves_blocks and (plain or self.halo > 0)

    @property
    def bounds_candidates(self) -> bool:
        """Whether edges that are next to impossible may be left out: nobody has asked for them."""
        return self.links is None and bool(np.isfinite(self.gate))

    @property
    def segments(self) -> SegmentModel | None:
        """How masks are made of objects; `None` where every mask is one."""
        return self.calibrated_by.segments

    @property
    def halo(self) -> int:
        """How many frames on either side of a block are solved with it."""
        longest = self.calibrated_by.max_gap
        return max(HALO, longest + 1) if longest else 0

    @property
    def block(self) -> int:
        """How many frame pairs one worker does at a time."""
        together = self.calibrated_by.frames_per_block
        return max(together - 2 * self.halo, 1) if together else BLOCK

    @property
    def window(self) -> int:
        """How many frames around a pair its cost looks at; 0 if just the two."""
        return self.cost.window
