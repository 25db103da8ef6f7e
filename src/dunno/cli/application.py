"""The command line as typer knows it: for help, and for what is wrong with arguments."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from dunno.cli import find_command
from dunno.cli.options import for_typer
from dunno.errors import InputError

# Typer brings a copy of click of its own; this is its base of all complaints about arguments.
UsageProblem: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")


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
            app.command(name)(for_typer(command))
    return app


def apply(arguments: list[str], *names: str) -> Any:
    """Let typer read the arguments, with some of the commands."""
    try:
        return application(*names)(arguments, standalone_mode=False)
    except UsageProblem as error:
        raise InputError(error.format_message()) from None
    except typer.Abort:
        raise KeyboardInterrupt from None


def _show_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"dunno {version('dunno')}")
        raise typer.Exit()


def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    pass
