"""The reference of commands, made from the command line itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def commands() -> Iterator[tuple[str, Any]]:
    """Every command by name, `transformer train` and its like included."""
    import typer

    from dunno.cli import COMMANDS, application

    yield from _below("dunno", typer.main.get_command(application(*COMMANDS)))


def _below(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    below = getattr(command, "commands", None)
    if below is None:
        yield name, command
        return
    for part, inner in below.items():
        yield from _below(f"{name} {part}", inner)


def page() -> str:
    """The whole page, as Markdown."""
    head = "# Commands\n\nMade from the program itself; `dunno COMMAND --help` prints the same.\n"
    return head + "".join(_section(name, command) for name, command in commands())


def _section(name: str, command: Any) -> str:
    rows = [_row(parameter) for parameter in command.params if parameter.name != "help"]
    usage = " ".join([name, *(_written(p) for p in command.params if p.param_type_name == "argument"), "[options]"])
    table = "\n".join(["| | what it does | default |", "|---|---|---|", *rows])
    return f"\n## {name}\n\n{_plain(command.help)}\n\n```text\n{usage}\n```\n\n{table}\n"


def _row(parameter: Any) -> str:
    given = parameter.default
    shown = "" if given in (None, False, (), [], "") or callable(given) or parameter.required else f"`{given}`"
    shown = "required" if parameter.required else shown
    return f"| `{_written(parameter)}` | {_plain(getattr(parameter, 'help', ''))} | {shown} |"


def _written(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        name = str(parameter.metavar or parameter.name).upper().strip("{}[]")
        return name if parameter.required else f"[{name}]"
    return ", ".join([*parameter.opts, *parameter.secondary_opts])


def _plain(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")
