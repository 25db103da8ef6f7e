"""`dunno transformer train`: a tracker learnt from annotated movies."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from dunno.training.checkpoint import Epoch

app = typer.Typer(rich_markup_mode=None, help="Transformer models for --cost transformer.")


@app.callback(invoke_without_command=True)
def _root(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def train(
    datasets: Annotated[list[Path], typer.Argument(help="CTC sequences with truth (X/01), or folders of them (X).")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Model folder to write; must not exist.")],
    dropout: Annotated[float, typer.Option(help="Dropout rate, in training and tracking.")] = 0.25,
    epochs: Annotated[int, typer.Option(help="Most epochs to train.")] = 100,
    patience: Annotated[int, typer.Option(help="Stop after this many epochs without a better validation loss.")] = 20,
    small: Annotated[bool, typer.Option("--small", help="A small network, for a CPU.")] = False,
    largest_step: Annotated[
        int, typer.Option(help="Also learn to link every n-th frame, up to this n; small n more often.")
    ] = 1,
    windows: Annotated[int | None, typer.Option(help="Training windows per epoch.")] = None,
    window: Annotated[int | None, typer.Option(help="Frames that the network sees at a time.")] = None,
    threads: Annotated[int | None, typer.Option(help="Number of cores to use (default: all).")] = None,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, …; a GPU if there is one.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the random numbers.")] = 0,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier output.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but problems.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Train a Trackastra transformer with dropout; a stopped training is continued by the same command."""
    from dunno.io import read
    from dunno.io.writing import check_output
    from dunno.training.settings import Settings
    from dunno.training.train import train as run
    from dunno.transformer.model_folder import import_trackastra

    import_trackastra()
    check_output(output, overwrite)
    given: dict[str, Any] = {
        "dropout": dropout,
        "epochs": epochs,
        "patience": patience,
        "largest_step": largest_step,
        "seed": seed,
    }
    given |= {name: value for name, value in (("windows", windows), ("window", window)) if value is not None}
    settings = Settings.small(**given) if small else Settings(**given)
    movies = [read(sequence, truth=True) for sequence in _sequences(datasets)]
    history = run(
        movies,
        output,
        settings,
        overwrite=overwrite,
        device=_prepare(threads, device),
        progress=None if quiet else show_epochs,
    )
    best = next(epoch for epoch in reversed(history) if epoch.is_best)
    if as_json:
        typer.echo(json.dumps({"epochs": len(history), **vars(best)}, indent=2))
    elif not quiet:
        typer.echo(
            f"{len(history)} epochs, best validation loss {best.validation_loss:.4f} after epoch {best.number + 1}\n"
            f"written to {output}; use it with: dunno track MOVIE -o OUT --cost transformer --model {output}"
        )


def _sequences(datasets: list[Path]) -> list[Path]:
    """The sequences themselves; a dataset's folder stands for all of its own that have truth."""
    found = []
    for given in datasets:
        inside = [] if (given.parent / f"{given.name}_GT").is_dir() else sorted(given.glob("*_GT/TRA"))
        found += [given / tra.parent.name.removesuffix("_GT") for tra in inside] or [given]
    return found


def _prepare(threads: int | None, device: str | None) -> str:
    import torch

    from dunno.errors import InputError

    if threads is not None:
        if threads < 1:
            raise InputError(f"--threads {threads}: expected at least 1")
        torch.set_num_threads(threads)
    if device is None:
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise InputError(f"--device {device}: cannot compute there ({str(error).splitlines()[0]})") from None
    return device


def show_epochs(epochs: Iterator[Epoch], total: int) -> Iterator[Epoch]:
    """A bar with the losses, or a line per epoch where there is no terminal."""
    return (_bar if sys.stderr.isatty() else _lines)(epochs, total)


def _told(epoch: Epoch) -> str:
    better = ", the best so far" if epoch.is_best else ""
    return f"loss {epoch.loss:.4f}, validation {epoch.validation_loss:.4f}{better}"


def _lines(epochs: Iterator[Epoch], total: int) -> Iterator[Epoch]:
    from dunno.work.progress import clock

    started, before = time.monotonic(), None
    for epoch in epochs:
        before = epoch.number if before is None else before
        spent = (time.monotonic() - started) / (epoch.number - before + 1)
        left = clock(spent * (total - epoch.number - 1))
        line = f"training, epoch {epoch.number + 1} of {total}: {_told(epoch)}, {left} left"
        print(line, file=sys.stderr, flush=True)  # noqa: T201
        yield epoch


def _bar(epochs: Iterator[Epoch], total: int) -> Iterator[Epoch]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("training"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, TextColumn("{task.description}"), console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("the first epoch", total=total)
        for epoch in epochs:
            shown.update(task, completed=epoch.number + 1, description=_told(epoch))
            yield epoch
