"""`dunno benchmark`: the paper's experiments on annotated movies."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

from typer import Argument, Exit, Option

from dunno.cli.console import say, show, table
from dunno.errors import DunnoError, InputError

if TYPE_CHECKING:
    from pandas import DataFrame

    from dunno.benchmark import BenchmarkOutcome

Item = TypeVar("Item")


def benchmark(
    root: Annotated[Path, Argument(help="Folder with datasets in CTC layout: ROOT/DATASET/01, 01_GT/TRA, …")],
    output: Annotated[Path, Option("--output", "-o", help="Folder to write; an earlier run there is continued.")],
    datasets: Annotated[str, Option(help="Names of datasets (default: all).")] = "",
    setup: Annotated[str, Option(help="Set-ups: user (defaults), paper (every mother a candidate, no ⊥).")] = "user",
    costs: Annotated[
        str, Option(help="Costs to try; transformer needs --model or --train.")
    ] = "distance,activity,overlap",
    methods: Annotated[str, Option(help="Methods to try; also trackpy, LapTrack, Trackastra.")] = "SM,FP,FP+A,AS,MC,JP",
    every: Annotated[str, Option(help="Frame steps: every n-th frame.")] = "1,10,30,50",
    samples: Annotated[int, Option(help="K: how many samples or perturbations a method takes.")] = 10,
    model: Annotated[str, Option(help="Transformer models: folders, or names of published ones.")] = "",
    train: Annotated[
        str,
        Option(help="Dropout rates: train a transformer with each, on the first sequences, if it is not there yet."),
    ] = "",
    models: Annotated[Path | None, Option(help="Where those are, or will be (default: OUTPUT/models).")] = None,
    again: Annotated[str, Option(help="Methods to measure again.")] = "",
    beside: Annotated[Path | None, Option(help="Another run's results.csv, to show beside this one's.")] = None,
    bins: Annotated[int, Option(help="Number of bins of calibration errors and curves.")] = 10,
    workers: Annotated[int | None, Option(help="Number of processes (default: one per core).")] = None,
    dask: Annotated[str | None, Option(help="Dask scheduler to use instead, such as tcp://host:8786.")] = None,
    seed: Annotated[int, Option(help="Seed of the random numbers.")] = 0,
    quiet: Annotated[bool, Option("--quiet", "-q", help="Print nothing but problems.")] = False,
) -> None:
    """Try every cost with every method on annotated movies, and say which of the paper's claims hold there."""
    from dunno.benchmark import Experiment, run_benchmark
    from dunno.benchmark.datasets import find_datasets
    from dunno.benchmark.models import train_models
    from dunno.benchmark.results_table import beside_others, check_extras
    from dunno.benchmark.summary_page import write_page
    from dunno.cli.console import showing_progress
    from dunno.cli.transformer import show_epochs

    check_extras()
    if workers is not None and workers < 1:
        raise InputError(f"--workers {workers}: expected at least 1")
    rates = listed("--train", train, float)
    folder = models or output / "models"
    names = listed("--model", model, str) + tuple(str(folder / f"dropout-{rate:g}") for rate in rates)
    experiment = Experiment(
        setups=listed("--setup", setup, str),
        costs=listed("--costs", costs, str) + (("transformer",) if names else ()),
        methods=listed("--methods", methods, str),
        steps=listed("--every", every, int),
        models=names,
        samples=samples,
        n_bins=bins,
        seed=seed,
    )
    started = time.monotonic()
    found = find_datasets(root, listed("--datasets", datasets, str))
    if rates:
        train_models(found, folder, rates, progress=None if quiet else show_epochs)
    with showing_progress(quiet) as tell:
        chosen = listed("--again", again, str)
        outcome = run_benchmark(found, output, experiment, again=chosen, workers=workers, dask=dask, tell=tell)
    if beside is not None:
        outcome = replace(outcome, table=beside_others(outcome.table, beside))
    claims = write_page(outcome, experiment, output)
    if not quiet:
        _show(outcome, claims, output, time.monotonic() - started)
    _end(outcome)


def listed(option: str, text: str, kind: Callable[[str], Item]) -> tuple[Item, ...]:
    """Read `1,10,30`, each once."""
    try:
        return tuple(dict.fromkeys(kind(part.strip()) for part in text.split(",") if part.strip()))
    except ValueError:
        raise InputError(f"{option} {text}: expected values separated by commas, such as 1,10") from None


def _show(outcome: BenchmarkOutcome, claims: DataFrame, output: Path, seconds: float) -> None:
    names = ("claim", "verdict", "as claimed", "mean")
    rows = [
        tuple(f"{row[name]:.3g}" if name == "mean" else row[name] for name in names)
        for row in claims.fillna({"mean": 0.0}).to_dict("records")
    ]
    show(table("claims on these movies", names, rows, left=names))
    done = outcome.n_units - len(outcome.failures)
    told = f"{done} of {outcome.n_units} units done, {outcome.n_measured} of them now, in {seconds:.0f} s"
    say(f"{told}; open {output / 'index.html'}")


def _end(outcome: BenchmarkOutcome) -> None:
    """List what failed; exit code 2 where all of it is the input's fault, 1 if anything else went wrong."""
    from dunno.cli.console import complain

    for unit, error in outcome.failures.items():
        complain(f"failed: {unit}: {error or type(error).__name__}")
    if outcome.failures:
        complain(f"{len(outcome.failures)} units failed; mend them and give the same command again: only they are done")
        raise Exit(2 if all(isinstance(error, DunnoError) for error in outcome.failures.values()) else 1)
