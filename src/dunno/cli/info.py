"""`dunno info`: what a path is taken for, and what its masks look like."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

from typer import Exit, Option

from dunno.cli.console import say
from dunno.cli.movie_options import Opening, with_options

if TYPE_CHECKING:
    from dunno.runs.mask_check import MaskCheck
    from dunno.types import Movie


def info(
    opening: Opening,
    as_json: Annotated[bool, Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Show how dunno reads a movie: frames, size, cells, scale, and anything odd about its masks."""
    from dunno.cli.console import complain, complain_of_frames
    from dunno.runs.mask_check import what_is_no_mask, what_is_odd

    movie = opening.open_movie()
    looks, counts, broken = _looks(movie)
    refusal, odd = what_is_no_mask(looks), what_is_odd(looks) if looks else []
    if as_json:
        content = {**_facts(movie, counts), "notes": movie.notes, "odd": odd, "refused": refusal, "broken": broken}
        say(json.dumps(content, indent=2))
    else:
        for name, value in _rows(movie, counts):
            say(f"{name:10} {value}")
        for line in (*movie.notes, *([] if refusal else odd)):
            say(f"note: {line}")
    if refusal:
        complain(refusal)
    complain_of_frames(broken)
    if refusal or broken:
        raise Exit(2)


command = with_options(info, Opening)


def _looks(movie: Movie) -> tuple[list[MaskCheck], list[int], dict[int, str]]:
    """Every frame's masks looked at, a few at a time; how many cells each has; and why some cannot be read."""
    from dunno.runs.mask_check import look_at
    from dunno.tracking.measured_blocks import measured_blocks
    from dunno.work.schedule import count_workers, open_pool

    looks: list[MaskCheck] = []
    counts: list[int] = []
    broken: dict[int, str] = {}
    with open_pool(count_workers()) as pool:
        for block in measured_blocks(movie, pool):
            found = {each.frame: each.problem for each in block.broken}
            broken |= found
            whole = [cells for cells in block.cells if cells.frame not in found]
            counts += map(len, whole)
            looks += [look for look in (look_at(cells, movie) for cells in whole) if look is not None]
    return looks, counts, broken


def _facts(movie: Movie, counts: list[int]) -> dict[str, Any]:
    return {
        "form": movie.form,
        "masks": movie.mask_source,
        "images": movie.has_images,
        "frames": movie.frames.tolist(),
        "shape": list(movie.shape),
        "cells": counts,
        "scale": list(movie.scale) if movie.has_scale else None,
        "interval": movie.interval,
    }


def _rows(movie: Movie, counts: list[int]) -> list[tuple[str, str]]:
    from dunno.io.spacing import in_words

    what = "masks" if movie.has_masks else "points"
    total = f"{sum(counts):,} {what}, {min(counts)} to {max(counts)} in a frame" if counts else "none could be read"
    scale = in_words(movie.scale, movie.interval, movie.has_scale)
    unknown = "" if movie.has_scale else "pixels; --scale gives µm"
    return [
        ("read as", movie.form),
        ("masks", movie.mask_source),
        ("images", "yes" if movie.has_images else "none; --images PATH gives them"),
        ("frames", f"{len(movie):,} ({movie.frames[0]} to {movie.frames[-1]})"),
        ("size", f"{' × '.join(map(str, movie.shape))} pixels ({'z, ' if movie.n_dimensions == 3 else ''}y, x)"),
        ("cells", total),
        ("scale", ", ".join(part for part in (unknown, scale) if part)),
    ]
