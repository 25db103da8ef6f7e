"""Trackastra's table of edges, which TrackMate reads back (its tracker of that name)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dunno.io.columns import TableWriter, csv_table, edge_columns
from dunno.lineage.tracks import NumberedBlock, TrackRow


class TrackastraWriter(TableWriter):
    """Trackastra's edge table (CSV): frames from 0 and labels of both ends, and as `weight` the probability of the link."""

    name = "trackastra"

    def columns(self, numbered: NumberedBlock) -> dict[str, np.ndarray]:
        columns, frames = edge_columns(numbered.block), np.asarray(self.about.frames, np.int64)
        links = columns["selected"].astype(np.bool_)
        return {
            "source_frame": np.searchsorted(frames, columns["mother_frame"][links]),
            "source_label": columns["mother"][links],
            "target_frame": np.searchsorted(frames, columns["frame"][links]),
            "target_label": columns["daughter"][links],
            "weight": columns["probability"][links],
        }

    def tables(self, columns: dict[str, np.ndarray], sizes: Sequence[int], tracks: Sequence[TrackRow]) -> None:
        order = np.lexsort([columns[name] for name in ("target_label", "target_frame", "source_label", "source_frame")])
        self.path.write_bytes(csv_table({name: values[order] for name, values in columns.items()}))
