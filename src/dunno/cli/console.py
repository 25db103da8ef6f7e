"""What the command line says, and how: results to stdout, everything else to stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from dunno.run import Run

Item = TypeVar("Item")
SECONDS_BETWEEN_LINES = 5.0


def complain(message: str) -> None:
    """Say in one line what is wrong."""
    print(f"dunno: {' '.join(message.split())}", file=sys.stderr)  # noqa: T201


def note(message: str) -> None:
    """Say something worth knowing."""
    print(f"note: {message}", file=sys.stderr)  # noqa: T201


def show_progress(what: str, quiet: bool) -> Callable[[Iterator[Item], int], Iterator[Item]]:
    """Return a wrapper that shows how far a stream has come: a bar, or plain lines where there is no terminal."""

    def silent(items: Iterator[Item], total: int) -> Iterator[Item]:
        return items

    def bar(items: Iterator[Item], total: int) -> Iterator[Item]:
        from rich.console import Console
        from rich.progress import track

        return iter(track(items, what, total, console=Console(stderr=True), transient=True))

    def lines(items: Iterator[Item], total: int) -> Iterator[Item]:
        last = time.monotonic()
        for done, item in enumerate(items, 1):
            if time.monotonic() - last > SECONDS_BETWEEN_LINES:
                last = time.monotonic()
                print(f"{what}: {done} of {total}", file=sys.stderr, flush=True)  # noqa: T201
            yield item

    if quiet:
        return silent
    return bar if sys.stderr.isatty() else lines


def show_run(run: Run) -> None:
    """Print what a run found: a summary, and the ten least certain links."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    summary, about = run.summary, run.about
    console = Console(highlight=False)
    confidence = "–" if summary.mean_confidence is None else f"{summary.mean_confidence:.4f}"
    gate = "none" if about["max_distance"] is None else f"{about['max_distance']:.4g}"
    gate += " (estimated)" if about["max_distance_estimated"] else ""
    table = Table(
        title=f"{about['movie']}: {about['cost']} cost, method {about['method']}",
        show_header=False,
        title_justify="left",
    )
    for name, value in (
        ("masks", about["mask_source"]),
        ("frames", f"{summary.frames:,}" + (f" (every {about['step']})" if about["step"] > 1 else "")),
        ("cells", f"{summary.cells:,}"),
        ("links", f"{summary.links:,} of {summary.candidates:,} candidate edges"),
        ("tracks", f"{summary.tracks:,}"),
        ("divisions", f"{summary.divisions:,}"),
        ("appearing / disappearing", f"{summary.appearing:,} / {summary.disappearing:,}"),
        ("max distance", gate),
        ("mean confidence", f"{confidence}, {'calibrated' if about['calibrated'] else 'not calibrated'}"),
        ("expected wrong links", f"{summary.expected_wrong_links:,.1f}"),
        *_fitted_rows(about),
        ("time", f"{run.seconds:.1f} s"),
    ):
        table.add_row(name, escape(value))
    console.print(table)
    if summary.least_certain:
        console.print(_least_certain_table(run))
    console.print(
        f"written to [bold]{escape(str(run.folder))}[/bold]: {', '.join(sorted(path.name for path in run.folder.iterdir()))}"
    )


def _fitted_rows(about: dict[str, Any]) -> list[tuple[str, str]]:
    """What a fitted motion model found out about the cells, with 95 % intervals, and what speaks against it."""
    calibration = about["calibration"]
    if not calibration or "parameters" not in calibration:
        return []
    found, intervals = calibration["parameters"], calibration["intervals"]

    def told(name: str, change: Callable[[float], float], unit: str) -> str:
        low, high = (change(end) for end in intervals.get(name, (found[name],) * 2))
        between = f" ({low:.3g} – {high:.3g})" if name in intervals else ""
        return f"{change(found[name]):.3g}{between}{unit}"

    length = "" if about["scale"] else " px"
    if about["cost"] != "distance":
        length += " per √activity"
    word = "fitted" if calibration["fitted"] == "self" and calibration["trusted"] else "assumed"
    rows = [
        (f"{word} motion per axis", told("motion_scale", lambda scale: scale**0.5, f"{length} per step")),
        (f"{word} divisions", told("p_divide", lambda share: 100 * share, " % of cells per step")),
        (f"{word} losses", told("p_lost", lambda share: 100 * share, " % of cells per step")),
    ]
    return rows + [("not to be trusted", problem) for problem in calibration["problems"]]


def _least_certain_table(run: Run) -> object:
    from rich.table import Table

    state = "" if run.about["calibrated"] else " (probabilities not calibrated)"
    table = Table(title=f"least certain links{state}", title_justify="left")
    for column in ("frame", "daughter", "mother's frame", "mother", "probability"):
        table.add_column(column, justify="right")
    for link in run.summary.least_certain:
        numbers = (link.frame, link.daughter, link.mother_frame, link.mother)
        table.add_row(*map(str, numbers), f"{link.probability:.4f}" if link.probability >= 1e-4 else "< 0.0001")
    return table
