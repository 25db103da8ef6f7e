"""Frames that wait until there are enough to be written together: a call per frame and column would be most of the time."""

from __future__ import annotations

from dunno.lineage.tracks import FrameRecord
from dunno.types import PairPosterior

ENOUGH = 1 << 13
"""Cells, or candidate edges, that are written together."""


class WaitingFrames:
    """Frames, each with the pair in which its cells are mothers."""

    def __init__(self) -> None:
        self._records: list[FrameRecord] = []
        self._pairs: list[PairPosterior] = []
        self._n_cells = self._n_edges = 0

    def add(self, record: FrameRecord, pair: PairPosterior | None) -> bool:
        """Add a frame, and say whether enough wait now."""
        self._records.append(record)
        self._n_cells += len(record.track)
        if pair is not None:
            self._pairs.append(pair)
            self._n_edges += len(pair.mother) + (0 if pair.gaps is None else len(pair.gaps))
        return max(self._n_cells, self._n_edges) >= ENOUGH

    def taken(self) -> tuple[list[FrameRecord], list[PairPosterior]]:
        """What waits, which then waits no more."""
        taken = self._records, self._pairs
        self._records, self._pairs, self._n_cells, self._n_edges = [], [], 0, 0
        return taken
