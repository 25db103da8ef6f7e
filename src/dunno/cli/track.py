"""`dunno track`: a movie of masks in, links with probabilities out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from dunno.errors import InputError


def track(
    movie: Annotated[Path, typer.Argument(help="A CTC sequence (X/01), a folder of masks, a .tif stack or a .zarr.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write; must not exist.")],
    masks: Annotated[Path | None, typer.Option(help="Where the masks are, if not where they are looked for.")] = None,
    cost: Annotated[str, typer.Option(help="See `dunno list costs`; your own as package.module:Class.")] = "distance",
    method: Annotated[str, typer.Option(help="See `dunno list methods`.")] = "SM",
    every: Annotated[int, typer.Option(help="Track every n-th frame.")] = 1,
    max_distance: Annotated[float | None, typer.Option(help="How far a cell may move; estimated if not given.")] = None,
    appear_cost: Annotated[float | None, typer.Option(help="Cost of a cell without mother.")] = None,
    disappear_cost: Annotated[float | None, typer.Option(help="Cost of a cell without daughter.")] = None,
    divide_cost: Annotated[float | None, typer.Option(help="Cost of a division.")] = None,
    scale: Annotated[str | None, typer.Option(help="Pixel size Z,Y,X or Y,X; distances are in its unit.")] = None,
    interval: Annotated[float | None, typer.Option(help="Minutes between frames.")] = None,
    workers: Annotated[int | None, typer.Option(help="Threads; all cores if not given.")] = None,
    seed: Annotated[int, typer.Option(help="Makes everything random repeatable.")] = 0,
    ctc: Annotated[bool, typer.Option("--ctc", help="Also write a Cell Tracking Challenge result.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier output.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but problems.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Link the cells of a movie, and give every link a probability."""
    from dunno.cli.console import note, show_progress, show_run
    from dunno.io import read
    from dunno.io.writing import check_output
    from dunno.run import track_into
    from dunno.tracker import Tracker

    check_output(output, overwrite)
    tracker = Tracker(
        cost,
        method,
        max_distance=max_distance,
        appear_cost=appear_cost,
        disappear_cost=disappear_cost,
        divide_cost=divide_cost,
        seed=seed,
        workers=workers,
    )
    recording = read(movie, masks=masks, scale=parse_scale(scale), interval=interval)
    if not quiet:
        note(f"masks from {recording.mask_source}")
    progress = show_progress("tracking", quiet)
    run = track_into(tracker, recording.every(every), output, overwrite=overwrite, ctc=ctc, progress=progress)
    if as_json:
        typer.echo(json.dumps(run.to_dict(), indent=2))
    elif not quiet:
        show_run(run)


def parse_scale(text: str | None) -> tuple[float, ...] | float | None:
    """Read `0.5,0.2,0.2`, or one number for all axes."""
    if text is None:
        return None
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"--scale {text}: expected numbers separated by commas, such as 2.0,0.5,0.5") from None
    return values[0] if len(values) == 1 else values
