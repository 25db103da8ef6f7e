"""`dunno calibrate`: fit a calibration on an annotated movie."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from dunno.cli.choices import Choices, with_choices


@with_choices
def calibrate(
    choices: Choices,
    output: Annotated[Path, typer.Option("--output", "-o", help="The calibration to write, a .json file.")],
    include_no_mother: Annotated[
        bool, typer.Option("--include-no-mother", help="Count cells that truly have no mother, too.")
    ] = False,
    zero_floor: Annotated[float, typer.Option(help="Probability that takes the place of exact zeros.")] = 1e-6,
    tune: Annotated[bool, typer.Option("--tune", help="Also search the strength of the perturbation.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier file.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but problems.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the calibration as JSON.")] = False,
) -> None:
    """Fit the temperature that makes probabilities true, on a movie with truth."""
    from dunno.calibration import TemperatureScaling
    from dunno.calibration.tuning import tune_perturbation
    from dunno.cli.choices import parse_scale
    from dunno.io import read
    from dunno.io.writing import check_output

    check_output(output, overwrite)
    scale = parse_scale(choices.scale)
    movie, truth = read(choices.movie, truth=True, masks=choices.masks, scale=scale, interval=choices.interval)
    movie, truth = movie.every(choices.every), truth.every(choices.every)
    tracker = choices.make_tracker()
    if tune:
        tried = tune_perturbation(tracker, movie, truth, zero_floor=zero_floor)
        if not quiet:
            _show_tuning(tried)
        tracker = choices.make_tracker(perturbation=min(tried, key=lambda each: each.loss).perturbation)
    scaling = TemperatureScaling.fit(
        tracker.track(movie), truth, include_no_mother=include_no_mother, zero_floor=zero_floor
    )
    scaling.save(output, overwrite)
    if as_json:
        typer.echo(json.dumps(json.loads(output.read_text()), indent=2))
    elif not quiet:
        _show(scaling, output)


def _show(scaling: Any, output: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(
        title=f"temperature scaling, fitted on {scaling.fitted_for['movie']}", show_header=False, title_justify="left"
    )
    table.add_row(
        "temperature", f"{scaling.temperature:.4g}" + (" (at a bound: not to be trusted)" if scaling.at_bound else "")
    )
    table.add_row("−log P(true mother)", f"{scaling.loss_before:.4f} before, {scaling.loss_after:.4f} after")
    for name, count in scaling.counts.items():
        words = {"daughters": "fitted on daughters"}.get(name, f"left out: {name.replace('_', ' ')}")
        table.add_row(words, f"{count:,}")
    Console(highlight=False).print(table)
    typer.echo(f"written to {output}; use it with: dunno track MOVIE -o OUT --calibration {output}")


def _show_tuning(tried: Any) -> None:
    from rich.console import Console
    from rich.table import Table

    best = min(tried, key=lambda each: each.loss)
    table = Table(title="held-out −log P(true mother)", title_justify="left")
    table.add_column("perturbation")
    table.add_column("loss", justify="right")
    for each in tried:
        table.add_row(str(each.perturbation), f"{each.loss:.4f}" + (" ←" if each is best else "  "))
    Console(highlight=False).print(table)
