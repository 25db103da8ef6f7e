"""`dunno simulate`: a colony with truth, as a CTC sequence."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def simulate(
    path: Annotated[Path, typer.Argument(help="The sequence to write, such as data/sim/01.")],
    cells: Annotated[int, typer.Option(help="Cells in the first frame.")] = 30,
    frames: Annotated[int, typer.Option(help="Number of frames.")] = 40,
    motion: Annotated[float, typer.Option(help="Step per axis, as a fraction of the cells' spacing.")] = 0.3,
    tail: Annotated[float, typer.Option(help="Degrees of freedom of the steps; inf is Brownian.")] = float("inf"),
    seed: Annotated[int, typer.Option(help="Makes it repeatable.")] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but problems.")] = False,
) -> None:
    """Simulate a growing, dividing, moving colony with its truth."""
    from dunno.simulate import colony

    made = colony(cells, frames, motion, seed, tail=tail)
    made.save(path)
    if not quiet:
        counts = ", ".join(
            f"{made.events[name]:.0f} {name}" for name in ("detections", "divisions", "appearances", "losses")
        )
        typer.echo(f"{path}: {frames} frames with {counts}; truth in {path}_GT")
