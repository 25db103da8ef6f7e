"""`dunno track`: a movie of masks in, links with probabilities out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dunno.errors import InputError

if TYPE_CHECKING:
    from dunno.costs import Cost
    from dunno.io import Links
    from dunno.types import Movie

LISTED = 10


def track(
    movie: Annotated[Path, typer.Argument(help="A CTC sequence (X/01), a folder of masks, a .tif stack or a .zarr.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write; must not exist.")],
    masks: Annotated[Path | None, typer.Option(help="Where the masks are, if not where they are looked for.")] = None,
    cost: Annotated[str, typer.Option(help="See `dunno list costs`; your own as package.module:Class.")] = "distance",
    method: Annotated[str, typer.Option(help="See `dunno list methods`.")] = "SM",
    samples: Annotated[
        int | None, typer.Option(help="K, how often a method samples or perturbs; 10 if not given.")
    ] = None,
    perturbation: Annotated[
        str | None, typer.Option(help="See `dunno list perturbations`; the cost's own if not given.")
    ] = None,
    features: Annotated[
        Path | None, typer.Option(help="For --cost embedding: a CSV with frame, label and features.")
    ] = None,
    links: Annotated[
        Path | None, typer.Option(help="Your own links (CSV, CTC result, GEFF, TrackMate XML) to judge.")
    ] = None,
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
    recording = read(movie, masks=masks, scale=parse_scale(scale), interval=interval).every(every)
    tracker = Tracker(
        choose_cost(cost, features),
        method,
        samples=samples,
        perturbation=perturbation,
        links=None if links is None else judge(links, recording),
        max_distance=max_distance,
        appear_cost=appear_cost,
        disappear_cost=disappear_cost,
        divide_cost=divide_cost,
        seed=seed,
        workers=workers,
    )
    if not quiet:
        note(f"masks from {recording.mask_source}")
    progress = show_progress("tracking", quiet)
    run = track_into(tracker, recording, output, overwrite=overwrite, ctc=ctc, progress=progress)
    if as_json:
        typer.echo(json.dumps(run.to_dict(), indent=2))
    elif not quiet:
        show_run(run)


def choose_cost(name: str, features: Path | None) -> str | Cost:
    """A cost by name; the embedding cost with the features that it compares."""
    from dunno.costs.embedding import Embedding

    if features is None:
        return name
    if name != Embedding.name:
        raise InputError(f"--features {features}: only --cost embedding compares features, not {name}")
    return Embedding.from_csv(features)


def judge(path: Path, recording: Movie) -> Links:
    """Read somebody else's links, and list what could not be used."""
    from dunno.cli.console import note
    from dunno.io import read_links

    links = read_links(path, recording)
    note(f"{len(links)} links from {path}; {len(links.unmatched)} could not be matched")
    for problem in links.unmatched[:LISTED]:
        note(f"not matched: {problem}")
    if len(links.unmatched) > LISTED:
        note(f"… and {len(links.unmatched) - LISTED} more; all are in unmatched_links.txt")
    return links


def parse_scale(text: str | None) -> tuple[float, ...] | float | None:
    """Read `0.5,0.2,0.2`, or one number for all axes."""
    if text is None:
        return None
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"--scale {text}: expected numbers separated by commas, such as 2.0,0.5,0.5") from None
    return values[0] if len(values) == 1 else values
