"""Somebody else's links, read and matched to the movie's detections: one source per file.

A file holds one class with a `name`, a `form` (what it reads, in words), an `order` (the lowest is asked first) and

- `accepts(path) -> bool`: whether this is its form; cheap, by names or a first line,
- `read(path, movie) -> GivenLinks`: the links as labels of the movie's detections.

`dunno track --links` takes it as soon as the file is there. A link joins detections of a frame and a later one, up to
ten frames skipped; whatever cannot be told that way (merges, spots beside every cell) is listed in `Links.unmatched`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, cast

from dunno import rooms
from dunno.errors import InputError
from dunno.io.joining import join
from dunno.types import Movie
from dunno.types.links import GivenLinks, Links

__all__ = ["GivenLinks", "LinkSource", "Links", "read_links", "sources"]


class LinkSource(Protocol):
    """What every source of links can do."""

    name: str
    form: str
    order: int

    def accepts(self, path: Path) -> bool:
        """Whether this is its form."""
        ...

    def read(self, path: Path, movie: Movie) -> GivenLinks:
        """Read the links; frames of the movie are read one at a time."""
        ...


def sources() -> list[LinkSource]:
    """All sources, in the order in which they are asked."""
    offered = rooms.members("io.links").values()
    return sorted((cast(LinkSource, each()) for each in offered), key=lambda each: each.order)


def read_links(path: str | Path, movie: Movie) -> Links:
    """Read links and match them to a movie's detections.

    Args:
        path: A `.csv` with columns mother_frame, mother, frame, daughter (and selected), or with a row per track and frame; a
            napari array of tracks (`.npy`); a folder with `res_track.txt` and masks; a `.geff`; or a TrackMate `.xml`.
        movie: The movie they belong to.
    """
    path = Path(path)
    forms = [source.form for source in sources()]
    known = f"{', '.join(forms[:-1])} or {forms[-1]}"
    if not path.exists():
        raise InputError(f"{path}: there is no such file or folder; --links takes a {known}")
    source = next((source for source in sources() if source.accepts(path)), None)
    if source is None:
        raise InputError(f"{path}: is no {known}")
    return join(source.read(path, movie), movie, str(path))
