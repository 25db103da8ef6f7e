"""`dunno list`: what there is to choose from."""

from __future__ import annotations

from typing import Annotated

from typer import Argument

from dunno.cli.console import say
from dunno.errors import InputError

ROOMS = {"costs": "costs", "methods": "methods", "perturbations": "perturbations", "writers": "io.writers"}


def list_room(room: Annotated[str, Argument(help=" or ".join(ROOMS))]) -> None:
    """List the costs, methods, perturbations, or the formats that `dunno export` writes."""
    from dunno.rooms import members, summary

    if room not in ROOMS:
        raise InputError(f"there is nothing called {room!r} to list; expected {' or '.join(ROOMS)}")
    offered = members(ROOMS[room])
    width = max(map(len, offered))
    for name, member in offered.items():
        say(f"{name:{width}}  {summary(member)}")
