"""Command lines that need no explanation are read here: typer's first look at a value imports pydantic, which takes .1 s.

Whatever is unusual (a mistake, `--help`, `--name=value`, a number below 0) is left to typer, which explains it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_origin

from dunno.cli.options import Argument
from dunno.errors import InputError

NUMBER_PATTERNS = {int: re.compile(r"\d{1,15}"), float: re.compile(r"\d{1,15}(\.\d{1,15})?(e-?\d{1,2})?")}
"""How numbers are usually written."""


def plain_arguments(command: Callable[..., Any], arguments: Sequence[str]) -> dict[str, Any] | None:
    """What a command is to be called with; `None` where typer must look at its arguments."""
    parameters = _parameters(command)
    values = {each.name: each.default for each in parameters}
    parts = _split(parameters, arguments)
    for parameter, texts in parts or ():
        value = _read(parameter, texts)
        if value is None:
            return None
        values[parameter.name] = value
    complete = parts is not None and inspect.Parameter.empty not in values.values()
    return values if complete else None


class _Parameter:
    """A parameter of a command, as its annotation describes it."""

    def __init__(self, parameter: inspect.Parameter) -> None:
        self.default = parameter.default
        kind, info = get_args(parameter.annotation)
        options = [each for each in get_args(kind) if each is not NoneType] if NoneType in get_args(kind) else [kind]
        self.is_list = get_origin(options[0]) is list
        self.name, self.kind = parameter.name, get_args(options[0])[0] if self.is_list else options[0]
        self.is_argument = isinstance(info, Argument)
        self.names = () if self.is_argument else info.names or ("--" + self.name.replace("_", "-"),)
        is_named = self.kind is not bool or (bool(info.names) and "/" not in "".join(info.names))  # no --no-...
        self.is_plain = is_named and self.kind in (str, Path, int, float, bool)


def _parameters(command: Callable[..., Any]) -> list[_Parameter]:
    return [_Parameter(each) for each in inspect.signature(command, eval_str=True).parameters.values()]


def _split(parameters: list[_Parameter], arguments: Sequence[str]) -> list[tuple[_Parameter, list[str]]] | None:
    """The texts of each parameter that is given; `None` where one is not understood."""
    named = {name: each for each in parameters for name in each.names}
    places = [each for each in parameters if each.is_argument]
    given: dict[str, list[str]] = {}
    texts = iter(arguments)
    for text in texts:
        if text in named:
            each, value = named[text], "" if named[text].kind is bool else next(texts, "-")
        elif places:
            each, value = places[0] if places[0].is_list else places.pop(0), text
        else:
            return None
        if value.startswith("-") or (each.name in given and not each.is_list) or not each.is_plain:
            return None
        given.setdefault(each.name, []).append(value)
    return [(each, given[each.name]) for each in parameters if each.name in given]


def refuse_twice(command: Callable[..., Any], arguments: Sequence[str]) -> None:
    """Refuse an option that is given twice and has one value: typer takes the last and says nothing."""
    for each in _parameters(command):
        given = [text for text in arguments if text.partition("=")[0] in each.names]
        if len(given) > 1 and each.kind is not bool and not each.is_list:
            name = given[-1].partition("=")[0]
            raise InputError(f"{name} is given {len(given)} times; it has one value, so give it once")


def _read(parameter: _Parameter, texts: list[str]) -> Any:
    """The value that texts stand for; `None` where a number is not written as usual."""
    if parameter.kind is bool:
        return True
    if parameter.kind in NUMBER_PATTERNS and not all(NUMBER_PATTERNS[parameter.kind].fullmatch(text) for text in texts):
        return None
    values = [parameter.kind(text) for text in texts]
    return values if parameter.is_list else values[0]
