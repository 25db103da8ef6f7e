"""What tables of tracks say of cells: mothers, generations; and the axes of a table of cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dunno.lineage.tracks import TrackRow
from dunno.types import Ints


def mothers_of(tracks: Sequence[TrackRow]) -> Ints:
    """(T + 1,) the track that each track came from, by its number; 0 for none."""
    return np.array([0, *(row.mother for row in tracks)], np.int64)


def generations(tracks: Sequence[TrackRow]) -> Ints:
    """(T + 1,) how many divisions lie between each track and the first of its family, by its number."""
    found = np.zeros(len(tracks) + 1, np.int64)
    for row in tracks:  # mothers come before their daughters
        found[row.track] = found[row.mother] + 1 if row.mother else 0
    return found


def axes_of(columns: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the places' columns."""
    return tuple(name for name in "zyx" if name in columns)
