"""What the command line says, and how: results to stdout, everything else to stderr."""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar

from dunno.work.progress import Listener, LogFile, Progress, Tell, now_and_then, tell_all

if TYPE_CHECKING:
    from dunno.runs.plate import MovieOutcome
    from dunno.runs.run import Run
    from dunno.runs.summary import Summary
    from dunno.types import Movie, RunInfo

Item = TypeVar("Item")

NUMBER_PATTERN, WARNINGS_LISTED = re.compile(r"-?\d[\d.]*(e[-+]?\d+)?"), 6
SECONDS_BETWEEN_LINES = 5.0
SECONDS_BETWEEN_JSON = 1.0


def complain(message: str) -> None:
    """Say in one line what is wrong."""
    print(f"dunno: {' '.join(message.split())}", file=sys.stderr)  # noqa: T201


def complain_of_frames(broken: Mapping[int, str], then: str = "") -> None:
    """Say what is wrong with frames: each thing once, whatever numbers are in it, with the frames of which it is true."""
    alike: dict[str, list[int]] = {}
    for frame in sorted(broken):
        alike.setdefault(NUMBER_PATTERN.sub("#", broken[frame]), []).append(frame)
    for frames in alike.values():
        named = ", ".join(map(str, frames[:WARNINGS_LISTED])) + (" …" if len(frames) > WARNINGS_LISTED else "")
        them = f"{len(frames):,} frames: {named}" if len(frames) > 1 else f"frame {named}"
        what = then.format("them" if len(frames) > 1 else "it")
        complain(f"{broken[frames[0]]}" + (f" ({them}{what})" if what or len(frames) > 1 else ""))


def say(text: str) -> None:
    """Print a result, at once also where it goes into a pipe: a page's address is waited for."""
    print(text, flush=True)  # noqa: T201


def note(message: str) -> None:
    """Say something worth knowing."""
    print(f"note: {message}", file=sys.stderr)  # noqa: T201


def tell_movie(movie: Movie) -> None:
    """Say where a movie's masks come from, and what else was found out on opening it."""
    note(f"masks from {movie.mask_source}" + ("" if movie.has_images else "; there are no images"))
    for line in movie.notes:
        note(line)


def hush() -> None:
    """Keep the TIFF reader's own words about a broken file off the terminal: dunno says which one it is."""
    logging.getLogger("tifffile").setLevel(logging.CRITICAL)


@contextmanager
def showing_progress(quiet: bool = False, as_json: bool = False, log: LogFile | None = None) -> Iterator[Tell]:
    """Show how far work is, on stderr: a bar, plain lines where there is no terminal, or JSON lines; and note it in a log.

    Args:
        quiet: Show nothing.
        as_json: Show one JSON object per line.
        log: Where to note it, shown or not.
    """
    logs = [] if log is None else [now_and_then(log, SECONDS_BETWEEN_LINES)]
    if quiet:
        yield tell_all(*logs)
    elif as_json:
        yield tell_all(now_and_then(_say_json, SECONDS_BETWEEN_JSON), *logs)
    elif sys.stderr.isatty():
        with _bar() as bar:
            yield tell_all(bar, *logs)
    else:
        yield tell_all(_later(now_and_then(_say, SECONDS_BETWEEN_LINES)), *logs)


def show_progress(what: str, quiet: bool) -> Callable[[Iterator[Item], int], Iterator[Item]]:
    """Return a wrapper that shows how far a stream has come."""

    def watch(items: Iterator[Item], total: int) -> Iterator[Item]:
        with showing_progress(quiet) as tell:
            for done, item in enumerate(items, 1):
                yield item
                tell(what, done, total)

    return watch


def _say(progress: Progress) -> None:
    print(progress, file=sys.stderr, flush=True)  # noqa: T201


def _say_json(progress: Progress) -> None:
    print(json.dumps(asdict(progress)), file=sys.stderr, flush=True)  # noqa: T201


def _later(listener: Listener) -> Listener:
    """Say nothing in the first seconds: short work needs no words."""

    def listen(progress: Progress) -> None:
        if progress.seconds > SECONDS_BETWEEN_LINES:
            listener(progress)

    return listen


@contextmanager
def _bar() -> Iterator[Listener]:
    """A bar with speed, time left and memory."""
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.fields[told]}"), BarColumn(bar_width=24))
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("", total=None, told="starting")

        def show(progress: Progress) -> None:
            bars.update(task, total=progress.total or None, completed=progress.done, told=str(progress))

        yield show


