"""`dunno trackmate`: one command from TrackMate's files to TrackMate's files, and with the options of its Trackastra tracker."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from typer import Option

from dunno.cli.movie_options import with_options
from dunno.cli.tracker_options import TrackerOptions
from dunno.errors import InputError

NO_DIVISIONS = "greedy_nodiv"
"""The mode of Trackastra in which cells do not divide."""


def trackmate(
    choices: TrackerOptions,
    output: Annotated[
        Path | None, Option("--output", "-o", metavar="FILE", help="The TrackMate file (.xml) to write.")
    ] = None,
    edge_table: Annotated[
        Path | None,
        Option("--output-edge-table", metavar="FILE", help="The table of links (.csv) to write, as Trackastra has it."),
    ] = None,
    imgs: Annotated[
        Path | None, Option("--imgs", metavar="DIR", help="The images, as Trackastra calls them; like --images.")
    ] = None,
    mode: Annotated[
        str, Option(help="Of Trackastra; of greedy_nodiv, greedy and ilp, the first means --no-divisions.")
    ] = "greedy",
    device: Annotated[str, Option(help="Of Trackastra; passed over.")] = "automatic",
    model_pretrained: Annotated[str, Option(help="Of Trackastra; passed over.")] = "",
    model_custom: Annotated[str, Option(help="Of Trackastra; passed over.")] = "",
    overwrite: Annotated[bool, Option("--overwrite", help="Replace what dunno wrote there before.")] = False,
    quiet: Annotated[bool, Option("--quiet", "-q", help="Print nothing but problems.")] = False,
) -> None:
    """Track TrackMate's spots, or masks, and write what TrackMate reads: an XML, a table of links, or both."""
    from dunno.cli.console import note, say, showing_progress
    from dunno.cli.track import Job
    from dunno.io.block_files import linked_blocks
    from dunno.io.writers import export
    from dunno.io.writing import check_output
    from dunno.work.progress import ignore_note
    from dunno.work.schedule import count_workers

    files = {"trackmate": output, "trackastra": edge_table}
    wanted = {form: path for form, path in files.items() if path is not None}
    if not wanted:
        raise InputError("say what to write: -o TRACKED.xml, or --output-edge-table LINKS.csv")
    for path in wanted.values():
        check_output(path, overwrite)
    if (found := choices.movie or choices.masks) is None:
        raise InputError("give a MOVIE (TrackMate's SPOTS.xml, or masks), or --masks DIR")
    asked = replace(
        choices,
        movie=found,
        masks=choices.masks if choices.movie else None,
        images=choices.images or imgs,
        no_divisions=choices.no_divisions or mode == NO_DIVISIONS,
    )
    with tempfile.TemporaryDirectory(prefix="dunno-") as folder, showing_progress(quiet) as tell:
        job = Job(asked, "default", None, ctc=False, overwrite=False, resume=False)
        tracker, movie = job.prepare(count_workers(asked.workers))
        run = job.run(tracker, movie, Path(folder) / "out", tell, ignore_note if quiet else note)
        for form, path in wanted.items():
            export(form, path, linked_blocks(run.folder), run.about, movie, overwrite=overwrite)
    if not quiet:
        told = f"{run.summary.links:,} links, {run.summary.expected_wrong_links:,.1f} of them expected to be wrong"
        say(f"{told} (probabilities {run.about.verdict}); written to {', '.join(map(str, wanted.values()))}")


command = with_options(trackmate, TrackerOptions, movie_may_be_left_out=True)
