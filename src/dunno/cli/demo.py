"""`dunno demo`: everything once, on a simulated colony."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from dunno.cli.console import say

SEQUENCE, TRACKS = "01", "tracks"
"""Shares of the masks that are spoiled, as those of a usual program are."""


def demo(
    output: Annotated[Path, Option("--output", "-o", help="Folder to write.")] = Path("dunno-demo"),
    seed: Annotated[int, Option(help="Seed of the random numbers.")] = 0,
    review: Annotated[bool, Option("--review", help="Then review it on a page in your browser.")] = False,
    browser: Annotated[bool, Option("--browser/--no-browser", help="With --review: open the page.")] = True,
) -> None:
    """Track a simulated colony, compare the result with the truth, and write a report; no download."""
    from dataclasses import replace

    from dunno import __version__
    from dunno.cli.console import note, showing_progress
    from dunno.cli.first_screen import show_run
    from dunno.cli.review import review as review_command
    from dunno.evaluation import score
    from dunno.io.block_files import linked_blocks
    from dunno.io.output import with_stored_cells
    from dunno.io.writing import REVIEW_FILE, leave_marker, read_marker, whole
    from dunno.report import write_report
    from dunno.report.write import REPORT_FILE
    from dunno.review.server import check_installed
    from dunno.runs.run import track_into
    from dunno.simulate import colony
    from dunno.simulate.colony import spoiled_folder
    from dunno.tracking import Tracking
    from dunno.tracking.tracker import Tracker

    if review:
        check_installed()
    if review and (output / TRACKS / REVIEW_FILE).exists():
        note(f"going on with the review in {output / TRACKS}")
        review_command(output / TRACKS, browser=browser)
        return
    with whole(output, overwrite="demo" in read_marker(output)) as partial:
        note("simulating a colony with its truth; some of its masks are missing, false, joined or cut")
        simulated = colony(motion=0.2, seed=seed, missed=0.02, false=0.01, merged=0.01, split=0.01)
        simulated.save(partial / SEQUENCE)
        simulated.movie.path = str((output / SEQUENCE).absolute())  # where it will be
        simulated.movie.masks_path = str(spoiled_folder(output / SEQUENCE).absolute())
        with showing_progress() as tell:
            run = track_into(Tracker(seed=seed), simulated.movie, partial / TRACKS, ctc=True, tell=tell)
        movie = with_stored_cells(simulated.movie, partial / TRACKS)
        found = score(Tracking(movie, tuple(linked_blocks(partial / TRACKS)), run.about), simulated.truth)
        write_report(partial / TRACKS, truth=partial / f"{SEQUENCE}_GT" / "TRA", movie=simulated.movie)
        leave_marker(partial, __version__, demo={"seed": seed})
    show_run(replace(run, folder=output / TRACKS))
    say(
        f"the simulation knows the truth: {found.sentence()}; "
        f"calibration error {found.ece:.3f} (a perfect tracker's stays below {found.ece_floor:.3f})"
    )
    say(f"the report: {output / TRACKS / REPORT_FILE} (open it in any browser)")
    say(what_next(output))
    if review:
        review_command(output / TRACKS, browser=browser)


def what_next(output: Path) -> str:
    """What to try after the demo."""
    return f"""what next:
  dunno review {output / TRACKS}     answer questions about the doubtful links, on a page in your browser
  dunno track {output / SEQUENCE} --masks {output / SEQUENCE}_RES -o my-tracks   track the movie yourself
  dunno info MOVIE                  what dunno takes your own masks for; then: dunno track MOVIE -o OUT"""
