"""`dunno cells`: what is measured of every cell, as one table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def cells(
    movie: Annotated[Path, typer.Argument(help="A CTC sequence (X/01), a folder of masks, a .tif stack or a .zarr.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The CSV to write; must not exist.")],
    masks: Annotated[Path | None, typer.Option(help="Where the masks are, if not where they are looked for.")] = None,
    every: Annotated[int, typer.Option(help="Measure every n-th frame.")] = 1,
    scale: Annotated[str | None, typer.Option(help="Pixel size Z,Y,X or Y,X; lengths are in its unit.")] = None,
    interval: Annotated[float | None, typer.Option(help="Minutes between frames.")] = None,
    workers: Annotated[int | None, typer.Option(help="How many cores to use; all if not given.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier table.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but problems.")] = False,
) -> None:
    """Measure every cell of a movie: place, area, brightness, shape, and how much it touches others."""
    from dunno.cli.choices import Choices
    from dunno.cli.console import complain, note, showing_progress
    from dunno.cli.track import cores
    from dunno.io.writing import check_output, whole
    from dunno.runs.measuring import write_table
    from dunno.work.schedule import open_executor

    check_output(output, overwrite)
    found = Choices(movie, masks=masks, every=every, scale=scale, interval=interval).open_movie()
    if not quiet:
        note(f"masks from {found.mask_source}" + ("" if found.has_images else "; there are no images"))
    with (
        whole(output, overwrite) as partial,
        open_executor(cores(workers)) as (executor, n_workers),
        showing_progress(quiet) as tell,
    ):
        n, broken = write_table(found, partial, executor, n_workers, tell)
    if not quiet:
        typer.echo(f"{n:,} cells in {len(found) - len(broken):,} frames are in {output}")
    for each in broken:
        complain(f"{each.problem} (frame {each.frame}; it has no cells in the table)")
    if broken:
        raise typer.Exit(2)
