"""`dunno export`: an output in another tool's format."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from dunno.cli.console import say

if TYPE_CHECKING:
    from dunno.io.filtering import LeftOut
    from dunno.types import Block


def export(
    output: Annotated[Path, Argument(metavar="OUT", help="A folder that `dunno track` wrote.")],
    to: Annotated[
        str, Option("--to", metavar="FORMAT", help="trackmate, geff, ctc, napari, …; see dunno list writers.")
    ],
    path: Annotated[Path, Option("--output", "-o", metavar="FILE", help="The file or folder to write.")],
    min_probability: Annotated[
        float | None, Option(metavar="P", help="Cut links that are less probable than P.")
    ] = None,
    min_length: Annotated[int | None, Option(metavar="N", help="Leave out tracks with fewer than N cells.")] = None,
    with_debris: Annotated[bool, Option("--with-debris", help="Write what is taken for debris, too.")] = False,
    masks: Annotated[Path | None, Option(help="Where the movie's masks are now, if they have moved.")] = None,
    overwrite: Annotated[bool, Option("--overwrite", help="Replace what dunno wrote there before.")] = False,
    quiet: Annotated[bool, Option("--quiet", "-q", help="Print nothing but problems.")] = False,
) -> None:
    """Write tracks in a format that other tools open, with their probabilities as far as it has room for them."""
    from dunno.cli.console import note
    from dunno.io.block_files import linked_blocks
    from dunno.io.filtering import LeftOut, check_limits, long_tracks, sure_links, without_debris
    from dunno.io.output import read_run, reopen_movie
    from dunno.io.writers import export as write
    from dunno.io.writers import find_format
    from dunno.io.writing import REVIEW_FILE
    from dunno.runs.findings import debris_left_out

    check_limits(min_probability, min_length)
    form = find_format(to)
    about = read_run(output)
    movie = reopen_movie(output, masks) if form.needs_masks else None
    left_out, counted, other = LeftOut(), LeftOut(), LeftOut()
    if min_probability is not None or min_length is not None:
        about = replace(about, export={"min_probability": min_probability, "min_length": min_length})

    def cells() -> Iterable[Block]:
        return linked_blocks(output) if with_debris else without_debris(lambda: linked_blocks(output), other)

    def sure(count: LeftOut) -> Iterable[Block]:
        blocks = cells()
        return blocks if min_probability is None else sure_links(blocks, min_probability, count)

    blocks = sure(left_out)
    if min_length is not None:
        blocks = long_tracks(lambda: sure(counted), min_length, left_out)
    tracks = write(to, path, blocks, about, movie, overwrite=overwrite)
    if min_length is not None:  # the blocks were read twice
        left_out.links, left_out.divisions = counted.links // 2, counted.divisions // 2
    if (output / REVIEW_FILE).exists():
        note(
            "the review is not in it; dunno review OUT --export DIR writes the reviewed tracks, which can be exported then"
        )
    if not quiet:
        say(f"written to {path}: {len(tracks):,} tracks as {form.name}; probabilities are {about.verdict}")
        if other.debris:
            say(debris_left_out(other.debris, other.all_tracks, "writes"))
        for line in _summary(left_out, min_probability, min_length):
            say(line)


def _summary(left_out: LeftOut, least: float | None, length: int | None) -> Iterable[str]:
    if least is not None:
        yield f"cut: {left_out.links:,} links below {least:g}, {left_out.divisions:,} divisions lost a daughter by it"
    if length is not None:
        yield (
            f"left out: {left_out.tracks:,} tracks with fewer than {length} cells ({left_out.cells:,} cells); "
            f"{left_out.orphans:,} tracks lost their mother by it"
        )
