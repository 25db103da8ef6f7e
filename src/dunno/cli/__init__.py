"""The command line: a module per command, which imports what it needs when it runs; `--help` answers at once."""

from __future__ import annotations

import gc
import os
import signal
import sys
import warnings
from importlib import import_module
from inspect import isfunction
from typing import Any

from dunno.cli.console import complain, hush, note
from dunno.cli.options import Ended
from dunno.cli.plain import plain_arguments, refuse_twice
from dunno.errors import DunnoError, DunnoWarning, too_little

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
    """Call the command that is asked for."""
    name, rest = arguments[0] if arguments else "--help", arguments[1:]
    command = find_command(name) if name in COMMANDS else None
    given = plain_arguments(command, rest) if isfunction(command) else None
    try:
        if isfunction(command) and given is not None:
            return command(**given)
        if isfunction(command):
            refuse_twice(command, rest)
        from dunno.cli.application import apply

        return apply([name, *rest], *(COMMANDS if command is None else [name]))
    except Ended as end:
        return end.code


def _show_warning(message: Warning | str, category: type[Warning], *others: Any, **more: Any) -> None:
    if issubclass(category, DunnoWarning):
        note(str(message))
