"""A table that napari's Tracks layer is made from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dunno.io.columns import columns_for_tools, stacked
from dunno.io.csv_rows import table
from dunno.io.gathering import axes_of, mothers_of
from dunno.lineage.tracks import NumberedBlock, TrackRow
from dunno.types import Movie, RunInfo


class NapariWriter:
    """A table for napari's Tracks layer: ID, T, [Z,] Y, X, then features, each cell's link probability among them.

    Rows are sorted by track and time, as the layer wants them; `parent` is the track that a track came from, 0 for none.
    """

    name = "napari"
    needs_masks = False

    def __init__(self, path: Path, about: RunInfo, movie: Movie | None = None) -> None:
        self._path = path
        self._cells: list[dict[str, np.ndarray]] = []

    def write(self, numbered: NumberedBlock) -> None:
        """Keep a block's cells."""
        self._cells.append(columns_for_tools(numbered))

    def finish(self, tracks: Sequence[TrackRow]) -> None:
        """Sort and write."""
        columns = stacked(self._cells)
        axes = axes_of(columns)
        columns["parent"] = mothers_of(tracks)[columns["track"]]
        order = np.lexsort((columns["frame"], columns["track"]))
        layer = {"ID": columns.pop("track"), "T": columns.pop("frame")}
        layer |= {axis.upper(): columns.pop(axis) for axis in axes}
        self._path.write_bytes(table({name: values[order] for name, values in {**layer, **columns}.items()}))

    def close(self) -> None:
        """No file is kept open."""
