"""`dunno track` for many movies: each into a folder of its own, one table, and what failed at the end."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from typer import Exit

from dunno.cli.console import say
from dunno.errors import InputError
from dunno.work.budget import usual_limit

if TYPE_CHECKING:
    from dunno.cli.track import Job
    from dunno.runs.plate import MovieOutcome
    from dunno.runs.run import Run


@dataclass(frozen=True)
class TrackMovie:
    """Tracks one of many movies; pickles, so that any process may."""

    job: Job
    workers: int

    def __call__(self, movie: Path, folder: Path) -> Run:
        """Track it, with a log beside its output."""
        from dunno.cli.console import hush, showing_progress
        from dunno.cli.track import logging

        hush()
        with logging(folder, lambda line: None) as log, showing_progress(quiet=True, log=log) as tell:
            tracker, found = self.job.at(movie).prepare(self.workers)
            return self.job.run(tracker, found, folder, tell)


def track_many(job: Job, asked: Sequence[Path], output: Path, dask: str | None, quiet: bool, as_json: bool) -> None:
    """Track every movie, in processes here or on a cluster; show and write one table."""
    from dunno import __version__
    from dunno.cli.console import note, show_movies, showing_progress
    from dunno.runs.plate import SUMMARY_FILE, find_movies, open_folder, track_movies, write_table
    from dunno.work.progress import LogFile
    from dunno.work.schedule import count_workers, open_pool

    for name, given in (
        ("--links", job.links),
        ("--masks", job.choices.masks),
        ("--images", job.choices.images),
        ("--features", job.choices.features),
    ):
        if given is not None:
            raise InputError(f"{name} {given}: is for one movie; track movies that have their own apart")
    movies = {name: movie.absolute() for name, movie in find_movies(asked).items()}
    open_folder(output, __version__, job.overwrite, job.resume)
    if not quiet:
        note(f"{len(movies)} movies: {', '.join(list(movies)[:5])}{' …' if len(movies) > 5 else ''}")
    available = count_workers(job.choices.workers)
    at_once = min(available, len(movies))
    work = TrackMovie(job, 1) if dask else TrackMovie(_sharing_memory(job, at_once), max(available // at_once, 1))
    log = LogFile(output.with_name(f"{output.name}.log"))
    with (
        open_pool(at_once, dask, processes=True) as pool,
        showing_progress(quiet, as_json, log) as tell,
    ):
        ended = {each.name: each for each in track_movies(work, movies, output.absolute(), pool, tell)}
    outcomes = [ended[name] for name in movies]
    write_table(output, outcomes)
    if as_json:
        say(json.dumps([_as_json(outcome) for outcome in outcomes], indent=2))
    elif not quiet:
        show_movies(outcomes, str(output / SUMMARY_FILE))
    _end(outcomes)


def _sharing_memory(job: Job, at_once: int) -> Job:
    """The job where each of some processes on this machine takes its share of the memory, unless it was said how much."""
    share = usual_limit(at_once)
    if job.choices.memory is not None or share is None:
        return job
    return replace(job, choices=replace(job.choices, memory=str(share)))


def _as_json(outcome: MovieOutcome) -> dict[str, object]:
    found = None if outcome.run is None else outcome.run.to_dict()
    return {"name": outcome.name, "movie": str(outcome.movie), "problem": outcome.problem, "run": found}


def _end(outcomes: Sequence[MovieOutcome]) -> None:
    """Say what went wrong, a line each, and end with a code that tells."""
    from dunno.cli.console import complain

    wrong = [outcome for outcome in outcomes if outcome.problem]
    for outcome in wrong:
        complain(f"{outcome.name}: {outcome.problem}")
    if wrong:
        raise Exit(1 if any(outcome.bug for outcome in wrong) else 2)
