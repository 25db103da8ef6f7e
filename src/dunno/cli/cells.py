"""`dunno cells`: what is measured of every cell, as one table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Exit, Option

from dunno.cli.console import say
from dunno.cli.movie_options import Opening, with_options


def cells(
    opening: Opening,
    output: Annotated[Path, Option("--output", "-o", metavar="FILE", help="CSV file to write; must not exist.")],
    workers: Annotated[int | None, Option(help="Number of cores to use (default: all).")] = None,
    overwrite: Annotated[bool, Option("--overwrite", help="Replace an earlier table.")] = False,
    quiet: Annotated[bool, Option("--quiet", "-q", help="Print nothing but problems.")] = False,
) -> None:
    """Measure every cell of a movie: place, area, brightness, shape, and how much it touches others."""
    from dunno.cli.console import complain_of_frames, showing_progress, tell_movie
    from dunno.io.writing import check_output, whole
    from dunno.runs.cell_measuring import write_table
    from dunno.runs.mask_check import refuse_what_is_no_mask
    from dunno.work.schedule import count_workers, open_pool

    check_output(output, overwrite)
    found = opening.open_movie()
    refuse_what_is_no_mask(found)
    if not quiet:
        tell_movie(found)
    with (
        whole(output, overwrite) as partial,
        open_pool(count_workers(workers)) as pool,
        showing_progress(quiet) as tell,
    ):
        n, broken = write_table(found, partial, pool, tell)
    if not quiet:
        say(f"{n:,} cells in {len(found) - len(broken):,} frames are in {output}")
    complain_of_frames({each.frame: each.problem for each in broken}, "; no cells of {0} are in the table")
    if broken:
        raise Exit(2)


command = with_options(cells, Opening)