def show_run(run: Run) -> None:
    """Print what a run found: a summary, and the ten least certain links."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    summary, about = run.summary, run.about
    console = Console(highlight=False)
    confidence = "–" if summary.mean_confidence is None else f"{summary.mean_confidence:.4f}"
    gate = "none" if about.max_distance is None else f"{about.max_distance:.4g} {about.length_unit}"
    gate += " (estimated)" if about.max_distance_estimated else ""
    table = Table(
        title=f"{about.movie}: {about.cost} cost, method {about.method}",
        show_header=False,
        title_justify="left",
    )
    for name, value in (
        ("masks", about.mask_source),
        ("frames", f"{summary.frames:,}" + (f" (every {about.step})" if about.step > 1 else "")),
        ("cells", f"{summary.cells:,}"),
        ("links", f"{summary.links:,} of {summary.candidates:,} candidate edges" + _across(summary)),
        ("tracks", f"{summary.tracks:,}"),
        ("divisions", f"{summary.divisions:,}"),
        ("appearing / disappearing", f"{summary.appearing:,} / {summary.disappearing:,}"),
        ("max distance", gate),
        ("mean confidence", confidence),
        ("probabilities", f"{about.verdict}: {about.reason}"),
        ("expected wrong links", f"{summary.expected_wrong_links:,.1f}"),
        *_missing_rows(summary),
        *_fitted_rows(about),
        *_imaging_rows(run),
        ("time", f"{run.seconds:.1f} s"),
    ):
        table.add_row(name, escape(value))
    console.print(table)
    if summary.least_certain:
        console.print(_least_certain_table(run))
    console.print(
        f"written to [bold]{escape(str(run.folder))}[/bold]: {', '.join(sorted(path.name for path in run.folder.iterdir()))}"
    )


def _across(summary: Summary) -> str:
    return f", {summary.gap_links:,} across missing masks" if summary.gap_links else ""


def _missing_rows(summary: Summary) -> list[tuple[str, str]]:
    """How many true links and divisions somebody else's links leave out."""
    missing = {"links": summary.expected_missing_links, "divisions": summary.expected_missing_divisions}
    return [(f"expected missing {name}", f"{count:,.1f}") for name, count in missing.items() if count is not None]


def _fitted_rows(about: RunInfo) -> list[tuple[str, str]]:
    """What a fitted model found out about the cells, with 95 % intervals."""
    calibration = about.calibration
    if not calibration or "findings" not in calibration:
        return []
    word = "assumed" if calibration["problems"] else "fitted"
    told = (calibration.get("evidence") or {}).get("told")
    rows = [("evidence", told)] if told else []
    return rows + [(f"{word} {each['name']}", _finding(each, about)) for each in calibration["findings"]]


def _imaging_rows(run: Run) -> list[tuple[str, str]]:
    """What half the frame rate would have cost, where that was tested."""
    from dunno.runs.imaging import imaging_sentence

    tests = run.about.skip_tests
    if not tests or not run.summary.links:
        return []
    return [("imaging", imaging_sentence(tests[0], run.summary.links, run.summary.expected_wrong_links))]


def _finding(finding: dict[str, Any], about: RunInfo) -> str:
    """A number with its interval and its unit."""
    length = about.length_unit
    if about.cost != "distance":
        length += " per √activity"
    ends = finding["interval"]
    between = "" if ends is None else f" ({ends[0]:.3g} – {ends[1]:.3g})"
    return f"{finding['value']:.3g}{between} {finding['unit'].replace('length', length)}"


def _least_certain_table(run: Run) -> object:
    from rich.table import Table

    state = "" if run.about.calibrated else f" (probabilities {run.about.verdict})"
    table = Table(title=f"least certain links{state}", title_justify="left")
    for column in ("frame", "daughter", "mother's frame", "mother", "probability"):
        table.add_column(column, justify="right")
    for link in run.summary.least_certain:
        numbers = (link.frame, link.daughter, link.mother_frame, link.mother)
        table.add_row(*map(str, numbers), f"{link.probability:.4f}" if link.probability >= 1e-4 else "< 0.0001")
    return table


def show_movies(outcomes: Sequence[MovieOutcome], table_file: str) -> None:
    """Print a line for each of many movies."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=f"{len(outcomes)} movies", title_justify="left")
    table.add_column("movie")
    for column in ("frames", "cells", "links", "tracks", "divisions", "expected wrong"):
        table.add_column(column, justify="right")
    table.add_column("probabilities", no_wrap=True)
    for outcome in outcomes:
        row = outcome.row()
        if outcome.run is None:
            table.add_row(escape(outcome.name), *[""] * 6, "failed")
            continue
        numbers = [f"{row[name]:,}" for name in ("frames", "cells", "links", "tracks", "divisions")]
        wrong = f"{outcome.run.summary.expected_wrong_links:,.1f}"
        table.add_row(escape(outcome.name), *numbers, wrong, str(row["probabilities"]))
    console = Console(highlight=False)
    console.print(table)
    console.print(f"the same as a table: [bold]{escape(table_file)}[/bold]")
