"""How commands describe what they take, and end: typer reads it, but is imported only where something must be explained."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, get_args

if TYPE_CHECKING:
    from typing import TypeAlias

    Command: TypeAlias = Callable[..., None]


class Argument:
    """What is given by its place.

    Args:
        help: What it is, in a line.
        metavar: What stands for it in the help.
    """

    def __init__(self, *, help: str, metavar: str | None = None) -> None:
        self.names: tuple[str, ...] = ()
        self.shown = {"help": help, "metavar": metavar}


class Option:
    """What is given by its name.

    Args:
        names: `--name` and `-n`; by default that of the parameter. A flag has a name, and may have the one that takes it back,
            `--name/--no-name`.
        help: What it is, in a line.
        metavar: What stands for its value in the help.
        show_default: Whether the help says the default.
    """

    def __init__(self, *names: str, help: str, metavar: str | None = None, show_default: bool = True) -> None:
        self.names = names
        self.shown = {"help": help, "metavar": metavar, "show_default": show_default}


class Ended(Exception):
    """Ends a command with an exit code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def for_typer(command: Command) -> Command:
    """A command whose options are described in typer's words."""
    import typer

    def described(parameter: inspect.Parameter) -> inspect.Parameter:
        kind, info = get_args(parameter.annotation)
        make: Any = typer.Argument if isinstance(info, Argument) else typer.Option
        return parameter.replace(annotation=Annotated[kind, make(*info.names, **info.shown)])

    signature = inspect.signature(command, eval_str=True)
    parameters = [described(each) for each in signature.parameters.values()]

    @wraps(command)
    def call(**given: Any) -> None:
        command(**given)

    call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {each.name: each.annotation for each in parameters}
    return call
