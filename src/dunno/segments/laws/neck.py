"""Whether a mask has a neck: masks of two cells nearly always have one, those of one cell hardly ever; and how that lasts.

Levels are a Markov chain of their own in masks of one cell and in masks of two. Everything is relative to what a mask of one
cell shows at first, p₁(l), so that a lone mask weighs nothing: a mask that begins to hold two weighs p₂(l) / p₁(l), one that goes
on as one cell T₁(l → l′) / p₁(l′), and one that goes on with two T₂(l → l′) / p₁(l′).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dunno.segments.near_pairs import Near
from dunno.segments.segments import Segments
from dunno.types import Floats, Ints
from dunno.types.records import ProperShare

NECK_LEVELS = 0.003, 0.03  # roots of the area; benchmarks.parts
"""None below the first, a clear one from the second on; in roots of the area, as `Parts.neck`."""

Shares = tuple[ProperShare, ProperShare, ProperShare]
Chain = tuple[Shares, Shares, Shares]

ONE_CELL_NECK, TWO_CELLS_NECK = (0.93, 0.05, 0.02), (0.15, 0.25, 0.6)  # shares; benchmarks.parts
ONE_NEXT: Chain = ((0.97, 0.02, 0.01), (0.46, 0.48, 0.06), (0.18, 0.25, 0.57))  # shares; benchmarks.parts
TWO_NEXT: Chain = ((0.7, 0.25, 0.05), (0.12, 0.58, 0.3), (0.02, 0.14, 0.84))  # shares; benchmarks.parts
"""Beforehand: about what annotated cells of iPSC-07 01 and 02 show (benchmarks.parts)."""

ONE_WORTH, TWO_WORTH = 100.0, 1000.0  # masks; docs/masks.md
"""Masks that these are worth, of one cell and of two: what the latter look like is hardly left to the movie."""


@dataclass(frozen=True)
class Neck:
    """Shares of the levels.

    Attributes:
        one: Of masks that hold one cell.
        two: Of those that hold two.
        one_next: Of the next mask of one cell, by its level.
        two_next: The same of two.
    """

    one: Shares = ONE_CELL_NECK
    two: Shares = TWO_CELLS_NECK
    one_next: Chain = ONE_NEXT
    two_next: Chain = TWO_NEXT

    def log_two(self, level: Ints) -> Floats:
        """Of masks that begin to hold two."""
        return np.asarray(np.log(self.two)[level] - np.log(self.one)[level])

    def log_lasts(self, pairs: Near, segments: Segments, two: bool = False) -> Floats:
        """(P,) of masks that go on with one cell, or with two; 0 where one is a part or a union."""
        level = neck_levels(segments)
        before, after = level[pairs.mother], level[pairs.daughter]
        known = (before >= 0) & (after >= 0)
        chain = np.array(self.two_next if two else self.one_next)
        ratio = np.zeros(len(pairs))
        for gap in np.unique(pairs.gap).tolist():
            own = known & (pairs.gap == gap)
            next_one = np.linalg.matrix_power(chain, gap + 1)
            ratio[own] = np.log(next_one[before[own], after[own]]) - np.log(self.one)[after[own]]
        return ratio

    def fitted(self, segments: Segments, single: Floats, two: Floats, lasting: Near, one: Floats, both: Floats) -> Neck:
        """By how probable it is that each mask holds one cell, and two, and that these pairs of masks go on so."""
        level = neck_levels(segments)
        masks = level[: segments.n_masks]
        step = level[lasting.mother] * 3 + level[lasting.daughter]
        steps = [np.bincount(step, weight, 9).astype(np.float64).reshape(3, 3) for weight in (one, both)]
        return Neck(
            _shares(np.bincount(masks, single, 3).astype(np.float64), ONE_CELL_NECK, ONE_WORTH),
            _shares(np.bincount(masks, two, 3).astype(np.float64), TWO_CELLS_NECK, TWO_WORTH),
            _chain(steps[0], ONE_NEXT, ONE_CELL_NECK, ONE_WORTH),
            _chain(steps[1], TWO_NEXT, TWO_CELLS_NECK, TWO_WORTH),
        )


def neck_levels(segments: Segments) -> Ints:
    """(N,) of each mask; -1 of parts and unions."""
    level = np.digitize(segments.neck, NECK_LEVELS)
    return np.where(np.isnan(segments.neck), -1, level)


def _shares(count: Floats, prior: Shares, worth: float) -> Shares:
    found = count + worth * np.array(prior)
    return tuple((found / found.sum()).tolist())


def _chain(count: Floats, prior: Chain, marginal: Shares, worth: float) -> Chain:
    """Rows are worth as much as they are frequent."""
    first, second, third = (
        _shares(row, before, worth * share) for row, before, share in zip(count, prior, marginal, strict=True)
    )
    return first, second, third
