"""A table that `intracktive convert` takes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dunno.io.columns import columns_for_tools, radius, stacked
from dunno.io.csv_rows import table
from dunno.io.gathering import axes_of, mothers_of
from dunno.lineage.tracks import NumberedBlock, TrackRow
from dunno.types import Movie, RunInfo


class IntracktiveWriter:
    """A table for inTRACKtive: track_id, t, [z,] y, x, parent_track_id (-1 for none), radius, and attributes.

    Frames are counted from 0 without gaps, as the viewer wants them. `intracktive convert FILE --add_radius
    --add_all_attributes` makes what the viewer opens.
    """

    name = "intracktive"
    needs_masks = False

    def __init__(self, path: Path, about: RunInfo, movie: Movie | None = None) -> None:
        self._path = path
        self._cells: list[dict[str, np.ndarray]] = []
        self._n_frames: list[int] = []

    def write(self, numbered: NumberedBlock) -> None:
        """Keep a block's cells."""
        self._cells.append(columns_for_tools(numbered))
        self._n_frames += np.diff(numbered.block.begin)[list(numbered.frames)].tolist()

    def finish(self, tracks: Sequence[TrackRow]) -> None:
        """Write the table."""
        columns = stacked(self._cells)
        axes = axes_of(columns)
        mother = mothers_of(tracks)[columns["track"]]
        del columns["frame"]
        told = {
            "track_id": columns.pop("track"),
            "t": np.repeat(np.arange(len(self._n_frames)), self._n_frames),
            **{axis: columns.pop(axis) for axis in axes},
            "parent_track_id": np.where(mother > 0, mother, -1),
            "radius": radius(columns["area"], len(axes)),
        }
        self._path.write_bytes(table({**told, **columns}))

    def close(self) -> None:
        """No file is kept open."""
