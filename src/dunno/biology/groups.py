"""Conditions of a plate side by side: every figure per group, with the doubt of the links and the spread of the wells."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dunno import __version__
from dunno.biology.figures import QUANTITIES
from dunno.biology.pooling import quantile_interval, rubin, student_interval
from dunno.biology.quantities import Biology, measure
from dunno.biology.results_folder import write_biology, write_table
from dunno.errors import InputError
from dunno.io.writing import leave_marker, whole
from dunno.tracking import Tracking
from dunno.types import Floats

COLUMN_NAMES = {"name": ("name", "well", "output", "movie"), "group": ("group", "condition", "treatment")}


@dataclass(frozen=True)
class Compared:
    """A figure of a group, and how far it is from that of the first group."""

    figure: str  # Its name
    words: str  # As a person reads it
    group: str  # The group
    wells: int  # How many outputs it has
    mean: float  # Over the wells' reported lineages
    low: float  # Of the 95 % interval: doubt of the links, and spread of the wells where there are two or more
    high: float  # Its other end
    difference: float  # From the first group; NaN for the first itself
    difference_low: float  # Of its interval
    difference_high: float  # Its other end
    holds: str  # What the interval holds: `links and wells`, or `links` alone


def read_groups(path: Path) -> dict[str, str]:
    """Which group each output belongs to, in the order of the table: columns name (or well) and group (or condition)."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            lower = {str(name).strip().lower(): str(name) for name in reader.fieldnames or ()}
            found = {
                part: next((lower[each] for each in known if each in lower), "") for part, known in COLUMN_NAMES.items()
            }
            if not all(found.values()):
                raise InputError(f"{path}: has the columns {', '.join(lower)[:200] or 'none'}; expected name and group")
            rows = [((row[found["name"]] or "").strip(), (row[found["group"]] or "").strip()) for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read as a table ({error}); expected columns name and group") from None
    if not rows or not all(name and group for name, group in rows):
        raise InputError(f"{path}: has no rows, or one that is not filled in; expected a name and a group in every row")
    return dict(rows)


def compare_groups(
    folder: Path,
    groups: Mapping[str, str],
    target: Path,
    *,
    samples: int,
    seed: int = 0,
    overwrite: bool = False,
    with_debris: bool = False,
) -> list[Compared]:
    """Measure every output of a plate into `target/NAME`, and write `wells.csv` and `groups.csv`."""
    missing = next((name for name in groups if not (folder / name).is_dir()), None)
    if missing is not None:
        raise InputError(f"{folder / missing}: there is no such output; the table's names are the folders in {folder}")
    with whole(target, overwrite) as partial:
        partial.mkdir(parents=True)
        drawn: dict[str, dict[str, Floats]] = {}
        reported: dict[str, dict[str, float]] = {}
        for name in groups:
            found = measure(Tracking.read(folder / name), samples, seed, with_debris=with_debris)
            write_biology(found, partial / name)
            drawn[name] = {kind.name: found.estimates(kind)[0] for kind in QUANTITIES}
            reported[name] = {each.name: each.value for each in found.figures}
            _write_well(partial / "wells.csv", name, groups[name], found)
        compared = [each for kind in QUANTITIES for each in _compare(kind.name, kind.words, groups, drawn, reported)]
        columns = {field: np.array([getattr(each, field) for each in compared]) for field in Compared.__annotations__}
        write_table(partial / "groups.csv", columns)
        leave_marker(partial, __version__, biology={"groups": sorted(set(groups.values()))})
    return compared


def _write_well(path: Path, name: str, group: str, found: Biology) -> None:
    is_new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if is_new:
            writer.writerow(("name", "group", "figure", "value", "low", "high"))
        for each in found.figures:
            ends = ("" if np.isnan(value) else f"{value:.9g}" for value in (each.value, each.low, each.high))
            writer.writerow((name, group, each.name, *ends))


def _compare(
    figure: str,
    words: str,
    groups: Mapping[str, str],
    drawn: Mapping[str, Mapping[str, Floats]],
    reported: Mapping[str, Mapping[str, float]],
) -> list[Compared]:
    """One figure in all groups; the first is what the others are compared with."""
    names = list(dict.fromkeys(groups.values()))
    wells = {group: [name for name, own in groups.items() if own == group] for group in names}
    values = {group: np.array([drawn[name][figure] for name in wells[group]]) for group in names}
    first = values[names[0]]
    told = []
    for group in names:
        own = values[group]
        mean = float(np.mean([reported[name][figure] for name in wells[group]]))
        base = float(np.mean([reported[name][figure] for name in wells[names[0]]]))
        apart = (np.nan, np.nan) if group == names[0] else interval(own, first)
        holds = "links and wells" if len(own) > 1 and (group == names[0] or len(first) > 1) else "links"
        differs = np.nan if group == names[0] else mean - base
        told.append(Compared(figure, words, group, len(own), mean, *interval(own), differs, *apart, holds))
    return told


def interval(own: Floats, other: Floats | None = None) -> tuple[float, float]:
    """The 95 % interval of the mean over wells (W, n draws), or of its distance from another group's.

    With two wells or more, Rubin's rules: within a draw, the wells' variance over their number; between draws, the doubt of the
    links. With one well the spread of wells is not known, and the interval holds the doubt of the links alone.
    """
    sides = [own] if other is None else [own, other]
    if any(np.isnan(side).any() for side in sides):
        return float("nan"), float("nan")
    n = min(side.shape[1] for side in sides)
    means = own.mean(axis=0)[:n] - (0.0 if other is None else other.mean(axis=0)[:n])
    if any(len(side) < 2 for side in sides):
        low, high = quantile_interval(means)
        return float(low), float(high)
    within = sum(side.var(axis=0, ddof=1)[:n] / len(side) for side in sides)
    pooled = rubin(means, np.asarray(within))
    wells = sum(len(side) - 1 for side in sides)  # few wells know their own spread badly
    low, high = student_interval(pooled._replace(freedom=np.minimum(pooled.freedom, wells)))
    return float(low), float(high)


def sentences(compared: Sequence[Compared]) -> list[str]:
    """What differs from the first group, a line each; and that nothing does, if so."""
    told = [
        f"{each.words}: {each.group} differs by {each.difference:.3g} ({each.difference_low:.3g} to {each.difference_high:.3g}; "
        f"{each.holds})"
        for each in compared
        if each.difference_low > 0 or each.difference_high < 0
    ]
    return told or ["no figure differs from the first group's by more than its doubt"]
