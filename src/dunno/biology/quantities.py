"""Everything that is measured of a tracking, with what drawn lineages say about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dunno.biology import tables
from dunno.biology.figures import QUANTITIES, QuantityKind
from dunno.biology.lineage import Lineage
from dunno.biology.pooling import quantile_interval, rubin, student_interval
from dunno.biology.rows import CellRows
from dunno.biology.survival import Survival, survival
from dunno.errors import InputError, MissingExtra
from dunno.tracking import Tracking
from dunno.tracking.division_count import DivisionCount
from dunno.types import Floats, RunInfo

if TYPE_CHECKING:
    import pandas

SAMPLES = 200
"""Lineages that are drawn unless told otherwise."""

MOST_KNOWN = 0.95
"""A figure that is undefined in more of the drawn lineages has no interval."""


class Quantity(NamedTuple):
    """A number with its doubt."""

    name: str  # As in `figures.csv`
    words: str  # As a person reads it
    unit: str  # Of the value
    # The median over drawn lineages, which lies in its interval; of the reported one where none are drawn. The number of
    # divisions is that of `Tracking.divisions`, which the screen says, too
    value: float
    low: float  # Of the 95 % interval over drawn lineages: what the figure of this very movie may be. NaN without draws
    high: float  # Its other end
    # Of the 95 % interval that also counts chance in which cells were seen (Rubin's rules); NaN where undefined
    low_cells: float
    high_cells: float  # Its other end
    reported: float  # Of the reported lineage, which makes the most decisions right and is not one of the drawn ones


class DataFrames(NamedTuple):
    """`Biology.to_pandas()`: a data frame per table."""

    cells: pandas.DataFrame
    tracks: pandas.DataFrame
    cycles: pandas.DataFrame
    families: pandas.DataFrame
    frames: pandas.DataFrame
    figures: pandas.DataFrame
    survival: pandas.DataFrame


@dataclass(frozen=True, eq=False)
class Biology:
    """What was measured.

    Attributes:
        tracking: Of what.
        lineage: The reported one.
        draws: Lineages drawn from the posterior; none where the method has no posterior to draw from.
        why_no_draws: Why there are none; empty where there are.
        debris: How many tracks are taken for debris.
        with_debris: Whether they are measured like cells.
        counted: How many divisions there are, as the screen and the report say; `None`: those of the drawn lineages.
    """

    tracking: Tracking
    lineage: Lineage
    draws: tuple[Lineage, ...]
    why_no_draws: str = ""
    debris: int = 0
    with_debris: bool = False
    counted: DivisionCount | None = None

    @property
    def time_unit(self) -> str:
        """`minutes`, or `frames`."""
        return self.lineage.rows.unit

    @cached_property
    def figures(self) -> list[Quantity]:
        """Every figure, with its intervals."""
        return [self._figure(kind) for kind in QUANTITIES]

    @cached_property
    def survival(self) -> Survival | None:
        """The share of cells that have not divided by age; `None` where no birth was seen."""
        return survival(self.lineage, self.draws)

    @cached_property
    def tables(self) -> dict[str, dict[str, Any]]:
        """All tables as columns, by name."""
        return {
            "cells": tables.cells(self.lineage, self.tracking),
            "tracks": tables.tracks(self.lineage, self.tracking, self.draws),
            "cycles": tables.cycles(self.lineage, self.draws),
            "families": tables.families(self.lineage, self.draws),
            "frames": tables.frames(self.lineage, self.draws),
            "figures": {name: np.array([getattr(each, name) for each in self.figures]) for name in Quantity._fields},
            "survival": tables.curve(self.survival),
        }

    def to_pandas(self) -> DataFrames:
        """The tables as data frames: `.cells`, `.tracks`, `.cycles`, `.families`, `.frames`, `.figures`, `.survival`."""
        try:
            import pandas
        except ImportError:
            raise MissingExtra("to_pandas needs pandas: pip install 'dunno[pandas]'") from None
        return DataFrames(**{name: pandas.DataFrame(columns) for name, columns in self.tables.items()})

    def estimates(self, kind: QuantityKind) -> tuple[Floats, Floats]:
        """(n,) a figure's value and (n,) its variance over cells in every drawn lineage."""
        found = np.array([kind.compute(lineage) for lineage in self.draws or (self.lineage,)])
        return found[:, 0], found[:, 1]

    def _figure(self, kind: QuantityKind) -> Quantity:
        reported, _ = kind.compute(self.lineage)
        values, variances = self.estimates(kind)
        unit = kind.unit.format(
            time=self.time_unit.removesuffix("s") if "per" in kind.unit else self.time_unit,
            length=self.tracking.about.length_unit,
        )
        known = ~np.isnan(values)
        counted = self.counted
        if kind.name == "divisions" and counted is not None:
            value, low, high = map(float, (counted.about, counted.low, counted.high))
        elif not self.draws or known.mean() < MOST_KNOWN:
            value, low, high = reported, float("nan"), float("nan")
        else:
            value = float(np.quantile(values[known], 0.5, method="nearest"))
            low, high = map(float, quantile_interval(values[known]))
        cells = over_cells(values, variances, kind.log)
        if not np.isnan(cells[0]):  # chance comes on top of doubt
            cells = float(np.fmin(cells[0], low)), float(np.fmax(cells[1], high))
        return Quantity(kind.name, kind.words, unit, value, low, high, *cells, reported)


