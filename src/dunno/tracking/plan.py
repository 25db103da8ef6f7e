"""What is decided before the first pair is tracked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dunno.calibration import Calibration
from dunno.costs import Cost
from dunno.io.links import Links
from dunno.methods import Method
from dunno.perturbations import Perturbation
from dunno.tracking.gate import find_candidates, merge
from dunno.types import Candidates, Detections, FramePair, Movie

if TYPE_CHECKING:
    from dunno.segments.segment_model import SegmentModel

BLOCK = 16  # frame pairs; benchmarks.scale
"""Frame pairs of a span: it reads its frames once, plus those it shares with its neighbours."""


@dataclass(frozen=True)
class Span:
    """Consecutive frame pairs of a movie."""

    movie: Movie  # Its frames, and those around them that a cost looks at
    first: int  # Position of the first pair's mothers in it
    n_pairs: int  # Number of pairs

    def pairs(self, window: int, max_distance: float) -> Iterator[FramePair]:
        """Yield the pairs in order, each frame read once and kept for as long as a pair looks at it."""
        seen: dict[int, Detections] = {}
        for t in range(self.first, self.first + self.n_pairs):
            around = frames_around(t, max(window, 2), len(self.movie))
            seen = {frame: seen[frame] if frame in seen else self.movie.detections(frame) for frame in around}
            frames = tuple(seen.values()) if window else ()
            yield FramePair(seen[t], seen[t + 1], max_distance, self.movie.scale, frames)


def spans_of(movie: Movie, window: int = 0, size: int = BLOCK, halo: int = 0) -> Iterator[Span]:
    """Cut a movie into spans; with a window or a halo, each has enough frames on either side of its own."""
    margin = max(window - 2, halo, 0)
    for start in range(0, len(movie) - 1, size):
        stop = min(start + size, len(movie) - 1)
        begin = max(start - margin, 0)
        yield Span(movie.part(slice(begin, stop + 1 + margin)), start - begin, stop - start)


def frames_around(t: int, window: int, length: int) -> range:
    """The window of frames with the pair (t, t + 1) in its middle; moved inwards at the movie's ends, so that it is full.

    Example:
        >>> list(frames_around(3, 4, 10)), list(frames_around(0, 4, 10)), list(frames_around(8, 4, 10))
        ([2, 3, 4, 5], [0, 1, 2, 3], [6, 7, 8, 9])
    """
    window = min(window, length)
    begin = min(max(t - (window - 2) // 2, 0), length - window)
    return range(begin, begin + window)


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


def candidates_of(plan: Plan, pair: FramePair) -> Candidates:
    """All of them, each once."""
    calibration = plan.calibrated_by
    stage = pair.stage if calibration.makes_costs else None  # only a model counts from there
    found = find_candidates(pair.mothers, pair.daughters, calibration.reach(pair) * plan.gate, stage)
    if (asked := plan.cost.candidates(pair)) is not None:
        found = merge(found, asked, len(pair.mothers))
    if plan.links is not None:
        given = Candidates(*plan.links.between(pair.mothers, pair.daughters))
        found = merge(found, given, len(pair.mothers))
    return found
