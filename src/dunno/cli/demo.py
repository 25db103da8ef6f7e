"""`dunno demo`: everything once, on a simulated colony."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

SEQUENCE, TRACKS = "01", "tracks"


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write.")] = Path("dunno-demo"),
    seed: Annotated[int, typer.Option(help="Makes it repeatable.")] = 0,
) -> None:
    """Simulate a colony, track it, show what came out and whether its probabilities are true."""
    import json
    from dataclasses import replace

    from dunno import __version__
    from dunno.cli.console import note, show_progress, show_run
    from dunno.evaluation import score
    from dunno.io.output import read_pairs
    from dunno.io.writing import RUN_FILE, is_output, whole
    from dunno.run import track_into
    from dunno.simulate import colony
    from dunno.tracker import Tracker
    from dunno.tracking import Tracking

    with whole(output, overwrite=is_output(output)) as partial:
        note("simulating a colony with its truth")
        simulated = colony(motion=0.2, seed=seed)
        simulated.save(partial / SEQUENCE)
        progress = show_progress("tracking", quiet=False)
        run = track_into(Tracker(seed=seed), simulated.movie, partial / TRACKS, ctc=True, progress=progress)
        found = score(Tracking(simulated.movie, read_pairs(partial / TRACKS), run.about), simulated.truth)
        (partial / RUN_FILE).write_text(json.dumps({"dunno": __version__, "demo": {"seed": seed}}) + "\n")
    show_run(replace(run, folder=output / TRACKS))
    wrong = round((1 - found.accuracy) * found.n_links)
    typer.echo(
        f"the simulation knows the truth: {wrong} links are wrong, {run.summary.expected_wrong_links:.0f} were expected to be; "
        f"calibration error {found.ece:.3f} (a perfect tracker's stays below {found.ece_floor:.3f})"
    )
    typer.echo(f"the movie is in {output / SEQUENCE}; track it yourself: dunno track {output / SEQUENCE} -o my-tracks")
