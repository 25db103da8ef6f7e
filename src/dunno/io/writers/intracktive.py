"""A table that `intracktive convert` takes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dunno.io.columns import TableWriter, axes_of, csv_table, mothers_of, radius
from dunno.lineage.tracks import TrackRow


class IntracktiveWriter(TableWriter):
    """A table for inTRACKtive: track_id, t, [z,] y, x, parent_track_id (-1 for none), radius, and attributes.

    Frames are counted from 0 without gaps, as the viewer wants them. `intracktive convert FILE --add_radius
    --add_all_attributes` makes what the viewer opens.
    """

    name = "intracktive"

    def tables(self, columns: dict[str, np.ndarray], sizes: Sequence[int], tracks: Sequence[TrackRow]) -> None:
        axes = axes_of(columns)
        mother = mothers_of(tracks)[columns["track"]]
        del columns["frame"]
        told = {
            "track_id": columns.pop("track"),
            "t": np.repeat(np.arange(len(sizes)), sizes),
            **{axis: columns.pop(axis) for axis in axes},
            "parent_track_id": np.where(mother > 0, mother, -1),
            "radius": radius(columns["area"], len(axes)),
        }
        self.path.write_bytes(csv_table({**told, **columns}))