def over_cells(values: Floats, variances: Floats, log: bool) -> tuple[float, float]:
    """The 95 % interval by Rubin's rules; NaN where a variance is not known."""
    if np.isnan(values).any() or np.isnan(variances).any() or (log and (values <= 0).any()):
        return float("nan"), float("nan")
    low, high = student_interval(rubin(np.log(values) if log else values, variances))
    return (float(np.exp(low)), float(np.exp(high))) if log else (float(low), float(high))


def measure(
    tracking: Tracking,
    samples: int = SAMPLES,
    seed: int = 0,
    watch: Callable[[Iterable[Tracking], int], Iterable[Tracking]] = lambda drawn, total: drawn,
    with_debris: bool = False,
) -> Biology:
    """Measure a tracking's biology, with the doubt of its links carried along.

    Args:
        tracking: What was tracked; of method JP where intervals are wanted.
        samples: Lineages to draw for the intervals; 0 for none.
        seed: Of the draws.
        watch: Wraps the drawn trackings, knowing how many there will be.
        with_debris: Measure tracks that are taken for debris like cells.

    Example:
        >>> from dunno import Tracker
        >>> from dunno.simulate import colony
        >>> found = measure(Tracker(calibration=None).track(colony(cells=5, frames=6, cycle=4).movie), samples=5)
        >>> found.figures[0].name, found.figures[0].low <= found.figures[0].value <= found.figures[0].high
        ('divisions', True)
    """
    if samples < 0:
        raise InputError(f"samples is {samples}; expected a number of lineages to draw, or 0")
    rows, debris = CellRows.of(tracking), [row.track for row in tracking.tracks() if row.is_debris]
    if debris and not with_debris:
        rows = rows.only(~np.isin(tracking.cells.track, debris))
    why_not = "none were asked for" if samples == 0 else ""
    drawn: Sequence[Tracking] = ()
    if samples:
        try:
            drawn = tracking.sample(samples, seed)
        except InputError as error:
            why_not = str(error)
    draws = tuple(Lineage.of(rows, each) for each in watch(drawn, len(drawn)))
    counted = (tracking if with_debris else tracking.without_debris()).divisions() if draws else None
    return Biology(tracking, Lineage.of(rows, tracking), draws, why_not, len(debris), with_debris, counted)


IN_THE_INTERVALS = {
    "in": "which mask is whose mother: all that the model believes possible, drawn as whole lineages, in which a cell "
    "does not divide again within a quarter of the time in which the cells double",
    "gaps": "masks that are missing in some frames, as far as links across gaps were looked for",
    "masks": "who is who after cells shared a mask; the masks themselves are taken as they were repaired",
}
NOT_IN_THE_INTERVALS = (
    "faults of the masks that the model does not know of: a split or merged mask reads as an event of the cell",
    "the share ε of links that are wrong for reasons outside the model",
    "conventions of an annotator, such as the frame in which a division is counted",
    "the doubt of the fitted parameters themselves, but for the odds of divisions where masks are judged",
)


def what_is_in(about: RunInfo) -> list[str]:
    """What the intervals of an output hold, a line each."""
    told = [IN_THE_INTERVALS["in"]]
    if about.longest_gap:
        told.append(IN_THE_INTERVALS["gaps"])
    if about.judges_masks:
        told.append(IN_THE_INTERVALS["masks"])
    return told
