"""What is said when a movie is tracked: a biologist's questions first, in that order; the fit's details if asked for."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from dunno.cli.console import say, table

if TYPE_CHECKING:
    from rich.console import Console

    from dunno.runs.run import Run
    from dunno.types import RunInfo

LISTED_DOUBTS = 5
VERDICT_COLOURS = {"supported": "green", "untested": "yellow", "contradicted": "red"}

EXPLANATION = """What the words mean
  cell          a mask in one frame, or what became of it where masks were cut, joined or left out
  link          two cells of different frames that are said to be the same one, or mother and daughter
  track         a cell from its birth, or where it comes into view, until it divides or is gone
  whole         a track that is seen from the first frame or its birth on, until it divides or the movie ends
  division      a cell that goes on as two; both are tracks of their own
  debris        what stays and moves but is probably no cell: dirt, dead cells, halos
  expected to be wrong
                dunno gives every link the probability that it is right; so many of them should be wrong
  95 %          the range in which the true number lies 95 times in 100, if the probabilities are true
  supported     dunno left out frames of this movie (or played it backwards), and its probabilities kept their promise
  untested      the movie is too short, or has too few errors, to tell
  contradicted  the test failed, and the reason says how: do not rely on the numbers, only on the order
  (5 links)     how many doubtful links a question is about: a cell is often doubtful for some frames in a row"""


def show_run(run: Run, verbose: bool = False, explain: bool = False) -> None:
    """Print what a run found; with its details, and with what the words mean."""
    from rich.console import Console

    console = Console(highlight=False)
    _say_findings(console, run)
    if run.summary.least_certain:
        _say_doubts(console, run)
    if verbose:
        _say_details(console, run)
    if explain:
        say("\n" + EXPLANATION)
    _say_next(console, run)


def _say_findings(console: Console, run: Run) -> None:
    from rich.markup import escape

    from dunno.runs import findings

    found, about = run.summary, run.about
    console.print(
        f"[bold]{escape(about.movie)}[/bold], {found.frames:,} frames{_every(about)}, tracked in {run.seconds:.1f} s"
    )
    console.print("\n[bold]Can it be trusted?[/bold]")
    grid, said = _grid(), set[str]()
    for promise in findings.promises(about):
        colour = VERDICT_COLOURS[promise.verdict]
        lines = [
            f"[{colour}]{promise.verdict}[/{colour}]" + ("" if promise.verdict in said else f": {promise.meaning}")
        ]
        said.add(promise.verdict)
        if promise.about == "links":
            lines.append(findings.wrong_links(found))
        grid.add_row(promise.about, "\n".join([*lines, f"[dim]{escape(promise.reason)}[/dim]"]))
    console.print(grid)
    console.print("\n[bold]What is there?[/bold]")
    grid = _grid()
    for name, told in findings.what_is_there(found).items():
        grid.add_row("left out" if name == "missing" else name, escape(told))
    console.print(grid)


def _grid() -> Any:
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, min_width=9)
    table.add_column(overflow="fold")
    return table


def _every(about: RunInfo) -> str:
    from dunno.runs.numbers import ordinal

    return f" (every {ordinal(about.step)})" if about.step > 1 else ""


def _say_doubts(console: Console, run: Run) -> None:
    """The least certain links, a row for each doubt."""
    from dunno.runs import findings
    from dunno.runs.numbers import percent

    doubts = run.summary.least_certain[:LISTED_DOUBTS]
    console.print("\n[bold]What to look at first?[/bold] The least certain cells")
    columns = ("frame", "cell", "comes from", "how sure", "or else", "")
    look: dict[str, Any] = {"box": None, "padding": (0, 2, 0, 0), "header_style": "dim"}
    shown = table(None, columns, left=("comes from", "or else", ""), **look)
    for each in doubts:
        across = f" of frame {each.mother_frame}" if each.frame - each.mother_frame > run.about.step else ""
        more = f"[dim]({each.links} links)[/dim]" if each.links > 1 else ""
        row = (str(each.frame), str(each.daughter), f"cell {each.mother}{across}", percent(each.probability))
        shown.add_row(*row, findings.instead(each), more)
    console.print(shown)
    if any(each.probability < each.p_instead for each in doubts):
        console.print(
            "[dim]Some are chosen although something else is more probable: masks and links are chosen together, "
            "so that most of them are right.[/dim]"
        )


def _say_details(console: Console, run: Run) -> None:
    """The fit's parameters and everything else that is counted."""
    from rich.markup import escape

    rows = [(name, escape(value)) for name, value in _details(run)]
    console.print()
    console.print(table(f"{run.about.cost} cost, method {run.about.method}", (), rows, show_header=False))


