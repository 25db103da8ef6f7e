"""`dunno track`: a movie of masks in, links with probabilities out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dunno.cli.choices import Choices, with_choices
from dunno.errors import InputError

if TYPE_CHECKING:
    from dunno.io import Links
    from dunno.types import Movie

LISTED = 10
WORDS = ("none", "self", "default")


@with_choices
def track(
    choices: Choices,
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write; must not exist.")],
    calibration: Annotated[
        str,
        typer.Option(
            show_default=False, help="self (fit to this movie, without truth), a file from `dunno calibrate`, or none."
        ),
    ] = "default",
    links: Annotated[Path | None, typer.Option(help="Your own links (CSV, CTC, GEFF, TrackMate XML) to judge.")] = None,
    ctc: Annotated[bool, typer.Option("--ctc", help="Also write a Cell Tracking Challenge result.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier output.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but problems.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Link the cells of a movie, and give every link a probability."""
    from dunno.cli.console import note, show_progress, show_run
    from dunno.io.writing import check_output
    from dunno.run import track_into

    check_output(output, overwrite)
    movie = choices.open_movie()
    tracker = choices.make_tracker(
        links=None if links is None else judge(links, movie), calibration=choose_calibration(calibration)
    )
    if not quiet:
        note(f"masks from {movie.mask_source}")
    progress = show_progress("tracking", quiet)
    run = track_into(tracker, movie, output, overwrite=overwrite, ctc=ctc, progress=progress)
    if as_json:
        typer.echo(json.dumps(run.to_dict(), indent=2))
    elif not quiet:
        show_run(run)
        typer.echo(f"how far can it be trusted, and what should be looked at? dunno report {output}")


def choose_calibration(name: str) -> Any:
    """A calibration by name or file."""
    from dunno.calibration import load_calibration

    return {"none": None, "self": "self", "default": "default"}[name] if name in WORDS else load_calibration(name)


def judge(path: Path, movie: Movie) -> Links:
    """Read somebody else's links, and list what could not be used."""
    from dunno.cli.console import note
    from dunno.io import read_links

    links = read_links(path, movie)
    if len(links) == 0:
        reason = f"; the first: {links.unmatched[0]}" if links.unmatched else ""
        raise InputError(f"{path}: none of its {len(links.unmatched)} links could be matched{reason}")
    note(f"{len(links)} links from {path}; {len(links.unmatched)} could not be matched")
    for problem in links.unmatched[:LISTED]:
        note(f"not matched: {problem}")
    if len(links.unmatched) > LISTED:
        note(f"… and {len(links.unmatched) - LISTED} more; all are in unmatched_links.txt")
    return links
