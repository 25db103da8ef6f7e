"""Readers: one form of movie per file.

A file holds one class with a `name`, a `form` (what it reads, in words), an `order` (the lowest is asked first) and

- `accepts(path) -> bool`: whether this is its form, by the names of files alone: none is opened,
- `read(path, options) -> Movie`.

It may also have an `example`, the command that docs/input.md shows; `frames(path, options)`, if its files can be the masks or the
images of a movie whose other half lies elsewhere; and `join(path, masks, options)`, if it has its own way of putting the two
together. `dunno.read` asks it as soon as the file is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, cast, runtime_checkable

from dunno import rooms
from dunno.io.masking import Components, Region, Within
from dunno.io.spacing import Spacing, in_words
from dunno.types import Frames, Ints, Movie
from dunno.types.movie import frame_shape

Scale = Sequence[float] | float | None


@dataclass(frozen=True)
class ReadingOptions:
    """What the user says about a movie; it overrules what the files say."""

    scale: Scale = None  # Size of a pixel along each axis, in micrometres
    interval: float | None = None  # Minutes between frames
    axes: str | None = None  # What the axes of the array are, such as `TZYX`
    channel: int | None = None  # Which channel to look at, where there are several
    label_components: bool = False  # Whether every connected piece of a mask becomes a cell of its own
    region: Region | None = None  # The box outside which masks are not looked at
    shows_images: bool = False  # Whether the frames in question are images, not masks

    def for_images(self) -> ReadingOptions:
        """The same, for the images behind the masks."""
        return replace(self, shows_images=True)

    def movie(
        self,
        masks: Frames,
        images: Frames | None = None,
        *,
        name: str,
        mask_source: str,
        frames: Ints | None = None,
        spacing: Spacing | None = None,
        notes: Sequence[str] = (),
    ) -> Movie:
        """The movie with the user's scale and interval, or those of its file (`spacing`) where none are given."""
        n_dimensions = len(frame_shape(masks))
        spacing = spacing or Spacing()
        own = spacing.scale(n_dimensions) if self.scale is None else None
        interval = spacing.interval if self.interval is None else self.interval
        movie = Movie(
            self.masked(masks),
            images,
            own if self.scale is None else self.scale,
            interval,
            name=name,
            mask_source=mask_source,
            frames=frames,
            notes=(*notes, *self._spacing_notes(spacing, own, n_dimensions)),
        )
        return movie

    def masked(self, masks: Frames) -> Frames:
        """The masks as they are to be looked at."""
        made: Any = Components(masks) if self.label_components else masks
        return made if self.region is None else Within(made, self.region)

    def _spacing_notes(self, spacing: Spacing, own: tuple[float, ...] | None, n_dimensions: int) -> list[str]:
        """What was taken from the file, and what it leaves open."""
        interval = spacing.interval if self.interval is None else None
        notes = []
        if own is not None or interval is not None:
            notes.append(f"{in_words(own or (), interval, own is not None)}, from the file")
        if self.scale is None and own is None and spacing.y is not None and n_dimensions == 3:
            notes.append(
                f"the file says {spacing.y:.4g} µm/pixel but not how far apart the slices are, so lengths are in pixels; "
                f"give --scale Z,{spacing.y:.4g},{spacing.x:.4g}"
            )
        return notes


class Reader(Protocol):
    """What every reader can do."""

    name: str
    form: str
    order: int

    def accepts(self, path: Path) -> bool:
        """Whether this is its form; cheap, by the names of files alone."""
        ...

    def read(self, path: Path, options: ReadingOptions) -> Movie:
        """Read a movie; its pixels only when they are asked for."""
        ...


@runtime_checkable
class HasFrames(Reader, Protocol):
    """A reader whose files can be one half of a movie: its masks, or its images."""

    def frames(self, path: Path, options: ReadingOptions) -> Frames:
        """The frames, whatever they show."""
        ...


@runtime_checkable
class JoinsMasks(Protocol):
    """A reader that knows how its movies go together with masks that lie elsewhere."""

    def join(self, path: Path, masks: Path, options: ReadingOptions) -> Movie | None:
        """The movie with these masks; `None` where they are not of the kind that it knows."""
        ...


def readers() -> list[Reader]:
    """All readers, in the order in which they are asked."""
    offered = rooms.members("io.readers").values()
    return sorted((cast(Reader, each()) for each in offered), key=lambda each: each.order)
