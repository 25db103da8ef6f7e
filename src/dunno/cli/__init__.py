"""The command line: a module per command, which imports what it needs when it runs; `--help` answers at once."""

from __future__ import annotations

import signal
import sys
import warnings
from typing import Annotated, Any

import typer

from dunno.cli import (
    benchmark,
    calibrate,
    cells,
    demo,
    doctor,
    evaluate,
    export,
    info,
    listing,
    measure,
    report,
    review,
    simulate,
    track,
    transformer,
)
from dunno.cli.console import complain, hush, note
from dunno.errors import DunnoError, DunnoWarning

STOPPED = 130
"""The exit code after Ctrl-C, as shells have it."""

# Typer brings a copy of click of its own; this is its base of all complaints about arguments.
UsageProblem: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Cell tracking that knows what it does not know: every link gets a probability.",
)
app.command("demo")(demo.demo)
app.command("track")(track.command)
app.command("info")(info.command)
app.command("cells")(cells.command)
app.command("calibrate")(calibrate.command)
app.command("evaluate")(evaluate.evaluate)
app.command("report")(report.report)
app.command("measure")(measure.measure)
app.command("export")(export.export)
app.command("review")(review.review)
app.command("benchmark")(benchmark.benchmark)
app.command("simulate")(simulate.simulate)
app.command("list")(listing.list_room)
app.command("doctor")(doctor.doctor)
app.add_typer(transformer.app, name="transformer")


def _show_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"dunno {version('dunno')}")
        raise typer.Exit()


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run a command; 0 done, 2 the input is wrong (one line says how), 1 a bug, 130 stopped by Ctrl-C."""
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _leave)
    sys.exit(run(sys.argv[1:]))


def _leave(number: int, frame: object) -> None:
    """End as on Ctrl-C, so that nothing is left half-written; the exit code is the shell's for that signal."""
    raise SystemExit(128 + number)


def run(arguments: list[str]) -> int:
    """Run a command and return its exit code."""
    hush()
    with warnings.catch_warnings():
        warnings.simplefilter("always", DunnoWarning)
        warnings.showwarning = _show_warning
        try:
            outcome: Any = app(arguments or ["--help"], standalone_mode=False)
        except DunnoError as error:
            complain(str(error))
            return 2
        except UsageProblem as error:
            complain(error.format_message())
            return 2
        except (KeyboardInterrupt, typer.Abort):
            outcome = STOPPED
        if outcome == STOPPED:
            complain("stopped; nothing was left half-written")
        return outcome if isinstance(outcome, int) else 0


def _show_warning(message: Warning | str, category: type[Warning], *others: Any, **more: Any) -> None:
    if issubclass(category, DunnoWarning):
        note(str(message))
