"""`dunno simulate`: a colony with truth, as a CTC sequence, or in the format of another program."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from dunno.cli.console import say

if TYPE_CHECKING:
    from dunno.types import Movie


def simulate(
    path: Annotated[Path, Argument(help="The sequence to write, such as data/sim/01, or a folder.")],
    cells: Annotated[int, Option(help="Cells in the first frame.")] = 30,
    frames: Annotated[int, Option(help="Number of frames.")] = 40,
    motion: Annotated[float, Option(help="Step per axis, as a fraction of the cells' spacing.")] = 0.3,
    tail: Annotated[float, Option(help="Degrees of freedom of the steps; inf is Brownian.")] = float("inf"),
    missed: Annotated[float, Option(help="Share of the masks that are missing.")] = 0.0,
    false: Annotated[float, Option("--false", help="False masks, as a share of all.")] = 0.0,
    merged: Annotated[float, Option(help="Share of the masks that are joined with a neighbour's.")] = 0.0,
    split: Annotated[float, Option(help="Share of the masks that are cut in two.")] = 0.0,
    depth: Annotated[int, Option(help="Planes of a volume; 1 for a movie of a plane.")] = 1,
    seed: Annotated[int, Option(help="Makes it repeatable.")] = 0,
    form: Annotated[
        str,
        Option(
            "--format", help="ctc (with truth), npy, cellpose, imagej, ome-tiff, ome-zarr or ilastik: masks and images."
        ),
    ] = "ctc",
    quiet: Annotated[bool, Option("--quiet", "-q", help="Print nothing but problems.")] = False,
) -> None:
    """Simulate a growing, dividing, moving colony with its truth."""
    from dunno.simulate import colony
    from dunno.simulate.colony import spoiled_folder

    spoiled = {"missed": missed, "false": false, "merged": merged, "split": split}
    made = colony(cells, frames, motion, seed, tail=tail, depth=depth, **spoiled)
    if form != "ctc":
        _save_example(made.movie, form, path, quiet)
        return
    made.save(path)
    if not quiet:
        counts = ", ".join(
            f"{made.events[name]:.0f} {name}" for name in ("detections", "divisions", "appearances", "losses")
        )
        say(f"{path}: {frames} frames with {counts}; truth in {path}_GT")
        if made.faults:
            masks = spoiled_folder(path)
            say(f"spoiled masks are in {masks}; track them: dunno track {path} --masks {masks} -o OUT")


def _save_example(movie: Movie, form: str, path: Path, quiet: bool) -> None:
    from dunno.io.examples import write_example
    from dunno.io.writing import whole

    with whole(path) as partial:
        written = write_example(form, partial, movie)
        place = path / written.relative_to(partial)
    if not quiet:
        say(f"{path}: {len(movie)} frames; track them: dunno track {place} -o OUT")
