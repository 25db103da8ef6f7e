"""The table's rows by what they were measured on, so that methods can be compared on the same thing."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from dunno.benchmark.rows import Row, distinct

NAN = float("nan")
FITTED = ("temperature",)
"""Columns that mean nothing where the fit does not trust itself."""


@dataclass
class Scene:
    """One sequence of a dataset at one frame step: what all costs and methods gave there.

    Attributes:
        dataset: Its name.
        sequence: Which one.
        step: Every how many frames.
        rows: By cost, method and scaling; of several dropout rates the first.
        dropouts: Rows with a dropout rate, by cost, method and scaling, then by rate.
    """

    dataset: str
    sequence: str
    step: int
    rows: dict[tuple[str, str, str], Row] = field(default_factory=dict)
    dropouts: dict[tuple[str, str, str], dict[float, Row]] = field(default_factory=dict)

    def add(self, row: Row) -> None:
        """Take in a row."""
        key = (row.cost, row.method, row.scaling)
        self.rows.setdefault(key, row)
        if row.dropout is not None:
            self.dropouts.setdefault(key, {})[row.dropout] = row

    @property
    def costs(self) -> list[str]:
        """The costs that were measured here."""
        return distinct(self.rows.values(), "cost")

    def value(self, column: str, cost: str, method: str, scaling: str = "none") -> float:
        """A number of the table, NaN where there is none."""
        row = self.rows.get((cost, method, scaling))
        found = None if row is None else getattr(row, column)
        if row is None or found is None or (column in FITTED and not row.trusted):
            return NAN
        return float(found)

    def by_dropout(self, column: str, cost: str, method: str, scaling: str = "none") -> dict[float, float]:
        """A column at each dropout rate."""
        found = self.dropouts.get((cost, method, scaling), {})
        return {rate: float(getattr(row, column)) for rate, row in found.items() if getattr(row, column) is not None}


Value = Callable[[Scene, str], float]
"""A number of a scene with one cost."""


def scenes(rows: Iterable[Row]) -> list[Scene]:
    """Sort the measured rows by dataset, sequence and step."""
    found: dict[tuple[str, str, int], Scene] = {}
    for row in rows:
        if row.is_measured and row.sequence is not None:
            key = (row.dataset, row.sequence, row.step)
            found.setdefault(key, Scene(*key)).add(row)
    return list(found.values())


def mean(values: Iterable[float]) -> float:
    """The mean of what is there; NaN if nothing is."""
    there = [value for value in values if not math.isnan(value)]
    return math.fsum(there) / len(there) if there else NAN


def standard_error(values: Sequence[float]) -> float:
    """Of the mean; NaN for fewer than two."""
    n = len(values)
    if n < 2:
        return NAN
    centre = math.fsum(values) / n
    return math.sqrt(math.fsum((value - centre) ** 2 for value in values) / (n - 1) / n)


def dataset_means(rows: Sequence[Row], column: str) -> list[float]:
    """One number per dataset: a column's mean over sequences, and whatever else the rows differ in."""
    found = [mean(_numbers(rows, dataset, column)) for dataset in distinct(rows, "dataset")]
    return [value for value in found if not math.isnan(value)]


def _numbers(rows: Sequence[Row], dataset: str, column: str) -> list[float]:
    return [float(v) for row in rows if row.dataset == dataset and (v := getattr(row, column)) is not None]
