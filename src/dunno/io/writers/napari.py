"""A table that napari's Tracks layer is made from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dunno.io.columns import TableWriter, axes_of, csv_table, mothers_of
from dunno.lineage.tracks import TrackRow


class NapariWriter(TableWriter):
    """A table for napari's Tracks layer: ID, T, [Z,] Y, X, then features, each cell's link probability among them.

    Rows are sorted by track and time, as the layer wants them; `parent` is the track that a track came from, 0 for none.
    """

    name = "napari"

    def tables(self, columns: dict[str, np.ndarray], sizes: Sequence[int], tracks: Sequence[TrackRow]) -> None:
        axes = axes_of(columns)
        columns["parent"] = mothers_of(tracks)[columns["track"]]
        order = np.lexsort((columns["frame"], columns["track"]))
        layer = {"ID": columns.pop("track"), "T": columns.pop("frame")}
        layer |= {axis.upper(): columns.pop(axis) for axis in axes}
        self.path.write_bytes(csv_table({name: values[order] for name, values in {**layer, **columns}.items()}))
