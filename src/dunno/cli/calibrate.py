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
    temperature: Annotated[
        bool, typer.Option("--temperature", help="For JP: the paper's temperature instead of the model itself.")
    ] = False,
    include_no_mother: Annotated[
        bool, typer.Option("--include-no-mother", help="In a temperature, count cells that truly have no mother.")
    ] = False,
    zero_floor: Annotated[float, typer.Option(help="Probability that takes the place of exact zeros.")] = 1e-6,
    tune: Annotated[bool, typer.Option("--tune", help="Also search the strength of the perturbation.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier file.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but problems.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the calibration as JSON.")] = False,
) -> None:
    """Fit what makes probabilities true, on a movie with truth: the model itself for JP, a temperature for others."""
    from dunno.calibration import TemperatureScaling, fit_event_costs
    from dunno.calibration.tuning import tune_perturbation
    from dunno.cli.choices import parse_scale
    from dunno.io import read
    from dunno.io.writing import check_output

    check_output(output, overwrite)
    scale = parse_scale(choices.scale)
    movie, truth = read(choices.movie, truth=True, masks=choices.masks, scale=scale, interval=choices.interval)
    movie, truth = movie.every(choices.every), truth.every(choices.every)
    tracker = choices.make_tracker(calibration=None)
    if tune:
        tried = tune_perturbation(tracker, movie, truth, zero_floor=zero_floor)
        if not quiet:
            _show_tuning(tried)
        best = min(tried, key=lambda each: each.loss).perturbation
        tracker = choices.make_tracker(calibration=None, perturbation=best)
    tracking = tracker.track(movie)
    fitted: Any
    if choices.method.upper() == "JP" and not temperature:
        fitted = fit_event_costs(tracking, truth)
    else:
        fitted = TemperatureScaling.fit(tracking, truth, include_no_mother=include_no_mother, zero_floor=zero_floor)
    fitted.save(output, overwrite)
    if as_json:
        typer.echo(json.dumps(json.loads(output.read_text()), indent=2))
    elif not quiet:
        _show(fitted, output)


def _show(fitted: Any, output: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    kind = fitted.describe()["kind"]
    table = Table(title=f"{kind}, fitted on {fitted.fitted_for['movie']}", show_header=False, title_justify="left")
    for name, value in _rows(fitted):
        table.add_row(name, value)
    Console(highlight=False).print(table)
    typer.echo(f"written to {output}; use it with: dunno track MOVIE -o OUT --calibration {output}")


def _rows(fitted: Any) -> list[tuple[str, str]]:
    """What to tell about a calibration of any kind."""
    from dunno.calibration import ModelCalibration, TemperedCosts

    if isinstance(fitted, ModelCalibration):
        parameters = {k: v for k, v in fitted.describe()["parameters"].items() if isinstance(v, float)}
        losses = (fitted.summary["loss_before"], fitted.summary["loss_after"])
        return [*((k.replace("_", " "), f"{v:.4g}") for k, v in parameters.items()), _loss_row(*losses)]
    if isinstance(fitted, TemperedCosts):
        names = ("tempering", "appear", "disappear", "divide")
        return [*((k, f"{getattr(fitted, k):.4g}") for k in names), _loss_row(fitted.loss_before, fitted.loss_after)]
    bound = " (at a bound: not to be trusted)" if fitted.at_bound else ""
    words = {"daughters": "fitted on daughters"}
    counts = [(words.get(k, f"left out: {k.replace('_', ' ')}"), f"{v:,}") for k, v in fitted.counts.items()]
    return [
        ("temperature", f"{fitted.temperature:.4g}{bound}"),
        _loss_row(fitted.loss_before, fitted.loss_after),
        *counts,
    ]


def _loss_row(before: float, after: float) -> tuple[str, str]:
    return "−log P(truth)", f"{before:.4f} before, {after:.4f} after"


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
