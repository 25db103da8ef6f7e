"""`dunno review`: look at what the tracker does not know, and decide."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from dunno.cli.console import say

if TYPE_CHECKING:
    from dunno.review import Review


def review(
    output: Annotated[Path, Argument(metavar="OUT", help="A folder that `dunno track` wrote.")],
    export: Annotated[
        Path | None, Option(help="Write GEFF, CTC and CSV with the decisions applied, and leave.")
    ] = None,
    port: Annotated[
        int | None,
        Option(help="Where the page is served; 0 takes any free port (default: where the report's links lead)."),
    ] = None,
    browser: Annotated[bool, Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
    host: Annotated[
        str, Option(help="Listen on another address than this machine's own; others can then connect.")
    ] = "127.0.0.1",
    who: Annotated[str | None, Option(help="Who decides; your user name if not given.")] = None,
    masks: Annotated[Path | None, Option(help="Where the movie's masks are now, if they have moved.")] = None,
    at: Annotated[
        str | None, Option(metavar="FRAME:LABEL", help="Begin with this cell, as the report names it.")
    ] = None,
    overwrite: Annotated[bool, Option("--overwrite", help="Let --export replace an earlier one.")] = False,
    repair: Annotated[
        bool,
        Option("--repair/--no-repair", help="With --export: keep repaired masks, or put all back as they were given."),
    ] = True,
) -> None:
    """Review an output: the most doubtful links first, on a page in your browser; what you decide settles neighbours too."""
    from dunno.cli.console import show_progress
    from dunno.io.writing import check_output
    from dunno.review import Review
    from dunno.review.server import check_installed

    if export is None:
        check_installed()
    else:
        check_output(export, overwrite)
    progress = show_progress("reading", quiet=False)
    with Review.open(output, who=who, masks=masks, read_only=export is not None, progress=progress) as opened:
        if export is None:
            show_page(opened, host, port, browser, None if at is None else _row(opened, at))
        else:
            if not repair:
                opened.without_repairs()
            _export(opened, export, overwrite)


def _row(opened: Review, at: str) -> int:
    """The row of the cell that `--at` names."""
    from dunno.errors import InputError

    frame, _, label = at.partition(":")
    if not (frame.isdecimal() and label.isdecimal()):
        raise InputError(f"--at {at}: expected the frame and the label of a cell, such as 12:5")
    return opened.row_at(int(frame), int(label))


def _export(opened: Review, folder: Path, overwrite: bool) -> None:
    from dunno.cli.console import note, show_progress
    from dunno.review.export import export

    missing = export(opened, folder, overwrite=overwrite, progress=show_progress("writing", quiet=False))
    if missing is not None:
        note(f"no Cell Tracking Challenge result, which needs the masks ({missing}); say where they are with --masks")
    say(
        f"written to {folder}, with {opened.n_answered:,} reviewed daughters; expected wrong links left: "
        f"{opened.table.expected_wrong_links:.1f} of {int(opened.table.linked.sum()):,} (probabilities {opened.about.verdict})"
    )


def show_page(opened: Review, host: str, port: int | None, browser: bool, at: int | None = None) -> None:
    """Serve a review's page until Ctrl-C, and say how it stands then."""
    from dunno.cli.console import note
    from dunno.review.desk import Desk
    from dunno.review.server import LOOPBACK, gate_for, listen, listen_or_elsewhere, serve

    desk = Desk(opened, at=at)
    opening = listen_or_elsewhere(host, opened.port) if port is None else listen(host, port)
    with opening as listening:
        number = int(listening.getsockname()[1])
        gate = gate_for(host, number)
        name = f"[{host}]" if ":" in host else host
        origin = f"http://{name}:{number}/"
        address = f"{origin}?token={gate.token}"
        if host not in LOOPBACK:
            note(f"listening on {host}: whoever gets the address below can review, and the connection is not encrypted")

        with ExitStack() as until_the_end, suppress(KeyboardInterrupt):

            def ready() -> None:
                say(f"the review is at {address} (for one browser)\nleave with Ctrl-C; every decision is kept at once")
                if browser:
                    until_the_end.enter_context(opened_in_browser(f"{origin}?token={gate.another_token()}"))

            serve(desk, listening, gate, ready)
    say(
        f"{opened.n_answered:,} daughters reviewed; expected wrong links: {opened.first_expected:.1f} before, "
        f"{opened.table.expected_wrong_links:.1f} now. Write it out with: dunno review {opened.folder} --export DIR"
    )


@contextmanager
def opened_in_browser(address: str) -> Iterator[Path]:
    """Open an address by a file that leads there and that only its owner can read.

    What a browser is started with can be read by everybody on the machine; what is in the file cannot.
    """
    import webbrowser

    handle, name = tempfile.mkstemp(prefix="dunno-review-", suffix=".html")  # readable by its owner alone
    path = Path(name)
    try:
        with os.fdopen(handle, "w") as file:
            file.write(
                f'<!doctype html><title>dunno review</title><meta http-equiv="refresh" content="0;url={address}">\n'
            )
        webbrowser.open(path.as_uri())
        yield path
    finally:
        path.unlink(missing_ok=True)
