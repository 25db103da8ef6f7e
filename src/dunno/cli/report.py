"""`dunno report`: a page about an output."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from dunno.cli.console import say


def report(
    output: Annotated[Path, Argument(metavar="OUT", help="A folder that `dunno track` wrote.")],
    truth: Annotated[Path | None, Option(help="Annotation to compare with: SEQ_GT, a table (.csv) or a GEFF.")] = None,
    page: Annotated[
        Path | None,
        Option("--output", "-o", metavar="FILE", help="Page to write (default: OUT/report.html)."),
    ] = None,
    masks: Annotated[Path | None, Option(help="New path to the movie's masks, if they have moved.")] = None,
    bins: Annotated[int, Option(help="Number of bins of the calibration curve, with --truth.")] = 10,
    quiet: Annotated[bool, Option("--quiet", "-q", help="Print nothing but problems.")] = False,
) -> None:
    """Write a web page: how far an output can be trusted, and which links to look at."""
    from dunno.cli.console import show_progress
    from dunno.report import write_report

    progress = show_progress("reading frame pairs", quiet)
    written = write_report(output, page, truth=truth, masks=masks, n_bins=bins, progress=progress)
    if not quiet:
        say(f"the report is {written} ({written.stat().st_size / 1e6:.1f} MB); open it in any browser")
