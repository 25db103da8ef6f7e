"""All units, in any order, on any workers; what was measured before is not measured again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from dunno.benchmark.datasets import Dataset
from dunno.benchmark.results_table import Row, table_of, write_table
from dunno.benchmark.unit_scores import measure
from dunno.benchmark.units import Asked, Experiment, Unit, plan_units
from dunno.errors import DunnoError, OutputError
from dunno.io.writing import leave_marker, read_marker
from dunno.work.progress import Tell, ignore_progress
from dunno.work.schedule import as_finished, count_workers, open_pool

if TYPE_CHECKING:
    from pandas import DataFrame

MARKER, UNITS, RESULTS_FILE = "benchmark", "units", "results.csv"


@dataclass(frozen=True)
class BenchmarkOutcome:
    """What a benchmark gave."""

    table: DataFrame  # The rows that were asked for, unit by unit in the order in which they were planned
    failures: dict[Unit, BaseException] = field(default_factory=dict)  # Units that failed, and why
    n_units: int = 0  # All units
    n_measured: int = 0  # Units that this run had to measure, or some of their methods


def run_benchmark(
    datasets: Sequence[Dataset],
    folder: Path,
    experiment: Experiment,
    *,
    again: Sequence[str] = (),
    workers: int | None = None,
    dask: str | None = None,
    tell: Tell = ignore_progress,
) -> BenchmarkOutcome:
    """Measure everything that earlier runs into the same folder have not, and write the table.

    Units, table, figures and page go into the folder; methods named in `again` are measured once more.
    """
    units = plan_units(datasets, experiment)
    _open_folder(folder)
    kept = {unit: [row for row in unit.kept(folder / UNITS) if row["method"] not in again] for unit in units}
    missing = {unit: _missing(unit, rows, experiment) for unit, rows in kept.items()}
    todo = [unit for unit in units if missing[unit]]
    failures: dict[Unit, BaseException] = {}
    tell("units", 0, len(todo))
    for done, ((unit, _), result) in enumerate(_work([(unit, missing[unit]) for unit in todo], workers, dask), 1):
        if isinstance(result, BaseException):
            failures[unit] = result
        else:
            kept[unit] += result
            unit.keep(kept[unit], folder / UNITS)
        tell("units", done, len(todo))
    table = table_of(row for unit in units for row in _wanted(unit, kept[unit], failures.get(unit), experiment))
    write_table(table, folder / RESULTS_FILE)
    return BenchmarkOutcome(table, failures, len(units), len(todo))


def _missing(unit: Unit, rows: Sequence[Row], experiment: Experiment) -> list[Asked]:
    there = {(row["setup"], row["method"]) for row in rows}
    return [asked for asked in experiment.asked(unit.cost) if asked not in there]


def _wanted(unit: Unit, rows: Sequence[Row], failure: BaseException | None, experiment: Experiment) -> Iterator[Row]:
    """The rows that were asked for, in order, and for what failed a row that says so."""
    for setup, method in experiment.asked(unit.cost):
        own = [row for row in rows if (row["setup"], row["method"]) == (setup, method)]
        if failure is not None and not own:
            reason = f"failed: {' '.join(str(failure).split()) or type(failure).__name__}"
            own = [unit.row(setup, None, method, reason=reason)]
        yield from own


def _open_folder(folder: Path) -> None:
    """Make the folder, or see that it is a benchmark's."""
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder}: is a file; expected a folder to write into")
    if folder.exists() and any(folder.iterdir()) and MARKER not in read_marker(folder):
        raise OutputError(f"{folder}: is not an earlier benchmark's folder, so it is left alone; choose another name")
    try:
        (folder / UNITS).mkdir(parents=True, exist_ok=True)
        leave_marker(folder, version("dunno"), **{MARKER: "results.csv says what was measured"})
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written ({error.strerror or error})") from None


Work = tuple[Unit, list[Asked]]


def _measure(work: Work) -> list[Row]:
    return measure(*work)


def _work(
    todo: Sequence[Work], workers: int | None, dask: str | None
) -> Iterator[tuple[Work, list[Row] | BaseException]]:
    if not todo:
        return
    try:
        with open_pool(count_workers(workers), dask, processes=True) as pool:
            yield from as_finished(_measure, todo, pool)
    except BrokenExecutor:
        raise DunnoError(
            "a worker process was killed, perhaps for want of memory; run the same command again, which goes on from here, "
            "with fewer --workers"
        ) from None
