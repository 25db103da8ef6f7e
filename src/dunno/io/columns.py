"""What tables say: columns of edges, of cells and of tracks by name, and writers of formats that are one table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dunno import _core
from dunno.lineage.tracks import NumberedBlock, TrackRow
from dunno.types import Block, Floats, Ints, Movie, RunInfo
from dunno.types.cells import AXES

KNOWN = ("entropy", "p_appear", "p_disappear", "p_divide")
SEGMENT_COLUMNS = ("p_segment", "p_cell")


def edge_columns(block: Block) -> dict[str, np.ndarray]:
    """One row per candidate edge: labels, and the movie's original frame indices; `reviewed` if a person decided on links.

    A pair's edges are followed by those that lead to the same daughters from frames before.
    """
    frame, label = block.cells.frame, block.cells.label
    return {
        "mother_frame": frame[block.mother],
        "mother": label[block.mother],
        "frame": frame[block.daughter],
        "daughter": label[block.daughter],
        "cost": block.cost,
        "probability": block.probability,
        "selected": block.selected,
        **({"reviewed": block.selected & block.reviewed[block.daughter]} if block.is_reviewed else {}),
    }


def cell_columns(numbered: NumberedBlock) -> dict[str, np.ndarray]:
    """One row per cell of which all is known; NaN where a probability is undefined."""
    block, rows = numbered.block, numbered.rows
    place, filled_from = block.cells.centroid[rows], block.cells.filled_from
    return {
        "frame": numbered.frame[rows],
        "label": numbered.label[rows],
        "track": numbered.track[rows],
        **dict(zip(AXES[place.shape[1]], place.T, strict=True)),
        "area": numbered.area[rows],
        **{name: getattr(numbered, name)[rows] for name in (*KNOWN, *SEGMENT_COLUMNS)},
        **({"reviewed": block.reviewed[rows]} if block.is_reviewed else {}),
        **({} if filled_from is None else {"filled": filled_from[rows, 0] >= 0}),
    }


def columns_for_tools(numbered: NumberedBlock) -> dict[str, np.ndarray]:
    """The same with `family`, and the `probability` of the link that leads to each cell; NaN where none does."""
    rows = numbered.rows
    return {
        **cell_columns(numbered),
        "family": numbered.family[rows],
        "probability": numbered.incoming[rows],
    }


def radius(area: Floats, n_dimensions: int) -> Floats:
    """(n,) of the disc, or the ball, that is as large as each cell."""
    return np.sqrt(area / np.pi) if n_dimensions == 2 else np.cbrt(3 * area / (4 * np.pi))


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


class TableWriter:
    """A writer that keeps columns block by block, and makes its tables of them at the end."""

    needs_masks = False

    def __init__(self, path: Path, about: RunInfo, movie: Movie | None = None) -> None:
        self.path, self.about = path, about
        self._kept: list[dict[str, np.ndarray]] = []
        self._sizes: list[int] = []  # of the frames

    def columns(self, numbered: NumberedBlock) -> dict[str, np.ndarray]:
        """What is kept of a block."""
        return columns_for_tools(numbered)

    def tables(self, columns: dict[str, np.ndarray], sizes: Sequence[int], tracks: Sequence[TrackRow]) -> None:
        """Write them, from the columns of the whole movie, numbers of cells by frame, and tracks."""
        raise NotImplementedError

    def write(self, numbered: NumberedBlock) -> None:
        """Keep a block."""
        self._kept.append(self.columns(numbered))
        self._sizes += np.diff(numbered.block.begin)[list(numbered.frames)].tolist()

    def finish(self, tracks: Sequence[TrackRow]) -> None:
        """Write the tables."""
        columns = {name: np.concatenate([part[name] for part in self._kept]) for name in self._kept[0]}
        self.tables(columns, self._sizes, tracks)

    def close(self) -> None:
        """No file is kept open."""


def csv_header(names: Iterable[str]) -> bytes:
    """The first line."""
    return (",".join(names) + "\n").encode()


def csv_rows(columns: Mapping[str, np.ndarray]) -> bytes:
    """Columns as lines of CSV: whole numbers as such, others with nine digits, nothing for NaN."""
    return _core.format_rows([_plain(column) for column in columns.values()])


def csv_table(columns: Mapping[str, np.ndarray]) -> bytes:
    """A whole table in CSV."""
    return csv_header(columns) + (csv_rows(columns) if columns else b"")


def _plain(column: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(column, np.float64 if column.dtype.kind == "f" else np.int64)
