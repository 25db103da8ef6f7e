"""Writers: one format of results per file.

A file holds one class with a `name`, `needs_masks` (whether it cannot do without the movie), made as `Format(path, about,
movie)` and then told the tracking block by block (`io.writing.Writer`): `write(numbered)`, `finish(tracks)`, `close()`.
`path` is a file or folder that does not exist yet. It can be written by its name as soon as the file is there.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol, cast

from dunno import rooms
from dunno.io.writing import Writer, drain, is_output, leave_marker, whole
from dunno.lineage.tracks import TrackRow
from dunno.types import Block, Movie, RunInfo


class Format(Writer, Protocol):
    """What every class in the room can do."""

    name: str
    needs_masks: bool

    def __init__(self, path: Path, about: RunInfo, movie: Movie | None = None) -> None: ...


def find_format(name: str) -> type[Format]:
    """Find a format by its name, or a user's own by `package.module:Class`."""
    return cast(type[Format], rooms.find("io.writers", name))


def export(
    name: str,
    path: str | Path,
    blocks: Iterable[Block],
    about: RunInfo,
    movie: Movie | None = None,
    *,
    overwrite: bool = False,
) -> list[TrackRow]:
    """Write a stream of blocks in one format, whole or not at all; returns the tracks."""
    form = find_format(name)
    with whole(path, overwrite) as partial:
        tracks = drain(blocks, [form(partial, about, movie)])
        if partial.is_dir() and not is_output(partial):
            leave_marker(partial, about.version)
    return tracks
