"""`dunno track`: a movie of masks in, links with probabilities out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Exit, Option

from dunno.cli.console import say
from dunno.cli.movie_options import with_options
from dunno.cli.tracker_options import TrackerOptions
from dunno.errors import InputError
from dunno.work.progress import Say, ignore_note

if TYPE_CHECKING:
    from dunno.calibration import Calibration
    from dunno.io import Links
    from dunno.runs.run import Run
    from dunno.tracking.tracker import Tracker
    from dunno.types import Movie
    from dunno.work.progress import LogFile, Tell

CHANGES_LISTED = 10
CALIBRATION_CHOICES = ("none", "self", "default")


def track(
    choices: TrackerOptions,
    output: Annotated[Path, Option("--output", "-o", help="The folder to write; must not exist.")],
    more: Annotated[
        list[Path] | None,
        Argument(help="More movies, or a pattern in quotes ('plate/*/masks') as the first: a folder in OUTPUT each."),
    ] = None,
    calibration: Annotated[
        str,
        Option(
            show_default=False, help="self (fit to this movie, without truth), a file from `dunno calibrate`, or none."
        ),
    ] = "default",
    from_review: Annotated[
        Path | None,
        Option(metavar="OUT", help="Calibrate on the answers of a review (`dunno review OUT`); 50 are needed."),
    ] = None,
    links: Annotated[
        Path | None, Option(help="Your own tracks to judge: a table, CTC, GEFF, TrackMate XML, napari array.")
    ] = None,
    ctc: Annotated[bool, Option("--ctc", help="Also write a Cell Tracking Challenge result.")] = False,
    fill_gaps: Annotated[
        bool, Option("--fill-gaps", help="Fill in cells where a link skips frames, marked as such, in every file.")
    ] = False,
    with_debris: Annotated[bool, Option("--with-debris", help="Count what is taken for debris like cells.")] = False,
    dask: Annotated[
        str | None, Option(help="A Dask scheduler to work on: tcp://host:8786, or its scheduler file.")
    ] = None,
    overwrite: Annotated[bool, Option("--overwrite", help="Replace an earlier output.")] = False,
    resume: Annotated[bool, Option("--resume", help="Continue a run that was stopped.")] = False,
    verbose: Annotated[bool, Option("--verbose", help="Also print what was fitted.")] = False,
    explain: Annotated[bool, Option("--explain", help="Also print what the words mean.")] = False,
    quiet: Annotated[bool, Option("--quiet", "-q", help="Print nothing but problems.")] = False,
    as_json: Annotated[
        bool, Option("--json", help="Print the summary as JSON, and progress as JSON lines to stderr.")
    ] = False,
) -> None:
    """Link the cells of a movie, and give every link a probability."""
    from dunno.cli.first_screen import show_run
    from dunno.cli.many import track_many
    from dunno.runs.plate import is_many

    movies = [choices.movie, *(more or [])]
    learnt = calibration if from_review is None else learn_calibration(from_review, calibration, quiet)
    job = Job(choices, learnt, links, ctc, overwrite, resume, fill_gaps, with_debris)
    if is_many(movies):
        track_many(job, movies, output, dask, quiet, as_json)
    else:
        run = _track_one(job, output, dask, quiet, as_json)
        if not (quiet or as_json):
            show_run(run, verbose, explain)
        _end(run)


command = with_options(track, TrackerOptions)


@dataclass(frozen=True)
class Job:
    """How to track a movie, light enough to be sent to a worker."""

    choices: TrackerOptions
    calibration: str | Calibration
    links: Path | None
    ctc: bool
    overwrite: bool
    resume: bool
    fill_gaps: bool = False
    with_debris: bool = False

    def prepare(self, workers: int) -> tuple[Tracker, Movie]:
        """Open the movie, look at some of its masks and make the tracker."""
        from dunno.runs.mask_check import refuse_what_is_no_mask

        movie = self.choices.open_movie()
        refuse_what_is_no_mask(movie)
        links = None if self.links is None else judge(self.links, movie)
        calibration = choose_calibration(self.calibration)
        return self.choices.make_tracker(links=links, calibration=calibration, workers=workers), movie

    def run(self, tracker: Tracker, movie: Movie, output: Path, tell: Tell, say: Say = ignore_note) -> Run:
        """Track."""
        from dunno.runs.run import track_into

        how = {"overwrite": self.overwrite, "resume": self.resume, "ctc": self.ctc}
        how |= {"fill_gaps": self.fill_gaps, "with_debris": self.with_debris}
        return track_into(tracker, movie, output, **how, tell=tell, say=say)

    def at(self, movie: Path) -> Job:
        """The same for another movie."""
        return replace(self, choices=replace(self.choices, movie=movie))


def _track_one(job: Job, output: Path, dask: str | None, quiet: bool, as_json: bool) -> Run:
    from dunno.cli.console import note, showing_progress, tell_movie
    from dunno.io.writing import check_output, partial_of
    from dunno.runs.run import pays_in_processes
    from dunno.runs.workspace import finished_blocks
    from dunno.work.schedule import count_workers, open_pool

    complete = job.resume and not partial_of(output).exists()
    check_output(output, job.overwrite or job.resume, keeps=complete, is_folder=True)
    if not job.resume and (left := finished_blocks(output)):
        aside = partial_of(output).with_name(f"{partial_of(output).name}.old")
        note(f"starting anew; {left} finished blocks of an earlier run, which --resume would continue, wait in {aside}")
    job = job if dask is None else job.at(job.choices.movie.absolute())  # workers have folders of their own
    tracker, movie = job.prepare(count_workers(job.choices.workers))
    if not quiet:
        tell_movie(movie)
    processes = pays_in_processes(tracker, movie, tracker.workers)
    with (
        logging(output, note) as log,
        open_pool(tracker.workers, dask, processes=processes) as tracker.executor,
        showing_progress(quiet, as_json, log) as tell,
    ):
        run = job.run(tracker, movie, output, tell, ignore_note if quiet else note)
    if as_json:
        say(json.dumps(run.to_dict(), indent=2))
    return run


def _end(run: Run) -> None:
    """Say which frames could not be read, and end with a code that tells."""
    from dunno.cli.console import complain_of_frames

    broken = {each.frame: each.problem for each in run.summary.broken}
    complain_of_frames(broken, "; no links lead to {0} or from {0}")
    if run.summary.broken:
        raise Exit(2)


@contextmanager
def logging(output: Path, say: Callable[[str], None]) -> Iterator[LogFile]:
    """Keep a log beside an output: how fast it was, how it ended, and what is left to continue, which is also said."""
    from dunno.runs.run import progress_left
    from dunno.work.progress import LogFile

    log = LogFile(output.with_name(f"{output.name}.log"))
    try:
        yield log
        log.note("done")
    except BaseException as error:
        refused = type(error) is InputError  # nothing was begun: what lies there is another run's
        left = None if refused else progress_left(output)
        if left is None:
            log.forget()
        else:
            log.note(f"stopped: {' '.join(str(error).split()) or type(error).__name__}; {left}")
            say(left)
        raise


def learn_calibration(folder: Path, calibration: str, quiet: bool) -> Calibration:
    """The calibration of an output, refitted on the answers of its review."""
    from dunno.cli.console import note
    from dunno.review import Review
    from dunno.review.learning import learn
    from dunno.review.lessons import ENOUGH

    if calibration != "default":
        raise InputError(f"--calibration {calibration} and --from-review are two calibrations; leave out one of them")
    with Review.open(folder, read_only=True) as review:
        if review.n_answered < ENOUGH:
            raise InputError(
                f"{folder}: has {review.n_answered} answers, and {ENOUGH} are needed to calibrate on; go on: dunno review {folder}"
            )
        learnt = learn(review)
    if not quiet:
        note(f"calibrated on {learnt.answers} answers of the review of {folder}")
    return learnt.calibration


def choose_calibration(name: str | Calibration) -> Any:
    """A calibration by name or file, or one that is there already."""
    from dunno.calibration import load_calibration

    if not isinstance(name, str):
        return name
    return (
        {"none": None, "self": "self", "default": "default"}[name]
        if name in CALIBRATION_CHOICES
        else load_calibration(name)
    )


def judge(path: Path, movie: Movie) -> Links:
    """Read somebody else's links, and list what could not be used."""
    from dunno.cli.console import note
    from dunno.io import read_links

    links = read_links(path, movie)
    if len(links) == 0:
        reason = f"; the first: {links.unmatched[0]}" if links.unmatched else ""
        raise InputError(f"{path}: none of its {len(links.unmatched)} links could be matched{reason}")
    note(f"{len(links)} links from {path}; {len(links.unmatched)} could not be matched")
    for problem in links.unmatched[:CHANGES_LISTED]:
        note(f"not matched: {problem}")
    if len(links.unmatched) > CHANGES_LISTED:
        note(f"… and {len(links.unmatched) - CHANGES_LISTED} more; all are in unmatched_links.txt")
    return links
