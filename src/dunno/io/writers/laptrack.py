"""Tables like those that LapTrack hands out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dunno.io.columns import columns_for_tools, stacked
from dunno.io.csv_rows import table
from dunno.io.gathering import mothers_of
from dunno.lineage.tracks import NumberedBlock, TrackRow
from dunno.types import Movie, RunInfo


class LapTrackWriter:
    """A folder of LapTrack's tables: track.csv (frame, index, track_id, tree_id, …), split.csv and merge.csv.

    `index` counts the cells of a frame; tracks and trees count from 0, as LapTrack has it. No masks merge, so that `merge.csv` is
    empty but for its header.
    """

    name = "laptrack"
    needs_masks = False

    def __init__(self, folder: Path, about: RunInfo, movie: Movie | None = None) -> None:
        folder.mkdir(parents=True)
        self._folder = folder
        self._cells: list[dict[str, np.ndarray]] = []
        self._index: list[np.ndarray] = []

    def write(self, numbered: NumberedBlock) -> None:
        """Keep a block's cells."""
        self._cells.append(columns_for_tools(numbered))
        self._index += [np.arange(n) for n in np.diff(numbered.block.begin)[list(numbered.frames)].tolist()]

    def finish(self, tracks: Sequence[TrackRow]) -> None:
        """Write the three tables."""
        columns = stacked(self._cells)
        mother, track = mothers_of(tracks), columns.pop("track")
        told = {
            "frame": columns.pop("frame"),
            "index": np.concatenate(self._index),
            "track_id": track - 1,
            "tree_id": columns.pop("family") - 1,
            "parent_track_id": mother[track] - 1,
        }
        (self._folder / "track.csv").write_bytes(table({**told, **columns}))
        child = np.flatnonzero(mother)
        split = {"parent_track_id": mother[child] - 1, "child_track_id": child - 1}
        (self._folder / "split.csv").write_bytes(table(split))
        (self._folder / "merge.csv").write_bytes(table({name: values[:0] for name, values in split.items()}))

    def close(self) -> None:
        """No file is kept open."""
