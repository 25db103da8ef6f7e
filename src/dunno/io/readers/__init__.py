"""Readers: one form of movie per file.

A file holds one class with a `name`, a `form` (what it reads, in words), an `order` (the lowest is asked first) and

- `accepts(path) -> bool`: whether this is its form, by the names of files alone: none is opened,
- `read(path, options) -> Movie`.

It may also have `frames(path)`, if its files can be the masks or the images of a movie whose other half lies elsewhere, and
`join(path, masks, options)`, if it has its own way of putting the two together. `dunno.read` asks it as soon as the file
is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast, runtime_checkable

from dunno import rooms
from dunno.types import Frames, Ints, Movie

Scale = Sequence[float] | float | None


@dataclass(frozen=True)
class Options:
    """What the user says about a movie; it overrules what the files say.

    Attributes:
        scale: Size of a pixel along each axis.
        interval: Minutes between frames.
    """

    scale: Scale = None
    interval: float | None = None

    def movie(
        self,
        masks: Frames,
        images: Frames | None = None,
        *,
        name: str,
        mask_source: str,
        frames: Ints | None = None,
        scale: Scale = None,
        interval: float | None = None,
    ) -> Movie:
        """The movie with the user's scale and interval, or those of its file (`scale`, `interval`) where none are given."""
        scale = scale if self.scale is None else self.scale
        interval = interval if self.interval is None else self.interval
        return Movie(masks, images, scale, interval, name=name, mask_source=mask_source, frames=frames)


class Reader(Protocol):
    """What every reader can do."""

    name: str
    form: str
    order: int

    def accepts(self, path: Path) -> bool:
        """Whether this is its form; cheap, by the names of files alone."""
        ...

    def read(self, path: Path, options: Options) -> Movie:
        """Read a movie; its pixels only when they are asked for."""
        ...


@runtime_checkable
class HasFrames(Reader, Protocol):
    """A reader whose files can be one half of a movie: its masks, or its images."""

    def frames(self, path: Path) -> Frames:
        """The frames, whatever they show."""
        ...


@runtime_checkable
class JoinsMasks(Protocol):
    """A reader that knows how its movies go together with masks that lie elsewhere."""

    def join(self, path: Path, masks: Path, options: Options) -> Movie | None:
        """The movie with these masks; `None` where they are not of the kind that it knows."""
        ...


def readers() -> list[Reader]:
    """All readers, in the order in which they are asked."""
    offered = rooms.members("io.readers").values()
    return sorted((cast(Reader, each()) for each in offered), key=lambda each: each.order)
