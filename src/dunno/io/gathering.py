"""All cells of a tracking as one table, for formats that sort them or say of each what came later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dunno.io.columns import detection_columns
from dunno.lineage.tracks import FrameRecord, TrackRow
from dunno.types import Floats, Ints, PairPosterior


class GatheredCells:
    """Columns of cells that grow frame by frame: those of `detections.csv`, `family`, and `probability`.

    The probability is that of the link which leads to the cell; NaN where none does.
    """

    def __init__(self) -> None:
        self._parts: list[dict[str, np.ndarray]] = []
        self._incoming: Floats | None = None

    def add(self, record: FrameRecord, pair: PairPosterior | None) -> dict[str, np.ndarray]:
        """Add one frame's cells, and return them."""
        unknown = np.full(len(record.track), np.nan)
        probability = unknown if self._incoming is None else self._incoming
        columns = {**detection_columns([record]), "family": record.family, "probability": probability}
        self._incoming = None if pair is None else pair.incoming
        self._parts.append(columns)
        return columns

    def columns(self) -> dict[str, np.ndarray]:
        """All cells, in frame order."""
        return {name: np.concatenate([part[name] for part in self._parts]) for name in self._parts[0]}


def mothers_of(tracks: Sequence[TrackRow]) -> Ints:
    """(T + 1,) the track that each track came from, by its number; 0 for none."""
    return np.array([0, *(row.mother for row in tracks)], np.int64)


def generations(tracks: Sequence[TrackRow]) -> Ints:
    """(T + 1,) how many divisions lie between each track and the first of its family, by its number."""
    found = np.zeros(len(tracks) + 1, np.int64)
    for row in tracks:  # mothers come before their daughters
        found[row.track] = found[row.mother] + 1 if row.mother else 0
    return found


def radius(area: Floats, n_dimensions: int) -> Floats:
    """(n,) of the disc, or the ball, that is as large as each cell."""
    return np.sqrt(area / np.pi) if n_dimensions == 2 else np.cbrt(3 * area / (4 * np.pi))


def axes_of(columns: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the places' columns."""
    return tuple(name for name in "zyx" if name in columns)
