"""`dunno benchmark`: the paper's experiments on annotated movies."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

from dunno.cli.console import say
from dunno.cli.options import Argument, Ended, Option
from dunno.errors import DunnoError, InputError

if TYPE_CHECKING:
    from dunno.benchmark import Outcome
    from dunno.benchmark.claims import Verdict

Item = TypeVar("Item")


def benchmark(
    root: Annotated[Path, Argument(help="Folder with datasets in CTC layout: ROOT/DATASET/01, 01_GT/TRA, …")],
    output: Annotated[Path, Option("--output", "-o", help="Folder to write; an earlier run there is continued.")],
    costs: Annotated[str, Option(help="Costs to try.")] = "distance,activity,overlap,transformer",
    methods: Annotated[str, Option(help="Methods to try.")] = "SM,FP,FP+A,AS,MC,JP",
    every: Annotated[str, Option(help="Frame steps: every n-th frame.")] = "1,10,30,50",
    samples: Annotated[int, Option(help="K: how many samples or perturbations a method takes.")] = 10,
    model: Annotated[str, Option(help="Transformer models: folders, or names of published ones.")] = "",
    dropout: Annotated[str, Option(help="Dropout rates to try (default: those of the training).")] = "",
    max_distance: Annotated[
        float | None, Option(help="How far a cell may move (inf: any distance; default: estimated).")
    ] = None,
    mothers_only: Annotated[
        bool,
        Option("--mothers-only", help="Normalise over mothers only, as the paper does: every cell has a mother."),
    ] = False,
    bins: Annotated[int, Option(help="Number of bins of calibration errors and curves.")] = 10,
    workers: Annotated[int | None, Option(help="Number of processes (default: one per core).")] = None,
    dask: Annotated[str | None, Option(help="Dask scheduler to use instead, such as tcp://host:8786.")] = None,
    seed: Annotated[int, Option(help="Seed of the random numbers.")] = 0,
    quiet: Annotated[bool, Option("--quiet", "-q", help="Print nothing but problems.")] = False,
) -> None:
    """Try every cost with every method on annotated movies, and say which of the paper's claims hold there."""
    from dunno.benchmark import Setup, run_benchmark
    from dunno.benchmark.page import write_page
    from dunno.benchmark.style import check_matplotlib
    from dunno.cli.console import note, show_progress

    check_matplotlib()
    if workers is not None and workers < 1:
        raise InputError(f"--workers {workers}: expected at least 1")
    setup = Setup(
        costs=listed("--costs", costs, str),
        methods=listed("--methods", methods, str),
        steps=listed("--every", every, int),
        samples=samples,
        max_distance=max_distance,
        mothers_only=mothers_only,
        models=listed("--model", model, str),
        dropout=listed("--dropout", dropout, float),
        n_bins=bins,
        seed=seed,
    )
    started = time.monotonic()
    outcome = run_benchmark(
        root, output, setup, workers=workers, dask=dask, progress=show_progress("benchmark units", quiet)
    )
    verdicts = write_page(outcome, setup, output)
    if not quiet:
        for line in outcome.left_out:
            note(line)
        _show(outcome, verdicts, output, time.monotonic() - started)
    _end(outcome)


def listed(option: str, text: str, kind: Callable[[str], Item]) -> tuple[Item, ...]:
    """Read `1,10,30`, each once."""
    try:
        return tuple(dict.fromkeys(kind(part.strip()) for part in text.split(",") if part.strip()))
    except ValueError:
        raise InputError(f"{option} {text}: expected values separated by commas, such as 1,10") from None


def _show(outcome: Outcome, verdicts: list[Verdict], output: Path, seconds: float) -> None:
    from rich.console import Console
    from rich.table import Table

    from dunno.cli.console import note

    table = Table(title="claims on these movies", title_justify="left")
    for name in ("claim", "verdict", "as claimed", "mean", "95 % interval"):
        table.add_column(name)
    for each in verdicts:
        between = f"{each.low:.3g} … {each.high:.3g}" if len(each.datasets) > 1 else "–"
        centre = f"{each.mean:.3g}" if each.datasets else "–"
        table.add_row(each.claim.name, each.verdict, each.agreement, centre, between)
    Console(highlight=False).print(table)
    done = outcome.n_units - len(outcome.failures)
    say(
        f"{done} of {outcome.n_units} units done ({outcome.n_reused} by an earlier run) in {seconds:.0f} s; "
        f"open {output / 'index.html'}"
    )
    if outcome.n_others:
        note(
            f"the table has this run's units only; {outcome.n_others} of earlier runs with other choices are kept in "
            f"{output / 'units'}, and are in it again when they are asked for"
        )


def _end(outcome: Outcome) -> None:
    """List what failed; exit code 2 where all of it is the input's fault, 1 if anything else went wrong."""
    from dunno.cli.console import complain

    for unit, error in outcome.failures.items():
        complain(f"failed: {unit}: {error or type(error).__name__}")
    if outcome.failures:
        complain(f"{len(outcome.failures)} units failed; mend them and give the same command again: only they are done")
        raise Ended(2 if all(isinstance(error, DunnoError) for error in outcome.failures.values()) else 1)
