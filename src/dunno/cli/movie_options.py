"""The options that say which movie and how to read it, shared by all commands that take one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from dunno.errors import InputError

if TYPE_CHECKING:
    from dunno.types import Movie


@dataclass(frozen=True)
class Opening:
    """What to read; each field is an option."""

    movie: Annotated[
        Path,
        Argument(
            help="Masks over time: a CTC sequence (X/01), a folder, a .tif, .npy, .h5 or .zarr, or a table of points."
        ),
    ]
    masks: Annotated[Path | None, Option(help="Path to the masks (default: found in or beside MOVIE).")] = None
    images: Annotated[Path | None, Option(help="Path to the images (default: found beside the masks).")] = None
    axes: Annotated[str | None, Option(help="What the axes of the file are, such as TZYX or TCYX.")] = None
    channel: Annotated[int | None, Option(help="Which channel to look at, from 0, where there are several.")] = None
    frames: Annotated[str | None, Option(metavar="A:B", help="Only frames A up to, but not including, B.")] = None
    region: Annotated[
        str | None, Option(metavar="Y0:Y1,X0:X1", help="Only the masks in this part of the field, in pixels.")
    ] = None
    label_components: Annotated[
        bool, Option("--label-components", help="Make every connected piece of a (binary) mask a cell.")
    ] = False
    every: Annotated[int, Option(help="Take every n-th frame.")] = 1
    scale: Annotated[str | None, Option(help="Pixel size Z,Y,X or Y,X in µm; read from the file if it says.")] = None
    interval: Annotated[float | None, Option(help="Minutes between frames.")] = None
    times: Annotated[
        Path | None,
        Option(help="A file that says when each frame was taken, in minutes, a line each: for unequal steps."),
    ] = None

    shifts: Annotated[
        Path | None,
        Option(
            help="A table with the shift that puts each frame on the first one, in pixels, as registration writes it."
        ),
    ] = None

    def open_movie(self) -> Movie:
        """Read the movie at the chosen step."""
        from dunno.io import read

        movie: Movie = read(self.movie, **self.reading())
        return movie.every(self.every)

    def reading(self) -> dict[str, Any]:
        """What `dunno.read` is told."""
        from dunno.io.masking import parse_region

        return {
            "masks": self.masks,
            "scale": parse_scale(self.scale),
            "interval": self.interval,
            "times": self.times,
            "shifts": self.shifts,
            "images": self.images,
            "axes": self.axes,
            "channel": self.channel,
            "label_components": self.label_components,
            "frames": parse_frames(self.frames),
            "region": None if self.region is None else parse_region(self.region),
        }


def parse_frames(text: str | None) -> tuple[int | None, int | None] | None:
    """Read `10:50`, `10:` or `:50`."""
    if text is None:
        return None
    first, colon, end = text.partition(":")
    if not colon or not all(part.strip().isdigit() or not part.strip() for part in (first, end)):
        raise InputError(f"--frames {text}: expected A:B, such as 10:50 for frames 10 to 49")
    return (int(first) if first.strip() else None, int(end) if end.strip() else None)


def parse_scale(text: str | None) -> tuple[float, ...] | float | None:
    """Read `0.5,0.2,0.2`, or one number for all axes."""
    if text is None:
        return None
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"--scale {text}: expected numbers separated by commas, such as 2.0,0.5,0.5") from None
    return values[0] if len(values) == 1 else values


def with_options(
    command: Callable[..., None], kind: type[Opening], *, movie_may_be_left_out: bool = False
) -> Callable[..., None]:
    """Give a command the options of a kind; it gets them as its first argument, whose movie may then be `None`."""
    shared = inspect.signature(kind, eval_str=True).parameters
    offered = [*shared.values(), *list(inspect.signature(command, eval_str=True).parameters.values())[1:]]
    if movie_may_be_left_out:
        offered = [p.replace(default=None) if p.name == "movie" else p for p in offered]

    def call(**given: Any) -> None:
        choices = kind(**{name: given.pop(name) for name in shared})
        command(choices, **given)

    call.__doc__ = command.__doc__
    required_first = sorted(offered, key=lambda p: p.default is not p.empty)
    call.__signature__ = inspect.Signature([p.replace(kind=p.KEYWORD_ONLY) for p in required_first])  # type: ignore[attr-defined]
    call.__annotations__ = {p.name: p.annotation for p in offered}
    return call
