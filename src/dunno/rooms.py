"""Rooms: packages in which each module holds one cost, one method, one reader and so on.

A room is read from its files, so that adding a file adds a choice. A module is imported only when it is used; the class
it offers is the one that carries a `name`.
"""

import importlib
import inspect
import pkgutil
from functools import cache
from types import ModuleType
from typing import Any, TypeVar

from dunno.errors import InputError

Choice = TypeVar("Choice")


def members(room: str) -> dict[str, type]:
    """Map the names in a room (`"costs"`, `"io.readers"`, …) to its classes, in the order of the files."""
    package = importlib.import_module(f"dunno.{room}")
    modules = sorted(info.name for info in pkgutil.iter_modules(package.__path__) if not info.name.startswith("_"))
    classes = [_offered(importlib.import_module(f"dunno.{room}.{module}")) for module in modules]
    return {offered.name: offered for offered in classes}


def find(room: str, name: str) -> Any:
    """Find a class by its name in a room, or a user's own by `package.module:Class`."""
    if ":" in name:
        return _import(name, room)
    if name.isidentifier() and not name.startswith("_") and (offered := _in_file_of_that_name(room, name)) is not None:
        return offered
    known = members(room)
    for candidate, offered in known.items():
        if candidate.lower() == name.lower():
            return offered
    kind = room.split(".")[-1].rstrip("s")
    raise InputError(f"there is no {kind} {name!r}; there are {', '.join(known)}, and your own as package.module:Class")


def _in_file_of_that_name(room: str, name: str) -> Any:
    """What the module of a name offers, so that the others need not be imported; `None` where there is no such module."""
    path = f"dunno.{room}.{name}"
    try:
        module = importlib.import_module(path)
    except ModuleNotFoundError as error:
        if error.name == path:
            return None
        raise
    offered = _offered(module)
    return offered if offered.name == name else None


def made(room: str, given: Any, **parameters: Any) -> Any:
    """What a name in a room stands for, or what was given instead; a class is made with its parameters."""
    offered = find(room, given) if isinstance(given, str) else given
    if not isinstance(offered, type):
        return offered
    try:
        return offered(**parameters)
    except TypeError as error:
        how = f"with {', '.join(parameters)}" if parameters else "without arguments"
        raise InputError(f"{offered.__name__} cannot be made {how} ({error}); make it in Python") from None


def name_of(choice: Any) -> str:
    """What to call a choice: its `name`, else its function's or class's name."""
    return str(getattr(choice, "name", None) or getattr(choice, "__name__", None) or type(choice).__name__)


def parameters_of(choice: Any) -> dict[str, Any]:
    """A choice's numbers and words, by name."""
    values = getattr(choice, "__dict__", {})
    return {key: value for key, value in values.items() if isinstance(value, str | int | float | bool | type(None))}


def adapted(interface: type[Choice], room: str, given: Any, **parameters: Any) -> Choice:
    """What a name in a room stands for, or what was given instead, with all that may be asked of it.

    What does not derive from the interface is taken into an object of it, in place of the defaults; `_given` is what it was.
    """
    choice = made(room, given, **parameters)
    if isinstance(choice, interface):
        return choice
    adapter, names = interface(), [name for name in vars(interface) if not name.startswith("_")]
    offered = {name: getattr(choice, name) for name in names if getattr(choice, name, None) is not None}
    vars(adapter).update(offered, name=name_of(choice), _given=choice)
    return adapter


def summary(offered: type) -> str:
    """The first line of a class's docstring."""
    return (inspect.getdoc(offered) or "").split("\n")[0]


@cache
def _offered(module: ModuleType) -> Any:
    own = [
        value
        for value in vars(module).values()
        if inspect.isclass(value)
        and value.__module__ == module.__name__
        and isinstance(getattr(value, "name", None), str)
    ]
    if len(own) != 1:
        raise TypeError(f"{module.__name__} should offer one class with a name; it has {len(own)}")
    return own[0]


def _import(path: str, room: str) -> Any:
    module_name, _, attribute = path.partition(":")
    try:
        return getattr(importlib.import_module(module_name), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(
            f"cannot load {path!r} for {room}: {error}; expected package.module:Class, importable from here "
            "(is the folder on PYTHONPATH?)"
        ) from None
