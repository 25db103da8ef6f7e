"""GEFF: a graph of points, matched by place."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dunno.errors import InputError
from dunno.io.graphs import read_geff
from dunno.io.spots import rows_with
from dunno.io.track_tables import GivenRows
from dunno.types import Movie
from dunno.types.links import GivenLinks

LARGEST_EXACT_FLOAT = float(2**53)
"""Larger times are no frames."""


class GeffLinks:
    """A GEFF (dunno, motile, Trackastra, Ultrack) whose nodes have a time and a place, in µm or pixels."""

    name = "geff"
    form = "GEFF"
    example = "dunno track masks.tif -o OUT --links tracks.geff"
    order = 30

    def accepts(self, path: Path) -> bool:
        """Whether a folder holds a graph's nodes."""
        return (path / "nodes").is_dir()

    def read(self, path: Path, movie: Movie) -> GivenLinks:
        """Read times, places and edges; other properties stay on disk."""
        return rows_of_geff(path, movie).links(movie)


def rows_of_geff(path: Path, movie: Movie) -> GivenRows:
    """A graph's nodes, by their names, and its edges."""
    axes, places, ids, edges = read_geff(path, InputError)
    if len(axes) != movie.n_dimensions + 1:
        raise InputError(f"{path}: has the axes {axes}; expected time and {movie.n_dimensions} of space")
    order = np.argsort(ids, kind="stable")
    time, *place = (values[order] for values in places)
    frame = np.where(np.isfinite(time), time, -1).clip(-1, LARGEST_EXACT_FLOAT).astype(np.int64)
    first, second = (rows_with(ids[order], end) for end in edges.T)
    points = np.stack(place, 1)
    return GivenRows(frame, None, points, first, second, name=ids[order], source=str(path), in_pixels=False)
