"""Reading back what `dunno track` wrote."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dunno.errors import InputError
from dunno.io.cell_files import CELLS_FOLDER as CELLS
from dunno.io.cell_files import StoredCells, has_cells
from dunno.io.images import ImageFiles, image_files
from dunno.io.reading import read
from dunno.io.schema import RUN_SCHEMA
from dunno.io.writing import RUN_FILE
from dunno.types import Movie, RunInfo

MASKS, OBJECTS = "masks", "objects"
"""Where an output keeps its repaired masks, and what was measured of them."""

SEGMENTS_TABLE = "segments.csv"
"""The segments that it did not choose."""


def read_run(folder: str | Path) -> RunInfo:
    """Who made an output, as its `run.json` says; an older one is brought to today's form."""
    return RunInfo.of_dict(read_written_run(folder)["parameters"])


def read_written_run(folder: str | Path) -> dict[str, Any]:
    """Read an output's `run.json` in the form in which it was written."""
    path = Path(folder) / RUN_FILE
    try:
        content: dict[str, Any] = json.loads(path.read_text())
        RUN_SCHEMA.check(content.get("schema", 1), path)
        about = content["parameters"]
        about["frames"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError(f"{folder}: is no output of dunno track (there is no complete {RUN_FILE} in it)") from None
    try:
        RunInfo.check(about)
    except InputError as error:
        raise InputError(f"{path}: {error}; {RUN_SCHEMA.cure}") from None
    return content


def reopen_movie(folder: str | Path, masks: str | Path | None = None, as_given: bool = False) -> Movie:
    """Open the movie that an output was made from, under its repaired masks where it has some, unless `as_given`.

    Its cells are those that were measured then, and masks that have changed since are refused when they are read; `masks` says
    where they are now, if they have moved.
    """
    movie = reopen_given(folder, masks)
    return with_stored_cells(movie, folder, as_given=as_given)


def reopen_given(folder: str | Path, masks: str | Path | None = None) -> Movie:
    """The same under the masks that it came with, measured anew."""
    about = read_run(folder)
    masks = masks or about.masks_path
    path = about.movie_path or masks
    if path is None:
        raise InputError(f"{folder}: was made from arrays, not from files; say where the masks are with --masks")
    movie: Movie = read(path, masks=masks, scale=about.scale, **_opened_with(about, folder))
    if not np.isin(about.frames, movie.frames).all():
        raise InputError(f"{movie.mask_source}: has not all the frames that {folder} was made from")
    movie = movie.part(np.searchsorted(movie.frames, about.frames))
    movie.interval = about.interval
    return movie


OPENED_WITH: dict[str, Callable[[Any], bool]] = {
    "axes": lambda value: isinstance(value, str),
    "channel": lambda value: type(value) is int,
    "label_components": lambda value: isinstance(value, bool),
    "region": lambda value: isinstance(value, list) and all(isinstance(e, list) and len(e) == 2 for e in value),
    "images": lambda value: isinstance(value, str),
}
"""What `dunno.read` may have been told when the movie was first opened."""


def _opened_with(about: RunInfo, folder: str | Path) -> dict[str, Any]:
    """The options with which the movie was opened; images that are gone are done without."""
    given = about.opened_with
    if not isinstance(given, dict) or not all(name in OPENED_WITH and OPENED_WITH[name](given[name]) for name in given):
        raise InputError(f"{Path(folder) / RUN_FILE}: its opened_with is {given!r:.60}; {RUN_SCHEMA.cure}")
    return {name: value for name, value in given.items() if name != "images" or Path(value).exists()}


def with_stored_cells(movie: Movie, folder: str | Path, *, as_given: bool = False) -> Movie:
    """View a movie with the cells of an output that was made from it, and under its repaired masks where it has some.

    An output of an older version has no cells, and the movie stays as it is.
    """
    folder = Path(folder).absolute()
    if (folder / MASKS).is_dir() and not as_given:
        files = image_files(folder / MASKS)
        if len(files) != len(movie):
            raise InputError(f"{folder / MASKS}: has {len(files)} masks for {len(movie)} frames; track the movie again")
        repaired = movie.with_masks(ImageFiles(files), f"{movie.mask_source}, repaired")
        return repaired.with_cells(StoredCells(folder / OBJECTS))
    if not has_cells(folder, len(movie)):
        return movie
    return movie.with_cells(StoredCells(folder / CELLS))


class SegmentRow(NamedTuple):
    """A segment that was not chosen."""

    # Labels of the given masks: one, of which it is the whole or a part, or those of which it is the union
    masks: tuple[int, ...]
    area: float  # Physical
    place: tuple[float, ...]  # Its centroid, physical
    p_segment: float  # That it is an object


def read_segments(folder: Path) -> dict[int, list[SegmentRow]]:
    """The segments that an output did not choose, by original frame index; nothing where masks were not repaired."""
    path, found = folder / SEGMENTS_TABLE, dict[int, list[SegmentRow]]()
    if not path.is_file():
        return found
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            masks = tuple(int(label) for label in row["masks"].split("+"))
            place = tuple(float(row[axis]) for axis in "zyx" if axis in row)
            segment = SegmentRow(masks, float(row["area"]), place, float(row["p_segment"]))
            found.setdefault(int(row["frame"]), []).append(segment)
    return found
