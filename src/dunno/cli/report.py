"""`dunno report`: a page about an output."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    output: Annotated[Path, typer.Argument(metavar="OUT", help="A folder that `dunno track` wrote.")],
    truth: Annotated[
        Path | None, typer.Option(help="The annotation, a SEQ_GT/TRA folder: adds a section that compares.")
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="The page to write, instead of OUT/report.html."),
    ] = None,
    masks: Annotated[Path | None, typer.Option(help="Where the movie's masks are now, if they have moved.")] = None,
    bins: Annotated[int, typer.Option(help="Bins of confidence in the calibration curve, with --truth.")] = 10,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but problems.")] = False,
) -> None:
    """Write a page that says how far an output can be trusted, and what to look at."""
    from dunno.cli.console import show_progress
    from dunno.report import write_report

    progress = show_progress("reading frame pairs", quiet)
    written = write_report(output, page, truth=truth, masks=masks, n_bins=bins, progress=progress)
    if not quiet:
        typer.echo(f"the report is {written} ({written.stat().st_size / 1e6:.1f} MB); open it in any browser")
