"""`dunno list`: what there is to choose from."""

from __future__ import annotations

from typing import Annotated

import typer

from dunno.errors import InputError

ROOMS = ("costs", "methods", "perturbations")


def list_room(room: Annotated[str, typer.Argument(help=" or ".join(ROOMS))]) -> None:
    """List the costs, methods or perturbations."""
    from dunno.rooms import members, summary

    if room not in ROOMS:
        raise InputError(f"there is nothing called {room!r} to list; expected {' or '.join(ROOMS)}")
    offered = members(room)
    width = max(map(len, offered))
    for name, member in offered.items():
        typer.echo(f"{name:{width}}  {summary(member)}")
