"""`dunno demo`: everything once, on a simulated colony."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

SEQUENCE, TRACKS = "01", "tracks"


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write.")] = Path("dunno-demo"),
    seed: Annotated[int, typer.Option(help="Makes it repeatable.")] = 0,
    review: Annotated[bool, typer.Option("--review", help="Then review it, on a page in your browser.")] = False,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="With --review: open the page.")] = True,
) -> None:
    """Simulate a colony, track it, show what came out and whether its probabilities are true, and report on it."""
    from dataclasses import replace

    from dunno import __version__
    from dunno.cli.console import note, show_run, showing_progress
    from dunno.cli.review import review as review_command
    from dunno.evaluation import score
    from dunno.io.block_files import stored_pairs
    from dunno.io.writing import REVIEW_FILE, leave_marker, read_marker, whole
    from dunno.report import write_report
    from dunno.report.write import REPORT_FILE
    from dunno.review.server import check_installed
    from dunno.runs.run import track_into
    from dunno.simulate import colony
    from dunno.tracking import Tracking
    from dunno.tracking.tracker import Tracker

    if review:
        check_installed()
    if review and (output / TRACKS / REVIEW_FILE).exists():
        note(f"going on with the review in {output / TRACKS}")
        review_command(output / TRACKS, browser=browser)
        return
    with whole(output, overwrite="demo" in read_marker(output)) as partial:
        note("simulating a colony with its truth")
        simulated = colony(motion=0.2, seed=seed)
        simulated.save(partial / SEQUENCE)
        simulated.movie.path = str((output / SEQUENCE).absolute())  # where it will be
        with showing_progress() as tell:
            run = track_into(Tracker(seed=seed), simulated.movie, partial / TRACKS, ctc=True, tell=tell)
        found = score(Tracking(simulated.movie, tuple(stored_pairs(partial / TRACKS)), run.about), simulated.truth)
        write_report(partial / TRACKS, truth=partial / f"{SEQUENCE}_GT" / "TRA", movie=simulated.movie)
        leave_marker(partial, __version__, demo={"seed": seed})
    show_run(replace(run, folder=output / TRACKS))
    typer.echo(
        f"the simulation knows the truth: {found.sentence()}; "
        f"calibration error {found.ece:.3f} (a perfect tracker's stays below {found.ece_floor:.3f})"
    )
    typer.echo(f"the movie is in {output / SEQUENCE}; track it yourself: dunno track {output / SEQUENCE} -o my-tracks")
    typer.echo(f"the report is {output / TRACKS / REPORT_FILE}; open it in any browser")
    if review:
        review_command(output / TRACKS, browser=browser)
