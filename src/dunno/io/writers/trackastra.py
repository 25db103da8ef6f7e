"""Trackastra's table of edges, which TrackMate reads back (its tracker of that name)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dunno.io.columns import edge_columns
from dunno.io.csv_rows import table
from dunno.lineage.tracks import NumberedBlock, TrackRow
from dunno.types import Movie, RunInfo


class TrackastraWriter:
    """Trackastra's edge table (CSV): frames from 0 and labels of both ends, and as `weight` the probability of the link."""

    name = "trackastra"
    needs_masks = False

    def __init__(self, path: Path, about: RunInfo, movie: Movie | None = None) -> None:
        self._path, self._frames = path, np.asarray(about.frames, np.int64)
        self._parts: list[dict[str, np.ndarray]] = []

    def write(self, numbered: NumberedBlock) -> None:
        """Keep a block's links."""
        columns = edge_columns(numbered.block)
        links = columns["selected"].astype(np.bool_)
        self._parts.append(
            {
                "source_frame": np.searchsorted(self._frames, columns["mother_frame"][links]),
                "source_label": columns["mother"][links],
                "target_frame": np.searchsorted(self._frames, columns["frame"][links]),
                "target_label": columns["daughter"][links],
                "weight": columns["probability"][links],
            }
        )

    def finish(self, tracks: Sequence[TrackRow]) -> None:
        """Write the table, sorted by mother."""
        columns = {name: np.concatenate([part[name] for part in self._parts]) for name in self._parts[0]}
        order = np.lexsort([columns[name] for name in ("target_label", "target_frame", "source_label", "source_frame")])
        self._path.write_bytes(table({name: values[order] for name, values in columns.items()}))

    def close(self) -> None:
        """No file is kept open."""
