"""The tidy table: a row per dataset, sequence, frame step, cost, method and scaling."""

from __future__ import annotations

import csv
import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from dunno.errors import InputError
from dunno.io.writing import whole


@dataclass(frozen=True)
class Row:
    """What one method with one scaling gave on one sequence; numbers are `None` where there are none, and `reason` says why.

    Attributes:
        dataset: Its folder's name.
        sequence: The sequence that is evaluated; `None` where the whole unit failed.
        step: Every how many frames.
        cost: The cost's name.
        method: The method's name.
        scaling: "none" (not calibrated); "temperature" (fitted with truth); "self" (fitted to the movie itself, no truth); for
            JP also "events" (its model fitted with truth).
        model: The transformer's model, by its folder's name.
        dropout: Its dropout rate.
        n_pairs: Frame pairs that are evaluated.
        n_links: Links that are evaluated; this and the scores as in `dunno.evaluation.score`.
        confidence: Mean confidence of the links; above `accuracy` it is overconfident.
        promised_swaps: How many links are promised to be wrong, of those whose daughter's true mother is among the masks.
        swaps: How many of these are.
        gain_edge: Mean gain in accuracy from leaving out the links of least probability; `gain_entropy` likewise for entropy.
        oracle_gain: The most that any order could gain.
        temperature: T; the geometric mean of two where halves are cross-fitted.
        mean_squared_displacement: Of true links in what was calibrated on, in squared units of length.
        dimensions: 2 or 3.
        seconds: CPU seconds of tracking, in one thread, calibration applied but not fitted ("self" fits while it tracks).
        overhead: `seconds` over those of SM, measured in the same unit.
        trusted: Whether the calibration trusts itself; `None` without one.
        masks: Where the detections came from.
        reason: Why there are no numbers, or what speaks against them.
        dunno: The version.
        seed: Of everything random.
        curves: The calibration and sparsification curves; not in the table.
    """

    dataset: str
    sequence: str | None
    step: int
    cost: str
    method: str
    scaling: str
    model: str | None = None
    dropout: float | None = None
    n_pairs: int | None = None
    n_links: int | None = None
    accuracy: float | None = None
    recall: float | None = None
    daughter_accuracy: float | None = None
    confidence: float | None = None
    ece: float | None = None
    ece_floor: float | None = None
    ece_daughters: float | None = None
    ece_daughters_floor: float | None = None
    nll: float | None = None
    brier: float | None = None
    auroc: float | None = None
    aurc: float | None = None
    promised_swaps: float | None = None
    swaps: int | None = None
    gain_edge: float | None = None
    gain_entropy: float | None = None
    oracle_gain: float | None = None
    temperature: float | None = None
    mean_squared_displacement: float | None = None
    dimensions: int | None = None
    seconds: float | None = None
    overhead: float | None = None
    trusted: bool | None = None
    masks: str | None = None
    reason: str | None = None
    dunno: str = ""
    seed: int = 0
    curves: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def is_measured(self) -> bool:
        """Whether there are numbers."""
        return self.n_links is not None


COLUMNS = tuple(each.name for each in fields(Row) if each.name != "curves")
LATER = ("promised_swaps", "swaps")
"""Columns that tables of version 0.1 do not have."""


def write_rows(rows: Iterable[Row], path: Path) -> None:
    """Write the table as CSV, whole or not at all; empty where there is no number."""
    with whole(path, overwrite=True) as partial, partial.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        table.writerows([_text(getattr(row, name)) for name in COLUMNS] for row in rows)


def _text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def read_rows(path: Path) -> list[Row]:
    """Read what `write_rows` wrote; the curves are not in it."""
    kinds = {name: _kind(hint) for name, hint in get_type_hints(Row).items()}
    with path.open(newline="", encoding="utf-8") as file:
        table = csv.DictReader(file)
        if tuple(table.fieldnames or ()) not in (COLUMNS, tuple(name for name in COLUMNS if name not in LATER)):
            raise InputError(f"{path}: is no table of this version's benchmark; run dunno benchmark again")
        return [Row(**{name: _value(text, kinds[name]) for name, text in each.items()}) for each in table]


def _kind(hint: Any) -> type:
    """The type beside None."""
    if get_origin(hint) is types.UnionType:
        return next(each for each in get_args(hint) if each is not type(None))  # type: ignore[no-any-return]
    return hint if isinstance(hint, type) else dict


def _value(text: str, kind: type) -> Any:
    if text == "":
        return None
    return text == "True" if kind is bool else kind(text)


def select(rows: Sequence[Row], **conditions: Any) -> list[Row]:
    """The measured rows for which every named column is the value, or one of a tuple of values."""

    def fits(row: Row) -> bool:
        return all(
            getattr(row, name) in wanted if isinstance(wanted, tuple) else getattr(row, name) == wanted
            for name, wanted in conditions.items()
        )

    return [row for row in rows if row.is_measured and fits(row)]


def comparable(rows: Sequence[Row]) -> list[Row]:
    """What could be temperature-scaled, as tracked and calibrated; everything if nothing could.

    Means of scaled and unscaled rows are only comparable over the same movies, and short ones cannot be calibrated on.
    """

    def place(row: Row) -> tuple[object, ...]:
        return (row.dataset, row.sequence, row.step, row.cost, row.method, row.model, row.dropout)

    scaled = {place(row) for row in select(rows, scaling="temperature")}
    return [row for row in select(rows) if place(row) in scaled or not scaled]


def distinct(rows: Iterable[Row], column: str) -> list[Any]:
    """The values of a column, in the order in which they first come."""
    return list(dict.fromkeys(getattr(row, column) for row in rows))
