"""Tables like those that LapTrack hands out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dunno.io.columns import TableWriter, csv_table, mothers_of
from dunno.lineage.tracks import TrackRow


class LapTrackWriter(TableWriter):
    """A folder of LapTrack's tables: track.csv (frame, index, track_id, tree_id, …), split.csv and merge.csv.

    `index` counts the cells of a frame; tracks and trees count from 0, as LapTrack has it. No masks merge, so that `merge.csv` is
    empty but for its header.
    """

    name = "laptrack"

    def tables(self, columns: dict[str, np.ndarray], sizes: Sequence[int], tracks: Sequence[TrackRow]) -> None:
        self.path.mkdir(parents=True)
        mother, track = mothers_of(tracks), columns.pop("track")
        told = {
            "frame": columns.pop("frame"),
            "index": np.concatenate([np.arange(n) for n in sizes]),
            "track_id": track - 1,
            "tree_id": columns.pop("family") - 1,
            "parent_track_id": mother[track] - 1,
        }
        (self.path / "track.csv").write_bytes(csv_table({**told, **columns}))
        child = np.flatnonzero(mother)
        split = {"parent_track_id": mother[child] - 1, "child_track_id": child - 1}
        (self.path / "split.csv").write_bytes(csv_table(split))
        (self.path / "merge.csv").write_bytes(csv_table({name: values[:0] for name, values in split.items()}))
