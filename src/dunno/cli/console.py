"""What the command line says, and how: results to stdout, everything else to stderr."""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar

from dunno.work.progress import Listener, LogFile, Progress, Tell, now_and_then, tell_all

if TYPE_CHECKING:
    from rich.table import Table

    from dunno.runs.plate import MovieOutcome
    from dunno.types import Movie

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


def show(*things: object) -> None:
    """Print tables and texts with their marks."""
    from rich.console import Console

    console = Console(highlight=False)
    for each in things:
        console.print(each)


def table(
    title: str | None,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]] = (),
    left: Sequence[str] = ("",),
    **look: Any,
) -> Table:
    """A table of numbers; the columns that hold words are named in `left`."""
    from rich.table import Table

    made = Table(title=title, title_justify="left", **look)
    for name in columns:
        made.add_column(name, justify="left" if name in left else "right")
    for row in rows:
        made.add_row(*row)
    return made


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
    """Show how far work is, on stderr: a bar, plain lines where there is no terminal, or JSON lines; and note it in a log."""
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


def show_movies(outcomes: Sequence[MovieOutcome], table_file: str) -> None:
    """Print a line for each of many movies."""
    from rich.markup import escape

    numbers = ("frames", "cells", "links", "tracks", "divisions")
    shown = table(f"{len(outcomes)} movies", ("movie", *numbers, "expected wrong"), left=("movie",))
    shown.add_column("probabilities", no_wrap=True)
    for outcome in outcomes:
        row = outcome.row()
        if outcome.run is None:
            shown.add_row(escape(outcome.name), *[""] * 6, "failed")
            continue
        wrong = f"{outcome.run.summary.expected_wrong_links:,.1f}"
        told = [f"{row[name]:,}" for name in numbers]
        shown.add_row(escape(outcome.name), *told, wrong, str(row["probabilities"]))
    show(shown, f"the same as a table: [bold]{escape(table_file)}[/bold]")
