"""The command line: a module per command, which imports what it needs when it runs; `--help` answers at once."""

from __future__ import annotations

import gc
import os
import signal
import sys
import warnings
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperOption

from dunno.cli.console import complain, hush, note
from dunno.errors import DunnoError, DunnoWarning, InputError, too_little

# Typer brings a copy of click of its own; this is its base of all complaints about arguments.
UsageProblem: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")

STOPPED = 130
"""The exit code after Ctrl-C, as shells have it."""

COMMANDS = {
    "demo": "demo:demo",
    "track": "track:command",
    "info": "info:command",
    "cells": "cells:command",
    "calibrate": "calibrate:command",
    "evaluate": "evaluate:evaluate",
    "report": "report:report",
    "measure": "measure:measure",
    "export": "export:export",
    "repair": "repair:repair",
    "trackmate": "trackmate:command",
    "review": "review:review",
    "benchmark": "benchmark:benchmark",
    "simulate": "simulate:simulate",
    "list": "listing:list_room",
    "doctor": "doctor:doctor",
    "transformer": "transformer:app",
}
"""Where each command is: a module of this room, and its function, or an application with commands of its own."""

OBJECTS_BETWEEN_COLLECTIONS = 200_000
"""Python looks for cycles after so many new objects, not 700: what a command keeps is arrays, and imports make none."""


def find_command(name: str) -> Any:
    """A command by its name."""
    module, function = COMMANDS[name].split(":")
    return getattr(import_module(f"dunno.cli.{module}"), function)


def main() -> None:
    """Run a command; 0 done, 2 the input is wrong (one line says how), 1 a bug, 130 stopped by Ctrl-C."""
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    # dunno has workers of its own; those of BLAS cost .04 s to start
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
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
            outcome = _dispatch(arguments)
        except DunnoError as error:
            complain(str(error))
            return 2
        except MemoryError as error:
            complain(too_little(error))
            return 2
        except KeyboardInterrupt:
            outcome = STOPPED
        if outcome == STOPPED:
            complain("stopped; nothing was left half-written")
        return outcome if isinstance(outcome, int) else 0


def _dispatch(arguments: list[str]) -> Any:
    """Let typer read the arguments, with the command that is asked for or with all."""
    name = arguments[0] if arguments else "--help"
    try:
        return application(*([name] if name in COMMANDS else COMMANDS))([name, *arguments[1:]], standalone_mode=False)
    except UsageProblem as error:
        raise InputError(error.format_message()) from None
    except typer.Abort:
        raise KeyboardInterrupt from None


def application(*names: str) -> typer.Typer:
    """The command line with some of the commands; each costs time to describe."""
    app = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        help="Cell tracking that knows what it does not know: every link gets a probability.",
    )
    app.callback()(_root)
    for name in names:
        command = find_command(name)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(name, cls=OnceEach)(command)
    return app


class OnceEach(TyperCommand):
    """Refuses an option that is given twice and has one value: typer takes the last and says nothing."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Look, then read."""
        for option in (each for each in self.params if isinstance(each, TyperOption)):
            given = [name for name in (text.partition("=")[0] for text in args) if name in option.opts]
            if len(given) > 1 and not (option.is_flag or option.multiple):
                raise InputError(f"{given[-1]} is given {len(given)} times; it has one value, so give it once")
        return super().parse_args(ctx, args)


def _show_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"dunno {version('dunno')}")
        raise typer.Exit()


def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


def _show_warning(message: Warning | str, category: type[Warning], *others: Any, **more: Any) -> None:
    if issubclass(category, DunnoWarning):
        note(str(message))
