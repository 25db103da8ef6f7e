"""All units, in any order, on any workers; what was finished before is not done again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from dunno.benchmark.datasets import find_datasets
from dunno.benchmark.measure import measure
from dunno.benchmark.rows import Row, write_rows
from dunno.benchmark.units import Setup, Unit, keep, kept, plain, plan_units
from dunno.errors import DunnoError, InputError, OutputError
from dunno.io.writing import leave_marker, read_marker
from dunno.work.schedule import as_finished, count_workers, open_pool

MARKER, UNITS, TABLE = "benchmark", "units", "results.csv"

Finished = tuple[Unit, list[Row] | BaseException]
Progress = Callable[[Iterator[Finished], int], Iterator[Finished]]


@dataclass(frozen=True)
class Outcome:
    """What a benchmark gave.

    Attributes:
        rows: The table, unit by unit in the order in which they were planned.
        failures: Units that failed, and why.
        left_out: In words, what was not tried.
        n_units: All units.
        n_reused: Units that had been finished by an earlier run.
        n_others: Finished units of earlier runs with other choices, which are kept but not in the table.
    """

    rows: list[Row]
    failures: dict[Unit, BaseException] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    n_units: int = 0
    n_reused: int = 0
    n_others: int = 0


def run_benchmark(
    root: Path,
    folder: Path,
    setup: Setup,
    *,
    workers: int | None = None,
    dask: str | None = None,
    progress: Progress = lambda finished, total: finished,
) -> Outcome:
    """Measure everything that an earlier run into the same folder has not, and write the table.

    Args:
        root: Holds datasets in CTC layout.
        folder: Where units, table, figures and page go; new, or an earlier benchmark's.
        setup: What is compared.
        workers: Processes; `None` is one per core.
        dask: Address of a Dask scheduler to use instead; its workers read `root` themselves.
        progress: Wraps the stream of finished units, knowing how many will come.
    """
    units, left_out = plan_units(find_datasets(root), setup)
    if not units:
        raise InputError(f"{root}: there is nothing to measure; {'; '.join(left_out) or 'no dataset has truth'}")
    open_folder(folder, setup)
    rows = {unit: found for unit in units if (found := kept(unit, folder / UNITS)) is not None}
    missing = [unit for unit in units if unit not in rows]
    reused, failures = len(rows), {}
    for unit, result in progress(_work(missing, workers, dask), len(missing)):
        if isinstance(result, BaseException):
            failures[unit] = result
        else:
            keep(unit, result, folder / UNITS)
            rows[unit] = result
    table = [row for unit in units for row in (rows[unit] if unit in rows else [unit.failed(failures[unit])])]
    write_rows(table, folder / TABLE)
    others = sum(1 for _ in (folder / UNITS).glob("*.json")) - len(rows)
    return Outcome(table, failures, left_out, len(units), reused, others)


def open_folder(folder: Path, setup: Setup) -> None:
    """Make the folder, or see that it is a benchmark's."""
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder}: is a file; expected a folder to write into")
    if folder.exists() and any(folder.iterdir()) and MARKER not in read_marker(folder):
        raise OutputError(f"{folder}: is not an earlier benchmark's folder, so it is left alone; choose another name")
    try:
        (folder / UNITS).mkdir(parents=True, exist_ok=True)
        leave_marker(folder, version("dunno"), **{MARKER: plain(setup)})
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written ({error.strerror or error})") from None


def _work(units: Sequence[Unit], workers: int | None, dask: str | None) -> Iterator[Finished]:
    if not units:
        return
    try:
        with open_pool(count_workers(workers), dask, processes=True) as pool:
            yield from as_finished(measure, units, pool)
    except BrokenExecutor:
        raise DunnoError(
            "a worker process was killed, perhaps for want of memory; run the same command again, which goes on from here, "
            "with fewer --workers"
        ) from None
