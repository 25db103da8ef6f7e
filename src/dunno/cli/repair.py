"""`dunno repair`: the masks of an output alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from dunno.cli.console import say


def repair(
    output: Annotated[Path, Argument(metavar="OUT", help="A folder that `dunno track` wrote.")],
    folder: Annotated[Path, Option("--output", "-o", metavar="DIR", help="The folder to write: maskNNN.tif.")],
    with_debris: Annotated[bool, Option("--with-debris", help="Write what is taken for debris, too.")] = False,
    masks: Annotated[Path | None, Option(help="Where the movie's masks are now, if they have moved.")] = None,
    overwrite: Annotated[bool, Option("--overwrite", help="Replace what dunno wrote there before.")] = False,
    quiet: Annotated[bool, Option("--quiet", "-q", help="Print nothing but problems.")] = False,
) -> None:
    """Write the masks alone, as they were repaired: a folder that other programs take for a segmentation."""
    from dunno.io.output import read_written_run
    from dunno.runs.findings import debris_left_out, masks_repaired
    from dunno.runs.repaired_output import export_masks

    written = export_masks(output, folder, masks, with_debris=with_debris, overwrite=overwrite)
    if quiet:
        return
    repairs = read_written_run(output).get("summary", {}).get("repairs") or {}
    say(f"written to {folder}: {written.masks:,} masks in {written.frames:,} frames")
    say(f"masks: {masks_repaired(repairs) or 'none was repaired; they are as they were given'}")
    if written.debris:
        say(debris_left_out(written.debris, written.tracks, "writes"))
