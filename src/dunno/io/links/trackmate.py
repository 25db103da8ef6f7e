"""TrackMate's XML: spots in its own units, matched by place."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dunno.errors import InputError
from dunno.io.spacing import MICROMETRES
from dunno.io.spots import links_between, match_spots, rows_with
from dunno.io.trackmate_content import FileContent, read_content
from dunno.types import Movie
from dunno.types.links import GivenLinks

PIXELS = ("pixel", "pixels", "px")


class TrackMateLinks:
    """A TrackMate file (`.xml`) with all spots and all tracks, or its "Export tracks to XML"."""

    name = "trackmate"
    form = "TrackMate XML"
    example = "dunno track masks.tif -o OUT --links trackmate.xml"
    order = 40

    def accepts(self, path: Path) -> bool:
        return path.suffix.lower() == ".xml"

    def read(self, path: Path, movie: Movie) -> GivenLinks:
        """Read spots and edges; an edge's earlier spot is the mother. Exported tracks have no edges: their spots follow in time."""
        file = read_content(path, InputError)
        if file.is_export:
            file.pixel = _pixel_of_export(file, movie, path)
        if not (np.isfinite(file.pixel).all() and min(file.pixel) > 0):
            raise InputError(f"{path}: has pixels of size {file.pixel} (Z, Y, X); expected sizes above zero")
        with np.errstate(over="ignore"):  # spots that have no place are listed
            place = np.array(file.position).reshape(-1, 3) / np.array(file.pixel)
        place = place[:, -movie.n_dimensions :] * np.asarray(movie.scale)
        ids, frame = np.array(file.ids, np.int64), np.array(file.frame, np.int64)
        label, unmatched = match_spots(ids, frame, place, movie)
        first, second = (rows_with(ids, end) for end in np.array(file.ends, np.int64).reshape(-1, 2).T)
        problems = (*unmatched, *file.problems)
        return links_between(frame, label, first, second, problems, matched=True, directed=False)


def _pixel_of_export(file: FileContent, movie: Movie, path: Path) -> list[float]:
    """The size of a pixel in the unit of an export, which does not say it: that of the movie."""
    if file.unit.lower() in PIXELS:
        return [1.0, 1.0, 1.0]
    micrometres = MICROMETRES.get(file.unit.lower())
    if micrometres is None or not movie.has_scale:
        raise InputError(
            f"{path}: has places in {file.unit!r:.40}, and the size of a pixel is not known; give it with --scale, in µm"
        )
    return [1.0] * (3 - movie.n_dimensions) + [size / micrometres for size in movie.scale]