def _details(run: Run) -> Iterator[tuple[str, str]]:
    from dunno.runs import findings

    found, about = run.summary, run.about
    gate = "none" if about.max_distance is None else f"{about.max_distance:.4g} {about.length_unit}"
    across = f", {found.gap_links:,} across missing masks" if found.gap_links else ""
    confidence = "–" if found.mean_confidence is None else f"{found.mean_confidence:.4f}"
    yield "masks", about.mask_source
    yield "cells", f"{found.cells:,} in all frames"
    yield "links", f"{found.links:,} of {found.candidates:,} candidate edges{across}"
    yield "appearing / disappearing", f"{found.appearing:,} / {found.disappearing:,}"
    yield "max distance", gate + (" (estimated)" if about.max_distance_estimated else "")
    yield "mean confidence", confidence
    yield from _fitted(about)
    if about.skip_tests and found.links:
        yield "imaging", findings.imaging(about.skip_tests[0], found)


def _fitted(about: RunInfo) -> Iterator[tuple[str, str]]:
    """What a fitted model found out about the cells, with 95 % intervals."""
    calibration = about.calibration
    if not calibration or "findings" not in calibration:
        return
    word = "assumed" if calibration["problems"] else "fitted"
    told = (calibration.get("evidence") or {}).get("told")
    if told:
        yield "evidence", told
    for each in calibration["findings"]:
        yield f"{word} {each['name']}", _finding(each, about)


def _finding(finding: dict[str, Any], about: RunInfo) -> str:
    """A number with its interval and its unit."""
    length = about.length_unit + (" per √activity" if about.cost != "distance" else "")
    ends = finding["interval"]
    between = "" if ends is None else f" ({ends[0]:.3g} – {ends[1]:.3g})"
    return f"{finding['value']:.3g}{between} {finding['unit'].replace('length', length)}"


def _say_next(console: Console, run: Run) -> None:
    """Where the files are, and what to do with them: commands that can be copied."""
    from rich.padding import Padding

    folder, beside_it = (shlex.quote(f"{run.folder}{end}") for end in ("", "-measured"))
    console.print("\n[bold]What next?[/bold]")
    commands = (
        (f"dunno report {folder}", "a page with pictures of the doubtful links, and what the verdict rests on"),
        (f"dunno review {folder}", _reviewing(run.about)),
        (f"dunno measure {folder} -o {beside_it}", "cycles, rates and speeds, with intervals"),
        (f"napari {folder} --plugin dunno", "images, masks and tracks in napari"),
        (
            f"dunno export {folder} --to trackmate -o {shlex.quote(f'{run.folder}.xml')}",
            "for Fiji: Plugins › Tracking › Load a TrackMate file",
        ),
    )
    width = max(len(command) for command, _ in commands)
    beside = width + 2 + max(len(told) for _, told in commands) + 2 <= console.width
    for command, told in commands:
        say(f"  {command:<{width}}  {told}" if beside else f"  {command}")
        if not beside:
            console.print(Padding(told, (0, 0, 0, 6)))
    files = ", ".join(sorted(path.name for path in run.folder.glob("*.csv")) + sorted(_folders(run)))
    say(f"\nwritten to {run.folder}: {files}")
    say("--explain says what the words mean, --verbose tells more")


def _reviewing(about: RunInfo) -> str:
    """What a review is good for."""
    if about.verdict == "supported":
        return "decide them in your browser, the most useful question first"
    return "decide them in your browser; questions at random tell how many links are wrong"


def _folders(run: Run) -> Iterator[str]:
    """What a person opens; the rest is dunno's own."""
    return (name for name in ("tracks.geff", "masks", "ctc", "run.json") if (run.folder / name).exists())
