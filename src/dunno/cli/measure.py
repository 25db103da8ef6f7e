"""`dunno measure`: cycles, families, rates and speeds of an output, with their doubt."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from dunno.cli.console import say, show, table

if TYPE_CHECKING:
    from dunno.biology import Biology


def measure(
    output: Annotated[
        Path,
        Argument(metavar="OUT", help="A folder that `dunno track` wrote; with --groups, one of many outputs."),
    ],
    folder: Annotated[Path, Option("--output", "-o", metavar="DIR", help="The folder to write.")],
    samples: Annotated[int, Option(help="Lineages to draw for the intervals; 0 for none.")] = 200,
    groups: Annotated[
        Path | None, Option(metavar="FILE", help="A table (name,group) of outputs in OUT: compares conditions.")
    ] = None,
    with_debris: Annotated[bool, Option("--with-debris", help="Measure what is taken for debris like cells.")] = False,
    masks: Annotated[Path | None, Option(help="Where the movie's masks are now, if they have moved.")] = None,
    seed: Annotated[int, Option(help="Makes everything random repeatable.")] = 0,
    overwrite: Annotated[bool, Option("--overwrite", help="Replace what dunno wrote there before.")] = False,
    quiet: Annotated[bool, Option("--quiet", "-q", help="Print nothing but problems.")] = False,
) -> None:
    """Measure cell cycles, families, rates and speeds: tables, a page and pictures, each figure with its interval."""
    from dunno.biology import measure as measure_biology
    from dunno.biology.results_folder import PAGE, write_biology
    from dunno.cli.console import note, show_progress
    from dunno.errors import InputError
    from dunno.io.writing import check_output
    from dunno.tracking import Tracking

    check_output(folder, overwrite)
    watch = show_progress("drawing lineages", quiet)
    if groups is not None:
        from dunno.biology.groups import compare_groups, read_groups, sentences

        if masks is not None:
            raise InputError("--masks is for one output; with --groups every output opens its own movie")
        found_groups = read_groups(groups)
        compared = compare_groups(
            output, found_groups, folder, samples=samples, seed=seed, overwrite=overwrite, with_debris=with_debris
        )
        if not quiet:
            for line in sentences(compared):
                say(line)
            say(f"written to {folder}: groups.csv, wells.csv, and a folder for every output")
        return
    tracking = Tracking.read(output, masks)
    found = measure_biology(tracking, samples, seed, lambda drawn, n: watch(iter(drawn), n), with_debris)
    if not found.draws:
        note(f"there are no intervals: {found.why_no_draws}")
    write_biology(found, folder, overwrite=overwrite)
    if not quiet:
        _show(found)
        say(f"the page is {folder / PAGE}; the tables and pictures are beside it")


def _show(found: Biology) -> None:
    from dunno.biology.results_page import between, debris_sentence, number

    about = found.tracking.about
    title = f"{about.movie}: {len(found.draws)} lineages drawn, probabilities {about.verdict}"
    columns = ("figure", "value", "this movie, 95 %", "such cells, 95 %", "unit")
    rows = [
        (
            each.words,
            number(each.value),
            between(each.low, each.high),
            between(each.low_cells, each.high_cells),
            each.unit,
        )
        for each in found.figures
    ]
    show(table(title, columns, rows, left=("figure", "unit"), box=None, padding=(0, 2, 0, 0), header_style="dim"))
    if found.draws:
        divisions = found.figures[0]
        say(
            "divisions are those that `dunno track` says, other values are medians of the drawn lineages; "
            f"the output's own tables have {number(divisions.reported)} divisions"
        )
    if told := debris_sentence(found):
        say(told)
