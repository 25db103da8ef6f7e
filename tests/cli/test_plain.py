"""Plain command lines are read as typer reads them."""

import inspect
from functools import wraps
from pathlib import Path
from typing import Any

import pytest
import typer

from dunno.cli import COMMANDS, find_command, run
from dunno.cli.options import for_typer
from dunno.cli.plain import _Parameter, _parameters, plain_arguments

PLAIN = [name for name in COMMANDS if not isinstance(find_command(name), typer.Typer)]
WORDS = {str: "some words", Path: "a/b c.tif", int: "12", float: "1.5e-3"}


def by_typer(name: str, arguments: list[str]) -> dict[str, Any]:
    """What typer would call a command with."""
    seen: dict[str, Any] = {}
    command = for_typer(find_command(name))

    @wraps(command)
    def watch(**given: Any) -> None:
        seen.update(given)

    app = typer.Typer()
    app.command()(watch)
    app(arguments, standalone_mode=False)
    return seen


def words(parameter: _Parameter) -> list[str]:
    """One way to give a parameter."""
    value = [] if parameter.kind is bool else [WORDS[parameter.kind]]
    return [*parameter.names[:1], *value]


def same(found: dict[str, Any] | None, expected: dict[str, Any]) -> bool:
    """Whether both call a command alike; typer gives an empty list where nothing is given."""
    return found is not None and {k: v or None for k, v in found.items()} == {k: v or None for k, v in expected.items()}


@pytest.mark.parametrize("name", PLAIN)
def test_every_parameter_of_every_command_is_read_as_typer_reads_it(name: str) -> None:
    command = find_command(name)
    parameters = _parameters(command)
    required = [each for each in parameters if each.default is inspect.Parameter.empty]
    for parameter in (each for each in parameters if each.is_plain):
        line = [word for each in required if each is not parameter for word in words(each)] + words(parameter)
        assert same(plain_arguments(command, line), by_typer(name, line)), line


@pytest.mark.parametrize(
    "twice", [["--masks", "a", "--masks", "b"], ["--masks=a", "--masks", "b"], ["-o", "a", "--output", "b"]]
)
def test_an_option_with_one_value_is_refused_twice(twice: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["track", "movie", *twice]) == 2
    name = twice[-2]
    assert capsys.readouterr().err == f"dunno: {name} is given 2 times; it has one value, so give it once\n"


def test_several_movies_and_options_between_them() -> None:
    line = ["one", "--seed", "3", "two", "-o", "out", "--members", "a", "three", "--members", "b", "--quiet"]
    found = plain_arguments(find_command("track"), line)
    assert same(found, by_typer("track", line))
    assert found is not None
    assert found["more"] == [Path("two"), Path("three")]


@pytest.mark.parametrize(
    "line",
    [
        ["one", "-o", "out", "--help"],
        ["one", "-o", "out", "--sampls", "3"],
        ["one", "-o", "out", "--samples", "many"],
        ["one", "-o", "out", "--samples", "3", "--samples", "4"],
        ["one", "-o", "out", "--divide-cost", "-1"],
        ["one", "-o", "out", "--seed=3"],
        ["one", "-o"],
        ["one"],
        ["-o", "out"],
        ["--", "one", "-o", "out"],
    ],
)
def test_what_is_unusual_is_left_to_typer(line: list[str]) -> None:
    assert plain_arguments(find_command("track"), line) is None


def test_exit_codes_are_those_of_the_command(tmp_path: Path) -> None:
    assert run(["track", f"{tmp_path}/nowhere", "-o", f"{tmp_path}/out"]) == 2
    assert run(["list", "methods"]) == 0
